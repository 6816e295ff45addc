//! What the header lets threads share: each of them is used by several at once, while the codec's keys change.

use std::ptr;
use std::thread;

use super::{REVOKE, ROOM, World, begin, c, frame, made, open, seal, tell};
use crate::codec::*;
use crate::key::*;
use crate::key_ring::*;
use crate::machine::*;
use crate::status::*;
use crate::testing::*;
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
    let (mut token, mut payload, mut len) = ([0_u8; ROOM], [0_u8; ROOM], 0);
    let hello = b"hello";
    let status = seal(view, (hello.as_ptr(), 5), token.as_mut_ptr(), &raw mut len);
    assert_eq!(status, SEALWAX_OK);
    let status = open(
        view,
        (token.as_ptr(), len),
        payload.as_mut_ptr(),
        &raw mut len,
    );
    assert_eq!((status, &payload[..len]), (SEALWAX_OK, &hello[..]));
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
    let (guard, _) = begin(world.codec, ptr::null(), &frame(SEALWAX_GUARD, 0, &["{}"]));
    let guard = Shared(guard.cast_const());
    thread::scope(|scope| {
        for user in ["alice", "bob"] {
            scope.spawn(move || {
                let mut token = String::new();
                for _ in 0..ROUNDS {
                    let texts = ["tools/call", "t", "{}", &token, "", "", user];
                    let call = frame(SEALWAX_MESSAGE, SEALWAX_FLAG_CALLER, &texts);
                    let (exchange, first) = begin(ptr::null(), guard.get(), &call);
                    let opened = if token.is_empty() { "" } else { user };
                    assert_eq!(first, (SEALWAX_DELIVER, opened.into()));
                    let last = tell(exchange, SEALWAX_RESULT, &["input_required", "", user]);
                    assert!(last.0 == SEALWAX_RESPOND && last.1.starts_with("sw1."));
                    token = last.1;
                    c!(sealwax_machine_free(exchange));
                }
            });
        }
    });
    c!(sealwax_machine_free(guard.get().cast_mut()));
}

#[test]
fn store_machines_of_one_redis() {
    let waits = frame(SEALWAX_STORE, SEALWAX_FLAG_WAITS, &[]);
    let redis = Shared(begin(ptr::null(), ptr::null(), &waits).0.cast_const());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                let revoke = frame(SEALWAX_STORE_MACHINE, 0, &[REVOKE]);
                let (machine, first) = begin(ptr::null(), redis.get(), &revoke);
                assert!(first.1.contains("EVALSHA"));
                let missing = r#"{"error":"NOSCRIPT No"}"#;
                assert_eq!(tell(machine, SEALWAX_EVENT, &[missing]).0, SEALWAX_STEP);
                c!(sealwax_machine_free(machine));
            });
        }
    });
    c!(sealwax_machine_free(redis.get().cast_mut()));
}
