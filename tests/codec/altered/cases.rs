//! The texts that are opened, block by block: a seed and a number give each block.

use sealwax::Error;

use super::change::{CHANGES, How, Pair};
use super::random::Random;
use super::world::{OPENERS, Opener, World};
use super::{elsewhere, expected};

/// So many changes are tried of each two tokens.
pub const CHANGED: usize = 64;

/// A text to open.
pub struct Case<'a> {
    pub opener: Opener,
    pub text: &'a str,
    /// The index in [`CHANGES`]; nothing for a text that was not changed.
    pub change: Option<usize>,
    /// The payload, or the code of the refusal.
    pub expected: Result<&'a [u8], &'static str>,
}

/// Chooses among the changes by their shares.
pub struct Shares(Vec<usize>);

impl Shares {
    pub fn new() -> Self {
        let each = CHANGES.iter().enumerate();
        Self(
            each.flat_map(|(at, change)| std::iter::repeat_n(at, change.share))
                .collect(),
        )
    }
}

/// Makes the cases of a block. Changed texts that equal one of the two they are made of are left out.
pub fn block(
    world: &World,
    shares: &Shares,
    seed: u64,
    number: u64,
    mut each: impl FnMut(Case<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut random = Random::of(seed, number);
    world.begin(&mut random);
    let opener = random.one(&OPENERS);
    let said = |error: Error| error.to_string();

    let mut room = [0; 400];
    random.fill(&mut room);
    // Small ones: they cost least, and each of their bytes is met more often.
    let payload = |random: &mut Random| {
        let most = if random.below(32) == 0 { 400 } else { 24 };
        match opener.purpose() {
            Some(_) => &room[..random.below(most)],
            None => &[][..],
        }
    };
    let (payload, other_payload) = (payload(&mut random), payload(&mut random));
    let sealer = [&world.alice, &world.alice_elsewhere][random.below(2)];
    let text = world.seal(sealer, opener, 0, payload).map_err(said)?;
    let other = world
        .seal(&world.alice, opener, 0, other_payload)
        .map_err(said)?;
    for (text, payload) in [(&text, payload), (&other, other_payload)] {
        each(Case {
            opener,
            text,
            change: None,
            expected: Ok(payload),
        })?;
    }

    let (prefix, spelling) = opener.spelling();
    let decode = |text: &str| {
        spelling
            .decode(&text[prefix.len()..])
            .ok_or("no spelling of ours")
    };
    let (bytes, other_bytes) = (decode(&text)?, decode(&other)?);
    let pair = Pair {
        opener,
        text: &text,
        other: &other,
        other_bytes: &other_bytes,
        keys: &world.keys,
    };
    let (mut altered, mut changed) = (String::new(), Vec::new());
    for _ in 0..CHANGED {
        let change = random.one(&shares.0);
        let mut known = None;
        match CHANGES[change].how {
            How::Bytes(how) => {
                changed.clone_from(&bytes);
                how(&mut random, &pair, &mut changed);
                altered.clear();
                altered.push_str(prefix);
                spelling.encode(&changed, &mut altered);
            }
            How::Text(how) => {
                altered.clone_from(&text);
                how(&mut random, &pair, &mut altered);
            }
            How::Elsewhere => {
                (altered, known) =
                    elsewhere::text(world, &mut random, opener, payload).map_err(said)?;
            }
        }
        if altered == text || altered == other {
            continue;
        }
        let code =
            known.unwrap_or_else(|| expected::code(opener, &altered, world.limit, &world.keys));
        each(Case {
            opener,
            text: &altered,
            change: Some(change),
            expected: Err(code),
        })?;
    }
    Ok(())
}
