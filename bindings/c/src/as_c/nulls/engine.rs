//! Guards and exchanges.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{Pick, World, c, made, take, text};
use crate::engine::*;
use crate::plain::*;
use crate::session::*;
use crate::status::*;

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
