//! The short form of assurance/altered: no altered token opens, and each is refused with the code that SPEC.md says.

#[allow(dead_code, reason = "it prints, too")]
#[path = "../../assurance/altered/src/lib.rs"]
mod program;

use program::cases::Shares;
use program::tally::Tally;
use program::world::World;

#[test]
fn no_altered_token_opens() {
    // Each seed gives others; a failure says which block of which.
    let (world, shares) = (World::new().unwrap(), Shares::new());
    let mut tally = Tally::default();
    for block in 0.. {
        tally.block(&world, &shares, 1, block).unwrap();
        if tally.altered >= 100_000 {
            break;
        }
    }
    assert!(tally.opened > 1000);
}
