//! Ledgers in stores with transactions.

use super::{Places, nulls};
use crate::as_c::{OPEN, Pick, World, c};
use crate::ledger::*;
use crate::status::*;

#[test]
fn ledgers() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
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
