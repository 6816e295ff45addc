//! What an attacker, a proxy or a language model does to a text.

use arbitrary::Arbitrary;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

/// Places are counted round the length of the text, or of its bytes.
#[derive(Arbitrary, Clone, Debug)]
pub enum Change<'a> {
    Insert(u16, char),
    Replace(u16, char),
    Remove(u16),
    Swap(u16),
    Cut(u16),
    Append(&'a str),
    /// The end of another text follows the beginning of this one, from the same place on.
    Splice(u16),
    /// Of the bytes that the text has in base64, behind its prefix.
    Bit(u16, u8),
    SpliceBytes(u16),
    CutBytes(u16),
    /// As base64 with other bits at its end, with padding, or in the other alphabet.
    Spell(u8),
    Upper,
}

/// Returns the text with these changes; `other` is another one, to splice with.
pub fn altered(text: &str, other: &str, changes: &[Change<'_>]) -> String {
    changes
        .iter()
        .take(4)
        .fold(text.to_owned(), |text, change| change.of(text, other))
}

impl Change<'_> {
    fn of(&self, text: String, other: &str) -> String {
        match *self {
            Self::Insert(at, by) => put(&text, at, 0, by),
            Self::Replace(at, by) => put(&text, at, 1, by),
            Self::Remove(at) => {
                let mut chars: Vec<char> = text.chars().collect();
                if !chars.is_empty() {
                    chars.remove(usize::from(at) % chars.len());
                }
                chars.into_iter().collect()
            }
            Self::Swap(at) => {
                let mut chars: Vec<char> = text.chars().collect();
                if chars.len() > 1 {
                    let at = usize::from(at) % (chars.len() - 1);
                    chars.swap(at, at + 1);
                }
                chars.into_iter().collect()
            }
            Self::Cut(at) => text.chars().take(place(at, text.len())).collect(),
            Self::Append(by) => text + by,
            Self::Splice(at) => {
                let at = place(at, text.len());
                text.chars()
                    .take(at)
                    .chain(other.chars().skip(at))
                    .collect()
            }
            Self::Bit(at, bit) => bytes(text, |bytes| {
                if !bytes.is_empty() {
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= 1 << (bit % 8);
                }
            }),
            Self::SpliceBytes(at) => {
                let other = decoded(other).map_or(Vec::new(), |(_, bytes)| bytes);
                bytes(text, |bytes| {
                    let at = place(at, bytes.len()).min(other.len());
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[at..]);
                })
            }
            Self::CutBytes(at) => bytes(text, |bytes| bytes.truncate(place(at, bytes.len()))),
            Self::Spell(how) => spelled(&text, how),
            Self::Upper => text.to_uppercase(),
        }
    }
}

/// A place in so many, or their end.
fn place(at: u16, len: usize) -> usize {
    usize::from(at) % (len + 1)
}

/// Splits a text into its prefix and its bytes, if these are base64url in its one spelling.
pub fn decoded(text: &str) -> Option<(&str, Vec<u8>)> {
    let at = text.find(['.', '_']).map_or(0, |at| at + 1);
    let (prefix, body) = text.split_at(at);
    Some((prefix, BASE64_URL_SAFE_NO_PAD.decode(body).ok()?))
}

fn bytes(text: String, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let Some((prefix, mut bytes)) = decoded(&text) else {
        return text;
    };
    change(&mut bytes);
    prefix.to_owned() + &BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn put(text: &str, at: u16, over: usize, by: char) -> String {
    let count = text.chars().count();
    let at = usize::from(at) % (count + 1);
    let (before, after) = (text.chars().take(at), text.chars().skip(at + over));
    before.chain([by]).chain(after).collect()
}

fn spelled(text: &str, how: u8) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    match how % 4 {
        0 => format!("{text}="),
        1 => text.replace('-', "+").replace('_', "/"),
        2 => format!(" {text}"),
        _ => {
            // The next character of the alphabet: of the last one, some bits may be unused.
            let Some((at, last)) = text.char_indices().last() else {
                return String::new();
            };
            let place = ALPHABET.find(last).unwrap_or_default();
            format!("{}{}", &text[..at], &ALPHABET[place ^ 1..][..1])
        }
    }
}
