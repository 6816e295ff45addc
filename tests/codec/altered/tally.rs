//! Opens the cases, and counts.

use super::cases::{Case, Shares, block};
use super::change::CHANGES;
use super::world::World;

/// How many texts were refused, and how many opened.
#[derive(Default)]
pub struct Tally {
    pub altered: u64,
    pub opened: u64,
}

impl Tally {
    /// Opens the cases of a block: what was not changed must open, and nothing else.
    pub fn block(
        &mut self,
        world: &World,
        shares: &Shares,
        seed: u64,
        number: u64,
    ) -> Result<(), String> {
        block(world, shares, seed, number, |case| {
            let found = world.open(case.opener, case.text);
            match (&found, case.expected, case.change) {
                (Ok(payload), Ok(expected), None) if payload == expected => self.opened += 1,
                (Err(error), Err(expected), Some(_)) if error.code() == expected => {
                    self.altered += 1;
                }
                _ => return Err(failure(&case, &found, seed, number)),
            }
            Ok(())
        })
    }
}

fn failure(
    case: &Case<'_>,
    found: &Result<Vec<u8>, sealwax::Error>,
    seed: u64,
    number: u64,
) -> String {
    let change = case.change.map_or("nothing", |at| CHANGES[at].name);
    let found = found.as_ref().map_err(sealwax::Error::code);
    format!(
        "seed {seed}, block {number}: changed {change}, opened as {}: {:?}\nexpected {:?}, found {found:?}",
        case.opener.name(),
        case.text,
        case.expected,
    )
}
