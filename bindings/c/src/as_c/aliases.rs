//! Memory that is an input and an output at once, or that the library lent.

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::ptr;

use super::{
    KEY, NOW, OPEN, REVOKE, ROOM, SESSION, World, begin, begun, c, frame, made, open, seal, tell,
    text, told,
};
use crate::codec::*;
use crate::key::*;
use crate::key_ring::*;
use crate::machine::*;
use crate::status::*;
use crate::token::*;

#[test]
fn a_token_takes_the_place_of_its_payload_and_the_other_way_round() {
    let world = World::new();
    let view = world.alice.cast_const();
    let mut memory = vec![0_u8; ROOM].into_boxed_slice();
    memory[..5].copy_from_slice(b"hello");
    let (place, mut len) = (memory.as_mut_ptr(), 5);
    let status = seal(view, (place, 5), place, &raw mut len);
    assert_eq!(status, SEALWAX_OK);
    let status = open(view, (place, len), place, &raw mut len);
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
fn what_a_machine_lent_is_given_back_to_it() {
    let world = World::new();
    let none = ptr::null();
    let call = |token| {
        let texts = ["tools/call", "t", "{}", token, "", "", "a"];
        frame(SEALWAX_MESSAGE, SEALWAX_FLAG_CALLER, &texts)
    };
    let (guard, _) = begin(world.codec, none, &frame(SEALWAX_GUARD, 0, &["{}"]));
    // A state that is a frame itself: one of SEALWAX_SEAL_STATE.
    let state = frame(SEALWAX_SEAL_STATE, 0, &["7"]);
    let state = str::from_utf8(&state).expect("UTF-8");
    let (exchange, _) = begin(none.cast(), guard, &call(""));
    let (_, token) = tell(exchange, SEALWAX_RESULT, &["input_required", "", state]);
    c!(sealwax_machine_free(exchange));
    let (exchange, lent) = begun(none.cast(), guard, &call(&token));
    // The guard goes first; an answer is nothing to be told.
    c!(sealwax_machine_free(guard));
    assert_eq!(told(exchange, lent), (SEALWAX_INVALID_ARGUMENT, lent));
    // The token takes the place of the text while it is read: behind a head, and two lengths.
    let inside = (lent.0.wrapping_add(12), state.len());
    let (status, sealed) = told(exchange, inside);
    assert_eq!(status, SEALWAX_OK);
    assert_eq!(told(exchange, sealed), (SEALWAX_INVALID_ARGUMENT, sealed));
    c!(sealwax_machine_free(exchange));

    let (memory, lent) = begun(
        none.cast(),
        none,
        &frame(SEALWAX_MEMORY, 0, &["1000000", NOW]),
    );
    assert_eq!(told(memory, lent), (SEALWAX_INVALID_ARGUMENT, lent));
    tell(memory, SEALWAX_RUN, &[OPEN, NOW]);
    c!(sealwax_machine_free(memory));
    let (store, _) = begin(none.cast(), none, &frame(SEALWAX_STORE, 0, &[]));
    let (machine, lent) = begun(
        none.cast(),
        store,
        &frame(SEALWAX_STORE_MACHINE, 0, &[REVOKE]),
    );
    c!(sealwax_machine_free(store));
    assert_eq!(told(machine, lent), (SEALWAX_INVALID_ARGUMENT, lent));
    c!(sealwax_machine_free(machine));
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
    let (mut out, mut len) = ([0_u8; ROOM], 0);
    let status = seal(view, (b"x".as_ptr(), 1), out.as_mut_ptr(), &raw mut len);
    assert_eq!(status, SEALWAX_OK);
}
