//! What is told of tokens and requests.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{KEY, Pick, World, c};
use crate::inspect::*;
use crate::request::*;
use crate::status::*;

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
