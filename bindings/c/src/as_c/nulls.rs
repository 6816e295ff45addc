//! Every function with NULL for each of its pointers, one at a time: `r` is refused with `SEALWAX_NULL_POINTER`, `o` is
//! optional. Then without, which succeeds.

use std::collections::BTreeSet;
use std::mem::MaybeUninit;
use std::ptr;

use super::{AUDIENCE, KEY, MINUTE, Pick, SESSION, World, c, lent, made, take, text};
use crate::codec::*;
use crate::command::*;
use crate::engine::*;
use crate::identifier::*;
use crate::inspect::*;
use crate::key::*;
use crate::key_ring::*;
use crate::ledger::*;
use crate::plain::*;
use crate::redis::*;
use crate::request::*;
use crate::session::*;
use crate::size::*;
use crate::status::*;
use crate::testing::*;
use crate::token::*;
use crate::version::*;
use crate::view::*;

/// `nulls!("ro", { what each call needs } function(arguments), what comes after)`.
macro_rules! nulls {
    ($expected:literal, $({ $($before:tt)* })? $f:ident($($arguments:tt)*) $(, $after:expr)?) => {{
        let mut outcome = String::new();
        for nulled in 1.. {
            $($($before)*)?
            let mut pick = Pick { nulled, seen: 0 };
            // The header allows NULL everywhere: it is refused where it must not be.
            let status = c!(@ pick $f () ($($arguments)*));
            $($after;)?
            if nulled > pick.seen {
                assert_eq!(status, SEALWAX_OK, stringify!($f));
                break;
            }
            outcome.push(match status {
                SEALWAX_OK => 'o',
                SEALWAX_NULL_POINTER => 'r',
                other => panic!("{}: {other} for NULL at {nulled}", stringify!($f)),
            });
        }
        assert_eq!(outcome, $expected, stringify!($f));
    }};
}

/// A place for the outputs of a function.
struct Places {
    out: Box<[MaybeUninit<u8>]>,
    len: Box<MaybeUninit<usize>>,
}

impl Places {
    fn new() -> Self {
        Self {
            out: Box::new_uninit_slice(8192),
            len: Box::new(MaybeUninit::uninit()),
        }
    }

    fn out<T>(&mut self) -> *mut T {
        self.out.as_mut_ptr().cast()
    }

    fn cap(&self) -> usize {
        self.out.len()
    }

    fn len(&mut self) -> *mut usize {
        self.len.as_mut_ptr()
    }
}

/// Lends its arguments' text; the place for the pointer to it.
macro_rules! places {
    ($($place:ident: $type:ty),*) => {
        $(let mut $place = Box::new(MaybeUninit::<$type>::uninit());
        let $place = $place.as_mut_ptr();)*
    };
}

#[test]
#[cfg_attr(miri, ignore = "it reads sources, and touches nothing")]
fn every_function_of_the_header_is_called() {
    let here: BTreeSet<_> = names(concat!(
        include_str!("nulls.rs"),
        include_str!("results.rs"),
        include_str!("mod.rs")
    ));
    let header = names(include_str!("../../include/sealwax.h"));
    assert!(header.len() > 80, "{}", header.len());
    let missing: Vec<_> = header.difference(&here).collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
}

/// The names that an opening parenthesis follows.
fn names(source: &str) -> BTreeSet<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    source
        .match_indices("sealwax_")
        .filter_map(|(at, _)| {
            let rest = &source[at..];
            let end = rest.find(|c| !is_part(c))?;
            rest[end..].starts_with('(').then(|| &rest[..end])
        })
        .collect()
}

