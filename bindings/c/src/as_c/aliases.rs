//! Memory that is an input and an output at once, or that the library lent.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;

use super::{KEY, SESSION, World, c, lent, made, text};
use crate::codec::*;
use crate::engine::*;
use crate::key::*;
use crate::key_ring::*;
use crate::ledger::*;
use crate::redis::*;
use crate::status::*;
use crate::token::*;

#[test]
fn a_token_takes_the_place_of_its_payload_and_the_other_way_round() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let mut memory = vec![0_u8; 4096].into_boxed_slice();
    memory[..5].copy_from_slice(b"hello");
    let (place, mut len) = (memory.as_mut_ptr(), 0);
    // Here even the size of the payload is where that of the token is written.
    let status = c!(sealwax_seal(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        place.cast_const(),
        5,
        place.cast(),
        4096,
        &raw mut len,
        error
    ));
    assert_eq!(status, SEALWAX_OK);
    let status = c!(sealwax_open(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        place.cast_const().cast(),
        len,
        place,
        4096,
        &raw mut len,
        ptr::null_mut(),
        error
    ));
    assert_eq!((status, &memory[..len]), (SEALWAX_OK, &b"hello"[..]));
}

#[test]
fn a_renewal_replaces_the_claims_and_the_label_that_it_is_made_from() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let mut memory = Box::new([0_u8; 512]);
    memory[..10].copy_from_slice(b"tools/list");
    let place = memory.as_mut_ptr();
    let purpose = Purpose {
        kind: SEALWAX_KIND_CURSOR,
        label: place.cast_const().cast(),
        label_len: 10,
        ..SESSION
    };
    let mut both: Box<MaybeUninit<(Opened, usize)>> = Box::new(MaybeUninit::uninit());
    let before = Opened {
        issued_at: 0,
        expires_at: 0,
        started_at: 1_800_000_000,
        generation: 7,
        needs_reseal: false,
        needs_renewal: false,
        token_id: [0; 16],
    };
    let claims = both.as_mut_ptr().cast::<Opened>();
    // SAFETY: it has room for them.
    unsafe { claims.write(before) };
    let mut len = 0;
    let status = c!(sealwax_seal_token(
        view,
        &raw const purpose,
        ptr::null(),
        claims.cast_const(),
        ["x"],
        place.cast::<c_char>(),
        512,
        &raw mut len,
        claims.cast::<Sealed>(),
        error
    ));
    assert_eq!(status, SEALWAX_OK);
    assert!(memory.starts_with(b"sw1."));
}

#[test]
fn a_renewal_needs_two_of_the_claims() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let mut claims = Box::new(MaybeUninit::<Opened>::uninit());
    let before = claims.as_mut_ptr();
    // SAFETY: a place of ours, of which the rest is never initialized.
    unsafe {
        (&raw mut (*before).started_at).write(1_800_000_000);
        (&raw mut (*before).generation).write(7);
    }
    let token = text(|out, cap, len| {
        c!(sealwax_renew(
            view,
            ptr::from_ref(&SESSION),
            ptr::null(),
            before.cast_const(),
            ["x"],
            out,
            cap,
            len,
            error
        ))
    });
    assert!(token.starts_with("sw1."));
}

#[test]
fn what_an_exchange_lent_is_given_back_to_it() {
    let mut world = World::new();
    let (error, codec) = (world.error(), world.codec.cast_const());
    let guard = made(|guard| c!(sealwax_guard_new(codec, ["{}"], guard, error)));
    let call = r#"{"method":"tools/call","target":"t","modern":true,"principal":{"subject":"a"}}"#;
    let (mut step, mut len) = (ptr::null(), 0);
    let exchange = made(|exchange| {
        c!(sealwax_guard_message(
            guard.cast_const(),
            [call],
            [],
            exchange,
            &raw mut step,
            &raw mut len,
            error
        ))
    });
    // The guard goes first; a step is no event.
    c!(sealwax_guard_free(guard));
    let status = c!(sealwax_exchange_on(
        exchange,
        step,
        len,
        [],
        &raw mut step,
        &raw mut len,
        error
    ));
    assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
    // It is JSON, and so a state to seal; the token takes its place while it is read.
    let status = c!(sealwax_exchange_seal_state(
        exchange,
        step,
        len,
        &raw mut step,
        &raw mut len,
        error
    ));
    assert_eq!(status, SEALWAX_OK);
    let events = lent(|text, len| c!(sealwax_exchange_events(exchange, text, len, error)));
    assert_eq!(events.as_deref(), Some("[]"));
    c!(sealwax_exchange_free(exchange));
}

#[test]
fn what_a_ledger_and_a_dialogue_lent_is_given_back_to_them() {
    let mut world = World::new();
    let error = world.error();
    let (mut text, mut len) = (ptr::null(), 0);
    let memory = made(|memory| c!(sealwax_memory_new(1 << 20, 1_800_000_000, memory, error)));
    let open = r#"{"script":"open","keys":["began","fence"],"args":[]}"#;
    for _ in 0..2 {
        let status = c!(sealwax_memory_run(
            memory,
            [open],
            1_800_000_000,
            &raw mut text,
            &raw mut len,
            error
        ));
        assert_eq!(status, SEALWAX_OK);
        let status = c!(sealwax_memory_run(
            memory,
            text,
            len,
            1_800_000_000,
            &raw mut text,
            &raw mut len,
            error
        ));
        assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
    }
    c!(sealwax_memory_free(memory));
    let redis = made(|redis| c!(sealwax_redis_new(false, redis, error)));
    let revoke = r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0"],"withinMs":300}"#;
    let dialogue = made(|dialogue| {
        c!(sealwax_redis_begin(
            redis.cast_const(),
            [revoke],
            dialogue,
            &raw mut text,
            &raw mut len,
            error
        ))
    });
    c!(sealwax_redis_free(redis));
    let status = c!(sealwax_dialogue_on(
        dialogue,
        text,
        len,
        &raw mut text,
        &raw mut len,
        error
    ));
    assert_eq!(status, SEALWAX_INVALID_ARGUMENT);
    c!(sealwax_dialogue_free(dialogue));
}

#[test]
fn keys_and_rings_are_shared_and_outlive_who_made_them() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let old = made(|key| c!(sealwax_key_parse([KEY], key, error)));
    let new = made(|key| c!(sealwax_key_generate(key, error)));
    let keys = [new.cast_const(), old.cast_const()];
    let ring = made(|ring| c!(sealwax_ring_new(keys.as_ptr(), 2, ring, error)));
    c!(sealwax_key_free(new));
    let codec = world.codec.cast_const();
    assert!(made(|changed| c!(sealwax_codec_set_keys(
        codec,
        ring.cast_const(),
        changed,
        error
    ))));
    let mut twice = ptr::null_mut();
    let keys = [old.cast_const(); 2];
    let status = c!(sealwax_ring_new(keys.as_ptr(), 2, &raw mut twice, error));
    assert_eq!(status, SEALWAX_INVALID_KEY);
    c!(sealwax_ring_free(ring));
    c!(sealwax_key_free(old));
    // The view has the keys that it was made with.
    let mut out = [0_u8; 256];
    let mut len = 0;
    let status = c!(sealwax_seal(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        ["x"],
        out.as_mut_ptr().cast(),
        256,
        &raw mut len,
        error
    ));
    assert_eq!(status, SEALWAX_OK);
}
