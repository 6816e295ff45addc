//! Mints session ids and handles, alters them, or verifies them elsewhere or at another time: what is verified was minted
//! by us for this principal, in this one spelling.

use std::time::Duration;

use arbitrary::Arbitrary;
use sealwax::{Error, Inspected, inspect};

use crate::alter::{Change, altered};
use crate::leaks;
use crate::tokens::is_type;
use crate::world::{Limits, NOW, Place, Still};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    minted: Place,
    verified: Option<Place>,
    limits: Limits,
    /// Of handles; session ids have none.
    minted_type: Option<Type<'a>>,
    verified_type: Option<Type<'a>>,
    /// Milliseconds.
    later: i64,
    max_age: Option<u64>,
    changes: Vec<Change<'a>>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Type<'a> {
    A,
    Basket,
    Longest,
    Given(&'a str),
}

impl Type<'_> {
    fn text(&self) -> &str {
        match self {
            Self::A => "a",
            Self::Basket => "basket",
            Self::Longest => "a1234567890123456789012345678901",
            Self::Given(text) => text,
        }
    }
}

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let clock = Still::new();
    let view = input.minted.view(&clock);
    let minted = |which: Option<Type<'_>>| match which {
        None => Ok((view.mint_session_id().unwrap().to_string(), String::new())),
        Some(of) => match view.mint_handle(of.text()) {
            Ok(handle) => Ok((handle.to_string(), of.text().to_owned())),
            Err(error) => {
                assert!(!is_type(of.text()), "{error}");
                Err(())
            }
        },
    };
    let (Ok((text, of)), Ok((other, _))) = (minted(input.minted_type), minted(input.minted_type))
    else {
        return false;
    };
    let mut ulid = [0; 16];
    spelling(&text, &mut ulid);
    assert_eq!(&ulid[..6], &(NOW * 1000).to_be_bytes()[2..]);
    let presented = altered(&text, &other, &input.changes);
    spelling(&presented, &mut [0; 16]);
    if presented == other {
        return false;
    }
    clock.set_ms((NOW * 1000).saturating_add_signed(input.later));
    let place = input.verified.unwrap_or(input.minted);
    let view = place.view_of(&clock, input.limits);
    let max_age = input.max_age.map(Duration::from_secs);
    let (found, asked) = match input.verified_type.or(input.minted_type) {
        None => {
            let verified = view.verify_session_id(&presented, max_age);
            (
                verified.map(|id| (id.to_string(), *id.ulid(), id.needs_reseal())),
                None,
            )
        }
        Some(asked) => {
            let asked = asked.text().to_owned();
            let verified = view.verify_handle(&asked, &presented, max_age);
            (
                verified.map(|it| (it.to_string(), *it.ulid(), it.needs_reseal())),
                Some(asked),
            )
        }
    };
    let is_same = presented == text && asked.is_some() == input.minted_type.is_some();
    let expected = match asked {
        Some(asked) if !is_type(&asked) => Some("invalid_argument"),
        Some(asked) if is_same && asked != of => Some("wrong_purpose"),
        _ if !is_same => None,
        asked => refusal(&input, place, &clock, asked.is_some()),
    };
    match (found, expected) {
        (Err(error), Some(expected)) => assert_eq!(error.code(), expected),
        (Err(error), None) => {
            assert!(!is_same && error.is_refusal(), "{error}");
            silent(&error, &presented);
        }
        (Ok((found, found_ulid, old)), None) => {
            assert!(is_same, "{presented} was verified, and {text} was minted");
            assert_eq!((found, found_ulid), (text, ulid));
            assert_eq!(old, place.ring.places()[0] != input.minted.ring.places()[0]);
            return true;
        }
        (Ok(_), Some(expected)) => panic!("verified, expected {expected}"),
    }
    false
}

/// The refusal of an unaltered text, in the order of SPEC.md, section 9.
fn refusal(
    input: &Input<'_>,
    place: Place,
    clock: &Still,
    is_handle: bool,
) -> Option<&'static str> {
    let sealing = input.minted.ring.places()[0];
    let unknown = !place.ring.places().contains(&sealing);
    let elsewhere = place.audience != input.minted.audience;
    let another = place.who != input.minted.who;
    let (made, now) = (NOW * 1000, sealwax::Environment::now_ms(clock));
    let ends = input
        .max_age
        .map(|age| made.saturating_add(age.saturating_mul(1000)));
    match () {
        () if is_handle && (unknown || elsewhere || another) => Some("unauthentic"),
        () if unknown => Some("unknown_key"),
        () if elsewhere => Some("unauthentic"),
        () if another => Some("principal_mismatch"),
        () if made > now.saturating_add(input.limits.clock_tolerance() * 1000) => {
            Some("not_yet_valid")
        }
        () if ends.is_some_and(|end| now >= end) => Some("expired"),
        () => None,
    }
}

fn silent(error: &Error, text: &str) {
    let body = text.split_once('_').map_or(text, |(_, body)| body);
    leaks::assert_none(error, body);
}

/// What is read without a key has one spelling: encoded anew, it is the same text.
fn spelling(text: &str, ulid: &mut [u8; 16]) {
    const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    match inspect(text) {
        Ok(Inspected::SessionId { ulid: found, .. }) => {
            let (prefix, bytes) =
                crate::alter::decoded(text).expect("base64url in its one spelling");
            assert_eq!(
                (prefix, bytes.len(), &bytes[4..20]),
                ("sess_", 44, &found[..])
            );
            *ulid = found;
        }
        Ok(Inspected::Handle {
            handle_type,
            ulid: found,
            ..
        }) => {
            assert!(is_type(&handle_type));
            let body = text
                .strip_prefix(&handle_type)
                .and_then(|rest| rest.strip_prefix('_'))
                .unwrap();
            let bits = body.bytes().flat_map(|byte| {
                let value = BASE32
                    .iter()
                    .position(|known| *known == byte)
                    .expect("the alphabet");
                (0..5).rev().map(move |bit| (value >> bit) & 1)
            });
            let bits: Vec<usize> = bits.collect();
            assert_eq!(
                (bits.len(), bits[26 * 8..].iter().sum::<usize>()),
                (210, 0),
                "unused bits are zero"
            );
            let bytes = bits
                .chunks_exact(8)
                .map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit));
            assert!(
                bytes
                    .take(16)
                    .eq(found.iter().map(|byte| usize::from(*byte)))
            );
            *ulid = found;
        }
        _ => {}
    }
}
