//! Ledgers in stores with transactions.

use super::{Places, nulls, places};
use crate::as_c::{OPEN, Pick, World, c};
use crate::ledger::*;
use crate::status::*;

#[test]
fn ledgers() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    places!(reply: *const std::ffi::c_char, len: usize);
    nulls!("rrro", sealwax_ledger_text(["open"], reply, len, error));
    nulls!(
        "rrrro",
        sealwax_ledger_judge(
            [OPEN],
            1_800_000_000,
            ["[null,null]"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
}
