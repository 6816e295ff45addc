//! Session ids, handles and data-layer sessions.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{MINUTE, Pick, World, c, made, take, text};
use crate::identifier::*;
use crate::session::*;
use crate::status::*;
use crate::token::*;

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
