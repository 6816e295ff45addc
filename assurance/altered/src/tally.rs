//! Opens the cases, and counts.

use std::collections::BTreeMap;
use std::fmt;

use super::cases::{Case, Shares, block};
use super::change::CHANGES;
use super::world::{OPENERS, Opener, World};

/// How many texts were refused, by what was changed and with what code.
#[derive(Default)]
pub struct Tally {
    refused: BTreeMap<(usize, &'static str), u64>,
    as_what: [u64; OPENERS.len()],
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
                (Err(error), Err(expected), Some(change)) if error.code() == expected => {
                    self.altered += 1;
                    *self.refused.entry((change, expected)).or_default() += 1;
                    self.as_what[index(case.opener)] += 1;
                }
                _ => return Err(failure(&case, &found, seed, number)),
            }
            Ok(())
        })
    }
}

fn index(opener: Opener) -> usize {
    OPENERS
        .iter()
        .position(|known| *known == opener)
        .unwrap_or_default()
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

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, change) in CHANGES.iter().enumerate() {
            let codes = self
                .refused
                .iter()
                .filter(|((changed, _), _)| *changed == at);
            let count: u64 = codes.clone().map(|(_, count)| count).sum();
            let codes: Vec<String> = codes
                .map(|((_, code), count)| format!("{code} {count}"))
                .collect();
            writeln!(f, "{count:>12}  {:<36} {}", change.name, codes.join(", "))?;
        }
        for opener in OPENERS {
            writeln!(
                f,
                "{:>12}  as {}",
                self.as_what[index(opener)],
                opener.name()
            )?;
        }
        write!(
            f,
            "{:>12}  altered, and none opened; {} unaltered, and each opened",
            self.altered, self.opened
        )
    }
}
