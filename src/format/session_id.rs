//! The bytes of a session id: signed, bound to a principal, constant as long as the session lives
//! (SPEC.md, "Session id").

use subtle::ConstantTimeEq as _;

use super::base64url;
use super::bytes::leading;
use super::clock::Clock;
use super::error::Error;
use super::key::Key;
use super::key_id::KeyId;
use super::principal_keys::{PrincipalKeys, Tag};
use super::text::{IDENTIFIER_LIMIT, at_most};
use super::ulid::Ulid;

pub(crate) const PREFIX: &str = "sess_";

const KEY_ID_LEN: usize = 4;
const PTAG_LEN: usize = 8;
const MAC_LEN: usize = 16;
const SIGNED_LEN: usize = KEY_ID_LEN + Ulid::LEN + PTAG_LEN;
const LEN: usize = SIGNED_LEN + MAC_LEN;

pub(crate) fn mint(keys: PrincipalKeys<'_>, ulid: Ulid) -> String {
    let (key, tag) = keys.sealing();
    let mut bytes = [0; LEN];
    let (signed, mac) = bytes.split_at_mut(SIGNED_LEN);
    signed[..KEY_ID_LEN].copy_from_slice(&key.id().0);
    signed[KEY_ID_LEN..][..Ulid::LEN].copy_from_slice(&ulid.0);
    signed[KEY_ID_LEN + Ulid::LEN..].copy_from_slice(&ptag(key, ulid, tag));
    mac.copy_from_slice(&signature(key, keys.audience, signed));

    let mut text = String::from(PREFIX);
    base64url::append(&bytes, &mut text);
    text
}

/// Returns the ulid of an id, and the key that made it: its id and its index in the ring. With `max_age`
/// in seconds, an id made longer ago has expired.
pub(crate) fn verify(
    keys: PrincipalKeys<'_>,
    text: &str,
    clock: &Clock,
    max_age: Option<u64>,
) -> Result<(Ulid, KeyId, usize), Error> {
    at_most("session id", text.len(), IDENTIFIER_LIMIT)?;
    let bytes = decode(text)?;
    let (key_id, ulid) = parse(&bytes);
    let (at, key, tag) = keys.opening(key_id)?;
    let (signed, mac) = bytes.split_at(SIGNED_LEN);
    if !bool::from(mac.ct_eq(&signature(key, keys.audience, signed))) {
        return Err(Error::Unauthentic);
    }
    let expected = ptag(key, ulid, tag);
    if !bool::from(signed[KEY_ID_LEN + Ulid::LEN..].ct_eq(&expected)) {
        return Err(Error::PrincipalMismatch);
    }
    ulid.check_time(clock, max_age)?;
    Ok((ulid, key_id, at))
}

/// Reads the parts that need no key: the key's id and the time of making.
pub(crate) fn header(text: &str) -> Result<(KeyId, Ulid), Error> {
    decode(text).map(|bytes| parse(&bytes))
}

fn decode(text: &str) -> Result<[u8; LEN], Error> {
    const EXPECTED: Error = Error::Malformed("a session id: sess_ and 59 characters of base64url");
    let body = text.strip_prefix(PREFIX).ok_or(EXPECTED)?;
    let mut bytes = [0; LEN];
    let valid = base64url::decode_into(body, &mut bytes);
    valid.then_some(bytes).ok_or(EXPECTED)
}

fn parse(bytes: &[u8; LEN]) -> (KeyId, Ulid) {
    (KeyId(leading(bytes)), Ulid(leading(&bytes[KEY_ID_LEN..])))
}

fn ptag(key: &Key, ulid: Ulid, tag: &Tag) -> [u8; PTAG_LEN] {
    leading(&key.principal_mac(&[b"session", &ulid.0, tag]))
}

fn signature(key: &Key, audience: &str, signed: &[u8]) -> [u8; MAC_LEN] {
    leading(&key.id_mac(&[b"session", audience.as_bytes(), signed]))
}
