//! The bytes of a handle: a short signed identifier that a language model carries from call to call
//! (SPEC.md, "Handle").

use subtle::ConstantTimeEq as _;

use super::base32;
use super::bytes::leading;
use super::clock::Clock;
use super::error::Error;
use super::key::Key;
use super::principal_keys::{PrincipalKeys, Tag};
use super::text::{IDENTIFIER_LIMIT, at_most};
use super::ulid::Ulid;

const MAC_LEN: usize = 10;
const SHORT_MAC_LEN: usize = 5;
const LEN: usize = Ulid::LEN + MAC_LEN;
const MAX_TYPE_LEN: usize = 32;
/// The prefixes of other texts of this format.
const RESERVED_TYPES: [&str; 3] = ["sess", "sw1", "swk1"];

/// The type of a consent, which no other handle has.
pub(crate) const CONSENT: &str = "yes";

/// What a handle is bound to besides its type: the context of a request, for a consent.
pub(crate) type Bound<'a> = Option<&'a [u8; 32]>;

/// Mints a handle of a type that passed [`check_type`], or a consent.
pub(crate) fn mint(
    keys: PrincipalKeys<'_>,
    handle_type: &str,
    ulid: Ulid,
    bound: Bound<'_>,
) -> String {
    let (key, tag) = keys.sealing();
    let mut bytes = [0; LEN];
    bytes[..Ulid::LEN].copy_from_slice(&ulid.0);
    let mac = signature(key, keys.audience, handle_type, tag, &ulid.0, bound);
    bytes[Ulid::LEN..].copy_from_slice(&mac[..MAC_LEN]);
    format!("{handle_type}_{}", base32::encode(&bytes))
}

/// Returns the ulid of a handle, and the index in the ring of the key that made it. With `max_age` in seconds, a handle made longer
/// ago has expired.
pub(crate) fn verify(
    keys: PrincipalKeys<'_>,
    handle_type: &str,
    text: &str,
    clock: &Clock,
    max_age: Option<u64>,
    bound: Bound<'_>,
) -> Result<(Ulid, usize), Error> {
    at_most("handle", text.len(), IDENTIFIER_LIMIT)?;
    let (found, ulid, mac) = decode(text)?;
    let at = maker(keys, handle_type, found, &ulid.0, bound, &mac)?;
    ulid.check_time(clock, max_age)?;
    Ok((ulid, at))
}

/// Mints a short handle, of a number of the principal's. It has no time.
pub(crate) fn mint_short(keys: PrincipalKeys<'_>, handle_type: &str, number: u32) -> String {
    let ((key, tag), number) = (keys.sealing(), number.to_string());
    let mac = signature(
        key,
        keys.audience,
        handle_type,
        tag,
        number.as_bytes(),
        None,
    );
    let mac: [u8; SHORT_MAC_LEN] = leading(&mac);
    format!("{handle_type}_{number}_{}", base32::encode(&mac))
}

/// Returns the number of a short handle.
pub(crate) fn verify_short(
    keys: PrincipalKeys<'_>,
    handle_type: &str,
    text: &str,
) -> Result<u32, Error> {
    const EXPECTED: Error =
        Error::Malformed("a short handle: its type, a number and 8 characters of base32");
    at_most("handle", text.len(), IDENTIFIER_LIMIT)?;
    let (found, rest) = text.split_once('_').ok_or(EXPECTED)?;
    let (digits, body) = rest.split_once('_').ok_or(EXPECTED)?;
    let number: u32 = digits.parse().map_err(|_| EXPECTED)?;
    let mac: [u8; SHORT_MAC_LEN] = base32::decode(body).ok_or(EXPECTED)?;
    if !is_type(found) || number.to_string() != digits {
        return Err(EXPECTED);
    }
    maker(keys, handle_type, found, digits.as_bytes(), None, &mac).map(|_| number)
}

/// Returns the index of the key that made a handle of the type: every key is tried.
fn maker(
    keys: PrincipalKeys<'_>,
    handle_type: &str,
    found: &str,
    id: &[u8],
    bound: Bound<'_>,
    mac: &[u8],
) -> Result<usize, Error> {
    if found != handle_type {
        return Err(Error::WrongPurpose {
            expected: format!("a handle of type {handle_type}"),
            found: format!("one of type {found}"),
        });
    }
    let mut each = keys.ring.iter().zip(keys.tags);
    each.position(|(key, tag)| {
        let expected = signature(key, keys.audience, handle_type, tag, id, bound);
        mac.ct_eq(&expected[..mac.len()]).into()
    })
    .ok_or(Error::Unauthentic)
}

/// Checks the type that the caller gave.
pub(crate) fn check_type(handle_type: &str) -> Result<(), Error> {
    if is_type(handle_type) && handle_type != CONSENT {
        return Ok(());
    }
    Err(Error::argument(
        "handle type: expected a small letter, then up to 31 small letters or digits; \
         sess, sw1, swk1 and yes are taken",
    ))
}

/// Reads the parts that need no key: the type and the time of making.
pub(crate) fn header(text: &str) -> Result<(&str, Ulid), Error> {
    decode(text).map(|(handle_type, ulid, _)| (handle_type, ulid))
}

fn decode(text: &str) -> Result<(&str, Ulid, [u8; MAC_LEN]), Error> {
    const EXPECTED: Error = Error::Malformed(
        "a handle: its type, an underscore and 42 characters of base32 in lower case",
    );
    let (handle_type, body) = text.split_once('_').ok_or(EXPECTED)?;
    if !is_type(handle_type) {
        return Err(EXPECTED);
    }
    let bytes: [u8; LEN] = base32::decode(body).ok_or(EXPECTED)?;
    Ok((
        handle_type,
        Ulid(leading(&bytes)),
        leading(&bytes[Ulid::LEN..]),
    ))
}

fn is_type(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && text.len() <= MAX_TYPE_LEN
        && !RESERVED_TYPES.contains(&text)
}

/// Signs a ulid, or a number: that has at most 10 digits, and a ulid 16 bytes, so neither passes for the other.
fn signature(
    key: &Key,
    audience: &str,
    handle_type: &str,
    tag: &Tag,
    id: &[u8],
    bound: Bound<'_>,
) -> [u8; 32] {
    let (audience, handle_type) = (audience.as_bytes(), handle_type.as_bytes());
    let pieces: [&[u8]; 5] = [b"handle", audience, handle_type, tag, id];
    match bound {
        None => key.id_mac(&pieces),
        // The number of pieces is part of what is signed, so neither passes for the other.
        Some(context) => {
            let [name, audience, handle_type, tag, id] = pieces;
            key.id_mac(&[name, audience, handle_type, tag, id, context])
        }
    }
}
