//! The base32 of handles (SPEC.md, section 2), in one spelling: RFC 4648's, in other letters.

use base32ct::{Base32Unpadded, Encoding as _};

/// Crockford's alphabet in lower case only: no i, l, o, u to misread.
const OURS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const RFC_4648: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let text = Base32Unpadded::encode_string(bytes);
    let letters = text
        .bytes()
        .filter_map(|letter| spelt(letter, RFC_4648, OURS));
    letters.map(char::from).collect()
}

/// Reads exactly `N` bytes.
pub(crate) fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    decode_into(text, &mut bytes).then_some(bytes)
}

/// Fills `bytes`, and returns whether the text is exactly theirs.
#[inline(never)]
fn decode_into(text: &str, bytes: &mut [u8]) -> bool {
    let letters = text.bytes().map(|letter| spelt(letter, OURS, RFC_4648));
    let letters: Option<Vec<u8>> = letters.collect();
    let read = letters.is_some_and(|letters| Base32Unpadded::decode(&letters, bytes).is_ok());
    // It may have read fewer bytes, and the last letter may have bits that belong to none.
    read && encode(bytes) == text
}

/// Returns the letter of another alphabet with the same value.
fn spelt(letter: u8, from: &[u8; 32], to: &[u8; 32]) -> Option<u8> {
    let value = from.iter().position(|&known| known == letter)?;
    Some(to[value])
}
