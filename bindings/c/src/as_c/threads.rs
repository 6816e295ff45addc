//! What the header lets threads share: each of them is used by several at once, while the codec's keys change.

use std::ffi::c_char;
use std::ptr;
use std::thread;

use super::{SESSION, World, c, lent, made};
use crate::codec::*;
use crate::engine::*;
use crate::key::*;
use crate::key_ring::*;
use crate::plain::*;
use crate::redis::*;
use crate::status::*;
use crate::testing::*;
use crate::token::*;
use crate::view::*;

/// Miri is some thousand times slower, and tries other orders by another seed.
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 500 };

/// A pointer that goes to other threads, as the header allows.
struct Shared<T>(*const T);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: the tests give it to objects alone that threads may share.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> *const T {
        self.0
    }
}

fn seal_and_open(view: *const View) {
    let mut token = [0_u8; 256];
    let (mut payload, mut len) = ([0_u8; 256], 0);
    let none = ptr::null_mut();
    let token = token.as_mut_ptr().cast::<c_char>();
    let status = c!(sealwax_seal(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        ["hello"],
        token,
        256,
        &raw mut len,
        none
    ));
    assert_eq!(status, SEALWAX_OK);
    let status = c!(sealwax_open(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        token.cast_const(),
        len,
        payload.as_mut_ptr(),
        256,
        &raw mut len,
        ptr::null_mut(),
        none
    ));
    assert_eq!((status, &payload[..len]), (SEALWAX_OK, &b"hello"[..]));
}

#[test]
fn tokens_while_keys_and_the_clock_change() {
    let world = World::new();
    let (codec, alice) = (Shared(world.codec), Shared(world.alice));
    let clock = Shared(world.clock);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    seal_and_open(alice.get());
                    let view = made(|view| {
                        c!(sealwax_view_new_anonymous(
                            codec.get(),
                            view,
                            ptr::null_mut()
                        ))
                    });
                    seal_and_open(view);
                    // Freed by another thread than made it.
                    let view = Shared(view.cast_const());
                    thread::spawn(move || c!(sealwax_view_free(view.get().cast_mut())));
                }
            });
        }
        scope.spawn(move || {
            let none = ptr::null_mut();
            for round in 0..ROUNDS {
                let key = made(|key| c!(sealwax_key_generate(key, none))).cast_const();
                let ring = made(|ring| c!(sealwax_ring_new(&raw const key, 1, ring, none)));
                c!(sealwax_key_free(key.cast_mut()));
                assert!(made(|changed| {
                    c!(sealwax_codec_set_keys(
                        codec.get(),
                        ring.cast_const(),
                        changed,
                        none
                    ))
                }));
                c!(sealwax_ring_free(ring));
                c!(sealwax_test_clock_set(
                    clock.get(),
                    super::NOW_MS + round,
                    none
                ));
            }
        });
    });
}

#[test]
fn requests_at_one_guard() {
    let world = World::new();
    let none = ptr::null_mut();
    let codec = Shared(world.codec);
    let guard = made(|guard| c!(sealwax_guard_new(codec.get(), ["{}"], guard, none)));
    let guard = Shared(guard.cast_const());
    thread::scope(|scope| {
        for user in ["alice", "bob"] {
            scope.spawn(move || {
                let none = ptr::null_mut();
                let caller = Caller {
                    issuer: ptr::null(),
                    issuer_len: 0,
                    client: ptr::null(),
                    client_len: 0,
                    subject: user.as_ptr().cast(),
                    subject_len: user.len(),
                    anonymous: false,
                };
                let mut token = None;
                for _ in 0..ROUNDS {
                    let mut exchange = ptr::null_mut();
                    let mut next = 0;
                    let state = token.take().unwrap_or_default();
                    let (state, state_len) = match &state {
                        text if String::is_empty(text) => (ptr::null(), 0),
                        text => (text.as_ptr().cast(), text.len()),
                    };
                    let opened = lent(|text, len| {
                        c!(sealwax_guard_request(
                            guard.get(),
                            ["tools/call"],
                            ["t"],
                            ["{}"],
                            state,
                            state_len,
                            &raw const caller,
                            ptr::null(),
                            SEALWAX_MODERN,
                            &raw mut exchange,
                            &raw mut next,
                            text,
                            len,
                            none
                        ))
                    });
                    assert_eq!(next, SEALWAX_NEXT_DELIVER);
                    assert_eq!(opened.is_some(), !state.is_null());
                    token = lent(|text, len| {
                        c!(sealwax_exchange_result(
                            exchange,
                            ["input_required"],
                            [],
                            [user],
                            false,
                            &raw mut next,
                            text,
                            len,
                            none
                        ))
                    });
                    assert_eq!(next, SEALWAX_NEXT_RESPOND);
                    c!(sealwax_exchange_free(exchange));
                }
            });
        }
    });
    c!(sealwax_guard_free(guard.get().cast_mut()));
}

#[test]
fn dialogues_of_one_redis() {
    let none = ptr::null_mut();
    let redis = Shared(made(|redis| c!(sealwax_redis_new(true, redis, none))).cast_const());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let none = ptr::null_mut();
                let revoke =
                    r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0"],"withinMs":300}"#;
                let mut dialogue = ptr::null_mut();
                let first = lent(|text, len| {
                    c!(sealwax_redis_begin(
                        redis.get(),
                        [revoke],
                        &raw mut dialogue,
                        text,
                        len,
                        none
                    ))
                });
                assert!(first.is_some_and(|first| first.contains("INFO")));
                let second = lent(|text, len| {
                    c!(sealwax_dialogue_on(
                        dialogue,
                        [r#"{"text":"role:master\r\nmin_replicas_to_write:1"}"#],
                        text,
                        len,
                        none
                    ))
                });
                assert!(second.is_some());
                c!(sealwax_dialogue_free(dialogue));
            });
        }
    });
    c!(sealwax_redis_free(redis.get().cast_mut()));
}
