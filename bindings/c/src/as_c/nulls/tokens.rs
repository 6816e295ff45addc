//! Sealed tokens.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{MINUTE, Pick, SESSION, World, c, text};
use crate::status::*;
use crate::token::*;

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