#[test]
fn nothing_is_freed_or_measured() {
    c!(sealwax_key_free(ptr::null_mut()));
    c!(sealwax_ring_free(ptr::null_mut()));
    c!(sealwax_codec_free(ptr::null_mut()));
    c!(sealwax_view_free(ptr::null_mut()));
    c!(sealwax_session_free(ptr::null_mut()));
    c!(sealwax_guard_free(ptr::null_mut()));
    c!(sealwax_exchange_free(ptr::null_mut()));
    c!(sealwax_memory_free(ptr::null_mut()));
    c!(sealwax_redis_free(ptr::null_mut()));
    c!(sealwax_dialogue_free(ptr::null_mut()));
    c!(sealwax_command_free(ptr::null_mut()));
    c!(sealwax_test_clock_free(ptr::null_mut()));
    assert_eq!(c!(sealwax_token_limit(ptr::null())), 0);
    assert_eq!(c!(sealwax_metadata_limit(ptr::null())), 0);
    assert!(!c!(sealwax_guard_defers(ptr::null())));
    assert!(sealwax_kind_name(99).is_null());
    assert_eq!(sealwax_default_ttl(99), 0);
    assert_eq!(sealwax_abi_version(), SEALWAX_ABI_VERSION);
    assert!(!sealwax_version().is_null() && !sealwax_code(99).is_null());
    assert!(sealwax_is_refusal(SEALWAX_EXPIRED));
    nulls!("o", sealwax_check_ttl(60, ptr::null_mut()));
}

