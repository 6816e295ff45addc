//! Keys, rings, codecs and views.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{AUDIENCE, KEY, Pick, World, c, made, take};
use crate::codec::*;
use crate::key::*;
use crate::key_ring::*;
use crate::status::*;
use crate::testing::*;
use crate::view::*;

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
    nulls!(
        "rro",
        sealwax_key_derive(
            ["c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ"],
            &raw mut key,
            error
        ),
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
    let variables = format!("SEALWAX_KEYS={KEY}\0");
    nulls!(
        "rro",
        sealwax_ring_from_variables([variables], &raw mut ring, error),
        c!(sealwax_ring_free(take(&mut ring)))
    );
    let rings = [world.ring.cast_const()];
    nulls!(
        "rro",
        sealwax_ring_join(rings.as_ptr(), 1, &raw mut ring, error),
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
