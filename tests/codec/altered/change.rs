//! All kinds of change to a text, with what share each has.

use super::random::Random;
use super::world::Opener;

/// A text, and another one that is as genuine.
pub struct Pair<'a> {
    pub opener: Opener,
    pub text: &'a str,
    pub other: &'a str,
    pub other_bytes: &'a [u8],
    pub keys: &'a [[u8; 4]],
}

pub struct Change {
    pub name: &'static str,
    /// In thousands.
    pub share: usize,
    pub how: How,
}

pub enum How {
    /// Of the decoded bytes, which are spelt again.
    Bytes(fn(&mut Random, &Pair<'_>, &mut Vec<u8>)),
    /// Of the text.
    Text(fn(&mut Random, &Pair<'_>, &mut String)),
    /// Something genuine that was made for another place: `elsewhere.rs`.
    Elsewhere,
}

use How::{Bytes, Text};

macro_rules! changes {
    ($($share:literal $name:literal $how:expr;)*) => {
        pub const CHANGES: &[Change] = &[$(Change { name: $name, share: $share, how: $how }),*];
    };
}

changes! {
    120 "one bit" Bytes(|random, _, bytes| flip(random, bytes));
    40 "2 to 8 bits" Bytes(|random, _, bytes| (0..2 + random.below(7)).for_each(|_| flip(random, bytes)));
    80 "one byte" Bytes(|random, _, bytes| *any(random, bytes) = random.byte());
    40 "a run of bytes" Bytes(|random, _, bytes| {
        let (from, to) = range(random, bytes.len());
        random.fill(&mut bytes[from..to]);
    });
    20 "a run of zeros" Bytes(|random, _, bytes| {
        let (from, to) = range(random, bytes.len());
        bytes[from..to].fill(0);
    });
    20 "random from a field on" Bytes(|random, pair, bytes| {
        let fields = pair.opener.fields(bytes.len());
        let from = fields[random.below(fields.len() - 1)];
        random.fill(&mut bytes[from..]);
    });
    30 "bytes cut" Bytes(|random, _, bytes| {
        let (from, to) = range(random, bytes.len());
        bytes.drain(from..to);
    });
    30 "bytes inserted" Bytes(|random, _, bytes| {
        let at = random.below(bytes.len() + 1);
        let mut more = [0; 17];
        random.fill(&mut more);
        bytes.splice(at..at, more[..1 + random.below(17)].iter().copied());
    });
    20 "two bytes swapped" Bytes(|random, _, bytes| {
        let (one, two) = (random.below(bytes.len()), random.below(bytes.len()));
        bytes.swap(one, two);
    });
    20 "first byte" Bytes(|random, _, bytes| bytes[0] = random.one(&[1, 2, 3, 4, 5, 0x7f, 0, 6, 0x80, 0xff]));
    20 "key id" Bytes(|random, pair, bytes| {
        let at = if matches!(pair.opener, Opener::Sealed(_)) { 1 } else { 0 };
        bytes[at..at + 4].copy_from_slice(&random.one(pair.keys));
    });
    60 "fields of two tokens" Bytes(|random, pair, bytes| {
        let (ours, theirs) = (pair.opener.fields(bytes.len()), pair.opener.fields(pair.other_bytes.len()));
        let mut mixed = Vec::with_capacity(bytes.len() + pair.other_bytes.len());
        for (our, their) in ours.windows(2).zip(theirs.windows(2)) {
            mixed.extend_from_slice(match random.below(2) {
                0 => &bytes[our[0]..our[1]],
                _ => &pair.other_bytes[their[0]..their[1]],
            });
        }
        *bytes = mixed;
    });
    50 "two tokens spliced, in bytes" Bytes(|random, pair, bytes| {
        bytes.truncate(random.below(bytes.len() + 1));
        bytes.extend_from_slice(&pair.other_bytes[random.below(pair.other_bytes.len() + 1).min(bytes.len())..]);
    });
    30 "two tokens, one added to the other" Bytes(|random, pair, bytes| {
        let at = random.below(bytes.len());
        for (byte, more) in bytes[at..].iter_mut().zip(&pair.other_bytes[at.min(pair.other_bytes.len())..]) {
            *byte ^= more;
        }
    });
    80 "a letter for another" Text(|random, pair, text| {
        let at = random.below(text.len());
        put(text, at, 1, char::from(random.one(pair.opener.spelling().1.letters())));
    });
    40 "a letter that is none" Text(|random, _, text| {
        let at = random.below(text.len());
        put(text, at, 1, foreign(random));
    });
    20 "cases" Text(|random, _, text| match random.below(4) {
        0 => text.make_ascii_uppercase(),
        1 => text.make_ascii_lowercase(),
        _ => {
            let at = random.below(text.len());
            let letter = text.as_bytes()[at];
            put(text, at, 1, char::from(if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            }));
        }
    });
    30 "truncated" Text(|random, _, text| match random.below(2) {
        0 => text.truncate(random.below(text.len())),
        _ => drop(text.drain(..=random.below(text.len()))),
    });
    30 "letters left out" Text(|random, _, text| {
        let (from, to) = range(random, text.len());
        text.replace_range(from..to, "");
    });
    40 "letters put in" Text(|random, pair, text| for _ in 0..=random.below(5) {
        let at = random.below(text.len() + 1);
        put(text, at, 0, char::from(random.one(pair.opener.spelling().1.letters())));
    });
    20 "what is no letter put in" Text(|random, _, text| {
        // Whole: what stands there already may have more than one byte.
        let at = random.below(text.len() + 1);
        put(text, at, 0, foreign(random));
    });
    20 "two letters swapped" Text(|random, _, text| {
        let at = random.below(text.len() - 1);
        let second = char::from(text.as_bytes()[at + 1]);
        text.remove(at + 1);
        text.insert(at, second);
    });
    20 "bits of the last letter" Text(|random, pair, text| {
        let last = text.len() - 1;
        put(text, last, 1, char::from(random.one(pair.opener.spelling().1.letters())));
    });
    10 "padding" Text(|random, _, text| {
        text.push_str(random.one(&["=", "==", "===", "A", "0", "\0", " ", "\n", "\r\n", "%3D"]));
    });
    10 "the other alphabet" Text(|_, _, text| *text = text.replace('-', "+").replace('_', "/"));
    20 "another version or prefix" Text(|random, pair, text| {
        let begins = random.one(&[
            "sw2.", "sw0.", "sw01.", "sw11.", "sw99999999999999999999.", "sw.", "sw1", "sw1,", "SW1.", "sw-1.", "sw１.",
            "sess_", "ses_", "SESS_", "basket_", "baskets_", "Basket_", "basket-", "sw1_", "swk1_", "b_", "_", "",
        ]);
        text.replace_range(..pair.opener.spelling().0.len(), begins);
    });
    30 "two tokens spliced, in letters" Text(|random, pair, text| {
        text.truncate(random.below(text.len() + 1));
        text.push_str(&pair.other[random.below(pair.other.len() + 1)..]);
    });
    10 "one after another" Text(|random, pair, text| {
        text.push_str(random.one(&["", " ", ",", ".", "~"]));
        text.push_str(random.one(&[pair.text, pair.other]));
    });
    2 "too long" Text(|random, pair, text| {
        let more = random.below(12_000);
        for _ in 0..more {
            text.push(char::from(random.one(pair.opener.spelling().1.letters())));
        }
    });
    38 "genuine, elsewhere" How::Elsewhere;
}

fn flip(random: &mut Random, bytes: &mut [u8]) {
    let bit = 1 << random.below(8);
    *any(random, bytes) ^= bit;
}

fn any<'b>(random: &mut Random, bytes: &'b mut [u8]) -> &'b mut u8 {
    let at = random.below(bytes.len());
    &mut bytes[at]
}

/// A part that is not empty, and mostly short.
fn range(random: &mut Random, length: usize) -> (usize, usize) {
    let from = random.below(length);
    let most = length - from;
    let most = if random.below(2) == 0 {
        most
    } else {
        most.min(4)
    };
    (from, from + 1 + random.below(most))
}

/// Replaces `length` bytes, which are ASCII, by a letter.
fn put(text: &mut String, at: usize, length: usize, letter: char) {
    text.replace_range(at..at + length, letter.encode_utf8(&mut [0; 4]));
}

/// A character of no alphabet of ours.
fn foreign(random: &mut Random) -> char {
    const LOOK_ALIKE: [char; 8] = ['а', 'ѕ', '１', 'ａ', '\u{200b}', '\u{feff}', '−', '😀'];
    match random.below(4) {
        0 => random.one(&LOOK_ALIKE),
        1 => char::from(0x80 | random.byte()),
        _ => loop {
            let letter = char::from(random.byte() & 0x7f);
            if !letter.is_ascii_alphanumeric() && !"-_".contains(letter) {
                break letter;
            }
        },
    }
}
