//! What is genuine, but for another principal, service, purpose, key or time.

use std::time::Duration;

use sealwax::{Error, Purpose, View};

use super::random::Random;
use super::world::{MAX_AGE, OPENERS, Opener, World};

/// Returns a text, and the code of its refusal: none if the text alone decides it (`expected.rs`).
pub fn text(
    world: &World,
    random: &mut Random,
    opener: Opener,
    payload: &[u8],
) -> Result<(String, Option<&'static str>), Error> {
    let seal = |view: &View| world.seal(view, opener, 0, payload);
    // Whoever holds a handle cannot be told from who made it up.
    let of = |code| {
        Some(if opener == Opener::Handle {
            "unauthentic"
        } else {
            code
        })
    };
    let other = |random: &mut Random| &world.others[random.below(world.others.len())];
    let minted = opener.purpose().is_none();
    Ok(match random.below(9) {
        0 => (seal(other(random))?, of("principal_mismatch")),
        1 => (seal(&world.other_service)?, None),
        2 => (seal(&world.other_key)?, None),
        3 => {
            let others: Vec<Opener> = OPENERS
                .into_iter()
                .filter(|other| *other != opener)
                .collect();
            let other = random.one(&others);
            (world.seal(&world.alice, other, 0, payload)?, None)
        }
        4 => match opener.purpose() {
            Some(purpose) => (otherwise_bound(world, random, purpose, payload)?, None),
            None => (world.alice.mint_handle("baskets")?.as_str().into(), None),
        },
        5 => {
            let ago = 24 * 3600 + random.below(1 << 30);
            let ago = if minted {
                MAX_AGE + ago as u64
            } else {
                30 * 86_400 + ago as u64
            };
            (
                world.seal_at(ago.cast_signed(), || seal(&world.alice))?,
                Some("expired"),
            )
        }
        6 => {
            // The principal is compared before the time.
            let ago = if minted { MAX_AGE } else { 30 * 86_400 };
            let other = other(random);
            (
                world.seal_at(ago.cast_signed(), || seal(other))?,
                of("principal_mismatch"),
            )
        }
        7 => {
            let ahead = 61 + (random.next() >> 34).cast_signed();
            (
                world.seal_at(-ahead, || seal(&world.alice))?,
                Some("not_yet_valid"),
            )
        }
        _ if minted => (
            world.seal_at(MAX_AGE.cast_signed(), || seal(&world.alice))?,
            Some("expired"),
        ),
        // Renewed for longer than is allowed.
        _ => {
            let age = u32::try_from(MAX_AGE).unwrap_or(u32::MAX) + u32::from(random.byte());
            (
                world.seal(&world.alice, opener, age, payload)?,
                Some("expired"),
            )
        }
    })
}

/// Sealed by Alice, with one binding that differs; a session has none, and is of another service.
fn otherwise_bound(
    world: &World,
    random: &mut Random,
    mut purpose: Purpose<'static>,
    payload: &[u8],
) -> Result<String, Error> {
    const OTHER: [u8; 32] = [8; 32];
    let bound = [
        !purpose.label.is_empty(),
        !purpose.session_id.is_empty(),
        !purpose.context.is_empty(),
    ];
    let places: Vec<usize> = (0..3).filter(|at| bound[*at]).collect();
    if places.is_empty() {
        return world.seal(
            &world.other_service,
            Opener::Sealed(purpose.kind),
            0,
            payload,
        );
    }
    match random.one(&places) {
        0 => purpose.label = "basket2",
        1 => purpose.session_id = "a session's ID",
        _ => purpose.context = &OTHER,
    }
    let token = world
        .alice
        .sealer(purpose)
        .ttl(Duration::from_secs(60))
        .seal(payload)?;
    Ok(token.as_str().into())
}