#[test]
fn keys_and_rings() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let mut key = ptr::null_mut();
    let mut ring = ptr::null_mut();
    let secret: Vec<u8> = (0..32).collect();
    nulls!(
        "ro",
        sealwax_key_generate(&raw mut key, error),
        c!(sealwax_key_free(take(&mut key)))
    );
    nulls!(
        "rro",
        sealwax_key_from_secret([secret], &raw mut key, error),
        c!(sealwax_key_free(take(&mut key)))
    );
    nulls!(
        "rro",
        sealwax_key_parse([KEY], &raw mut key, error),
        c!(sealwax_key_free(take(&mut key)))
    );
    let key = made(|key| c!(sealwax_key_parse([KEY], key, error)));
    places!(id: [u8; 4]);
    nulls!("rro", sealwax_key_id(key.cast_const(), id, error));
    nulls!(
        "rrro",
        sealwax_key_to_text(
            key.cast_const(),
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rro",
        sealwax_ring_parse([KEY], &raw mut ring, error),
        c!(sealwax_ring_free(take(&mut ring)))
    );
    let keys = [key.cast_const()];
    nulls!(
        "rro",
        sealwax_ring_new(keys.as_ptr(), 1, &raw mut ring, error),
        c!(sealwax_ring_free(take(&mut ring)))
    );
    let holes = [key.cast_const(), ptr::null()];
    assert_eq!(
        c!(sealwax_ring_new(holes.as_ptr(), 2, &raw mut ring, error)),
        SEALWAX_NULL_POINTER
    );
    nulls!(
        "rrro",
        sealwax_ring_ids(
            world.ring.cast_const(),
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    c!(sealwax_key_free(key));
    // There is no such file, nor such a variable.
    assert_eq!(
        c!(sealwax_ring_read(["/none/at/all"], &raw mut ring, error)),
        SEALWAX_INVALID_KEY
    );
    assert_eq!(
        c!(sealwax_ring_read([], &raw mut ring, error)),
        SEALWAX_INVALID_KEY
    );
    assert_eq!(
        c!(sealwax_ring_from_env(ptr::null_mut(), error)),
        SEALWAX_NULL_POINTER
    );
    assert_eq!(
        c!(sealwax_ring_from_env(&raw mut ring, error)),
        SEALWAX_INVALID_KEY
    );
}

#[test]
fn codecs_and_views() {
    let mut world = World::new();
    let error = world.error();
    let (ring, clock) = (world.ring.cast_const(), world.clock.cast_const());
    let codec = world.codec.cast_const();
    let (payload, skew, max_age) = (4096, 60, 3600);
    let limits = Limits {
        payload: &raw const payload,
        skew: &raw const skew,
        session_max_age: &raw const max_age,
    };
    let none = Limits {
        payload: ptr::null(),
        skew: ptr::null(),
        session_max_age: ptr::null(),
    };
    let (mut made, mut view, mut new) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    nulls!(
        "rroro",
        sealwax_codec_new(ring, [AUDIENCE], &raw const limits, &raw mut made, error),
        c!(sealwax_codec_free(take(&mut made)))
    );
    nulls!(
        "rrorro",
        sealwax_test_codec_new(
            ring,
            [AUDIENCE],
            &raw const none,
            clock,
            &raw mut made,
            error
        ),
        c!(sealwax_codec_free(take(&mut made)))
    );
    nulls!(
        "ro",
        sealwax_test_clock_set(clock, 1_800_000_000_000, error)
    );
    nulls!(
        "ro",
        sealwax_test_clock_new(0, &raw mut new, error),
        c!(sealwax_test_clock_free(take(&mut new)))
    );
    places!(changed: bool);
    nulls!("rroo", sealwax_codec_set_keys(codec, ring, changed, error));
    nulls!(
        "rrrrro",
        sealwax_view_new(codec, ["i"], ["c"], ["s"], &raw mut view, error),
        c!(sealwax_view_free(take(&mut view)))
    );
    nulls!(
        "rro",
        sealwax_view_new_anonymous(codec, &raw mut view, error),
        c!(sealwax_view_free(take(&mut view)))
    );
}

#[test]
fn tokens() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let (view, purpose, minute) = (
        world.alice.cast_const(),
        ptr::from_ref(&SESSION),
        ptr::from_ref(&MINUTE),
    );
    let max_age = 3600;
    nulls!(
        "rrorrro",
        sealwax_seal(
            view,
            purpose,
            minute,
            ["hello"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    let token = text(|out, cap, len| {
        c!(sealwax_seal(
            view,
            purpose,
            ptr::null(),
            ["hello"],
            out,
            cap,
            len,
            error
        ))
    });
    places!(opened: Opened, sealed: Sealed);
    nulls!(
        "rrorrroo",
        sealwax_open(
            view,
            purpose,
            &raw const max_age,
            [token],
            places.out(),
            places.cap(),
            places.len(),
            opened,
            error
        )
    );
    nulls!(
        "rrorrrro",
        sealwax_renew(
            view,
            purpose,
            minute,
            opened.cast_const(),
            ["hello"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rroorrrro",
        sealwax_seal_token(
            view,
            purpose,
            minute,
            opened.cast_const(),
            ["hello"],
            places.out(),
            places.cap(),
            places.len(),
            sealed,
            error
        )
    );
    // A purpose's own pointers, one by one: a size without memory is refused.
    let label = Purpose {
        label_len: 1,
        ..SESSION
    };
    let session_id = Purpose {
        session_id_len: 1,
        ..SESSION
    };
    let context = Purpose {
        context_len: 32,
        ..SESSION
    };
    for purpose in [label, session_id, context] {
        assert_eq!(
            c!(sealwax_seal(
                view,
                &raw const purpose,
                ptr::null(),
                [],
                places.out(),
                places.cap(),
                places.len(),
                error
            )),
            SEALWAX_NULL_POINTER
        );
    }
}

#[test]
fn identifiers_and_sessions() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let (view, minute, max_age) = (world.alice.cast_const(), ptr::from_ref(&MINUTE), 3600);
    places!(identifier: Identifier, opened: Opened);
    nulls!(
        "rrroo",
        sealwax_mint_session_id(
            view,
            places.out(),
            places.cap(),
            places.len(),
            identifier,
            error
        )
    );
    let id = text(|out, cap, len| {
        c!(sealwax_mint_session_id(
            view, out, cap, len, identifier, error
        ))
    });
    nulls!(
        "rrooo",
        sealwax_verify_session_id(view, [id], &raw const max_age, identifier, error)
    );
    nulls!(
        "rrrroo",
        sealwax_mint_handle(
            view,
            ["order"],
            places.out(),
            places.cap(),
            places.len(),
            identifier,
            error
        )
    );
    nulls!(
        "rrorroo",
        sealwax_new_handle(
            view,
            ["order"],
            &raw const max_age,
            places.out(),
            places.cap(),
            places.len(),
            identifier,
            error
        )
    );
    let handle = text(|out, cap, len| {
        c!(sealwax_mint_handle(
            view,
            ["order"],
            out,
            cap,
            len,
            identifier,
            error
        ))
    });
    nulls!("ro", sealwax_check_handle_type(["order"], error));
    nulls!(
        "rrrooo",
        sealwax_verify_handle(
            view,
            ["order"],
            [handle],
            &raw const max_age,
            identifier,
            error
        )
    );
    nulls!(
        "rorrro",
        sealwax_session_create(
            view,
            minute,
            ["hello"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rrro",
        sealwax_session_mint(view, places.out(), places.cap(), places.len(), error)
    );
    let metadata = text(|out, cap, len| {
        c!(sealwax_session_create(
            view,
            minute,
            ["hello"],
            out,
            cap,
            len,
            error
        ))
    });
    let mut session = ptr::null_mut();
    nulls!(
        "rrro",
        sealwax_session_open(view, [metadata], &raw mut session, error),
        c!(sealwax_session_free(take(&mut session)))
    );
    let session = made(|session| c!(sealwax_session_open(view, [metadata], session, error)));
    nulls!(
        "rrroo",
        sealwax_session_payload(
            session.cast_const(),
            places.out(),
            places.cap(),
            places.len(),
            opened,
            error
        )
    );
    nulls!(
        "rrroo",
        sealwax_session_id(
            session.cast_const(),
            places.out(),
            places.cap(),
            places.len(),
            identifier,
            error
        )
    );
    nulls!(
        "rorrrro",
        sealwax_session_renew(
            view,
            minute,
            session.cast_const(),
            ["hello"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rorrro",
        sealwax_session_fork(
            view,
            minute,
            session.cast_const(),
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rroo",
        sealwax_session_verify(view, [id], identifier, error)
    );
    c!(sealwax_session_free(session));
}

const CALL: &str = r#"{"method":"tools/call","target":"t","principal":{"subject":"alice"}}"#;

#[test]
fn guards_and_exchanges() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let codec = world.codec.cast_const();
    let mut guard = ptr::null_mut();
    nulls!(
        "rrro",
        sealwax_guard_new(codec, ["{}"], &raw mut guard, error),
        c!(sealwax_guard_free(take(&mut guard)))
    );
    let settings = r#"{"sessions":{"ttl":60},"ledger":{"local":true},"events":true}"#;
    let guard = made(|guard| c!(sealwax_guard_new(codec, [settings], guard, error))).cast_const();
    let mut exchange = ptr::null_mut();
    places!(step: *const std::ffi::c_char, len: usize, next: i32);
    nulls!(
        "rrrrrro",
        sealwax_guard_message(guard, [CALL], ["{}"], &raw mut exchange, step, len, error),
        c!(sealwax_exchange_free(take(&mut exchange)))
    );
    nulls!(
        "rrrrrro",
        sealwax_guard_transport(guard, ["{}"], ["{}"], &raw mut exchange, step, len, error),
        c!(sealwax_exchange_free(take(&mut exchange)))
    );
    nulls!(
        "rrrrro",
        sealwax_guard_revoke(
            guard,
            [r#"{"subject":"alice"}"#],
            60,
            &raw mut exchange,
            step,
            len,
            error
        ),
        c!(sealwax_exchange_free(take(&mut exchange)))
    );
    let fault = r#"{"code":"internal_error","kind":"request-state","message":"lost"}"#;
    nulls!(
        "rrrro",
        sealwax_guard_report(
            guard,
            [fault],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    let caller = Caller {
        issuer: ptr::null(),
        issuer_len: 0,
        client: ptr::null(),
        client_len: 0,
        subject: c"alice".as_ptr(),
        subject_len: 5,
        anonymous: false,
    };
    let within_ms = 300;
    nulls!(
        "rrrrroorrrro",
        sealwax_guard_request(
            guard,
            ["tools/call"],
            ["t"],
            ["{}"],
            [[255]],
            &raw const caller,
            &raw const within_ms,
            SEALWAX_MODERN,
            &raw mut exchange,
            next,
            step,
            len,
            error
        ),
        c!(sealwax_exchange_free(take(&mut exchange)))
    );
    // Each time with an exchange that is where the call is expected.
    let begun = || {
        let mut exchange = ptr::null_mut();
        let status = c!(sealwax_guard_request(
            guard,
            ["tools/call"],
            ["t"],
            ["{}"],
            [],
            &raw const caller,
            ptr::null(),
            SEALWAX_MODERN,
            &raw mut exchange,
            next,
            step,
            len,
            error
        ));
        assert_eq!(status, SEALWAX_OK);
        exchange
    };
    nulls!(
        "rooorrro",
        { let exchange = begun(); }
        sealwax_exchange_result(
            exchange, [], [], [], false, next, step, len, error
        ),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rrorrrro",
        { let exchange = begun(); }
        sealwax_exchange_result(
            exchange, ["input_required"], [], ["mine"], false, next, step, len, error
        ),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rrorro",
        { let exchange = begun(); }
        sealwax_exchange_on(
            exchange, [r#"{"result":{"members":{"resultType":"complete"}}}"#], [], step, len, error
        ),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rrrro",
        { let exchange = begun(); }
        sealwax_exchange_seal_state(exchange, ["1"], step, len, error),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rrro",
        { let exchange = begun(); }
        sealwax_exchange_events(exchange, step, len, error),
        c!(sealwax_exchange_free(exchange))
    );
    let mut handling = ptr::null_mut();
    nulls!(
        "rrrrrro",
        { let exchange = begun(); }
        sealwax_exchange_handle(
            exchange.cast_const(), [r#"{"op":"seal","type":"order"}"#], ["[7]"],
            &raw mut handling, step, len, error
        ),
        {
            c!(sealwax_exchange_free(exchange));
            c!(sealwax_exchange_free(take(&mut handling)));
        }
    );
    c!(sealwax_guard_free(guard.cast_mut()));
}

#[test]
fn sessions_of_an_exchange() {
    let mut world = World::new();
    let error = world.error();
    let (codec, view) = (world.codec.cast_const(), world.alice.cast_const());
    let settings = r#"{"sessions":{"ttl":60}}"#;
    let guard = made(|guard| c!(sealwax_guard_new(codec, [settings], guard, error))).cast_const();
    let metadata = text(|out, cap, len| {
        c!(sealwax_session_create(
            view,
            ptr::null(),
            ["1"],
            out,
            cap,
            len,
            error
        ))
    });
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let session = serde_json::json!({"id": metadata["sessionId"], "state": metadata["state"]});
    let message = format!("{},\"session\":{session}}}", &CALL[..CALL.len() - 1]);
    places!(step: *const std::ffi::c_char, len: usize);
    let begun = || {
        made(|place| {
            c!(sealwax_guard_message(
                guard,
                [message],
                [],
                place,
                step,
                len,
                error
            ))
        })
    };
    nulls!(
        "rro",
        { let exchange = begun(); }
        sealwax_exchange_write(exchange, ["2"], error),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rro",
        { let exchange = begun(); }
        sealwax_exchange_update(exchange, ["2"], error),
        c!(sealwax_exchange_free(exchange))
    );
    nulls!(
        "rrro",
        { let exchange = begun(); }
        sealwax_exchange_fork(exchange, step, len, error),
        c!(sealwax_exchange_free(exchange))
    );
    c!(sealwax_guard_free(guard.cast_mut()));
}

const OPEN: &str = r#"{"script":"open","keys":["began","fence"],"args":[]}"#;

#[test]
fn ledgers() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let now = 1_800_000_000;
    places!(reply: *const std::ffi::c_char, len: usize);
    nulls!("rrro", sealwax_ledger_text(["open"], reply, len, error));
    nulls!(
        "rrrro",
        sealwax_ledger_judge(
            [OPEN],
            now,
            ["[null,null]"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    let mut memory = ptr::null_mut();
    nulls!(
        "ro",
        sealwax_memory_new(usize::MAX, now, &raw mut memory, error),
        c!(sealwax_memory_free(take(&mut memory)))
    );
    let memory = made(|memory| c!(sealwax_memory_new(1 << 20, now, memory, error)));
    nulls!(
        "rrrro",
        sealwax_memory_run(memory, [OPEN], now, reply, len, error)
    );
    c!(sealwax_memory_free(memory));
    let mut redis = ptr::null_mut();
    nulls!(
        "ro",
        sealwax_redis_new(true, &raw mut redis, error),
        c!(sealwax_redis_free(take(&mut redis)))
    );
    let redis = made(|redis| c!(sealwax_redis_new(true, redis, error)));
    let revoke = r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0"],"withinMs":300}"#;
    let mut dialogue = ptr::null_mut();
    nulls!(
        "rrrrro",
        sealwax_redis_begin(
            redis.cast_const(),
            [revoke],
            &raw mut dialogue,
            reply,
            len,
            error
        ),
        c!(sealwax_dialogue_free(take(&mut dialogue)))
    );
    nulls!(
        "rrrro",
        {
            let dialogue = made(|place| {
                c!(sealwax_redis_begin(redis.cast_const(), [revoke], place, reply, len, error))
            });
        }
        sealwax_dialogue_on(dialogue, [r#"{"text":"role:slave"}"#], reply, len, error),
        c!(sealwax_dialogue_free(dialogue))
    );
    c!(sealwax_redis_free(redis));
}

#[test]
fn texts_and_requests() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let ring = world.ring.cast_const();
    let now = 1_800_000_000;
    places!(inspection: Inspection, context: [u8; 32]);
    nulls!("rro", sealwax_inspect([KEY], inspection, error));
    nulls!(
        "rorro",
        sealwax_report_words(
            [KEY],
            ring,
            now,
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rorro",
        sealwax_report_json([KEY], ring, places.out(), places.cap(), places.len(), error)
    );
    nulls!(
        "rrrro",
        sealwax_request_context(["tools/call"], ["t"], ["{\"a\":1}"], context, error)
    );
    let name = c"a".as_ptr();
    nulls!(
        "rrrrro",
        sealwax_request_context_only(
            ["tools/call"],
            ["t"],
            ["{\"a\":1}"],
            &raw const name,
            1,
            context,
            error
        )
    );
    let hole = ptr::null();
    assert_eq!(
        c!(sealwax_request_context_only(
            ["tools/call"],
            ["t"],
            ["{}"],
            &raw const hole,
            1,
            context,
            error
        )),
        SEALWAX_NULL_POINTER
    );
    nulls!(
        "rrro",
        sealwax_token_fields(
            ["tools/list"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rrro",
        sealwax_principal_from_claims(
            [r#"{"iss":"i","sub":"s"}"#],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    nulls!(
        "rrrro",
        sealwax_answer(
            ["sep-1359"],
            SEALWAX_EXPIRED,
            ["s"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
}

#[test]
fn commands() {
    let mut world = World::new();
    let error = world.error();
    let request = r#"{"program":"p","command":"inspect","options":{},"environment":{},"now":0}"#;
    let mut command = ptr::null_mut();
    places!(next: *const std::ffi::c_char, len: usize);
    nulls!(
        "rrrro",
        sealwax_command_begin([request], &raw mut command, next, len, error),
        c!(sealwax_command_free(take(&mut command)))
    );
    nulls!(
        "rrrro",
        {
            let command =
                made(|place| c!(sealwax_command_begin([request], place, next, len, error)));
        }
        sealwax_command_on(command, [r#"{"bytes":"c3cx"}"#], next, len, error),
        c!(sealwax_command_free(command))
    );
    let command = made(|place| c!(sealwax_command_begin([request], place, next, len, error)));
    let last = lent(|next, len| {
        c!(sealwax_command_on(
            command,
            [r#"{"bytes":"c3cx"}"#],
            next,
            len,
            error
        ))
    });
    assert!(last.is_some_and(|last| last.contains("\"status\":1")));
    c!(sealwax_command_free(command));
}
