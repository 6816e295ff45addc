//! base64url and the base32 of handles, slow and obvious: what the core's are compared with.

/// An alphabet of 2ᵇ letters, of b bits each.
#[derive(Clone, Copy)]
pub struct Spelling {
    bits: usize,
    letters: &'static [u8],
    /// Of each byte as a letter, or [`NONE`].
    values: &'static [u8; 256],
}

const NONE: u8 = 0xff;
const URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CROCKFORD: &[u8] = b"0123456789abcdefghjkmnpqrstvwxyz";

pub const BASE64URL: Spelling = Spelling {
    bits: 6,
    letters: URL,
    values: &values(URL),
};
pub const BASE32: Spelling = Spelling {
    bits: 5,
    letters: CROCKFORD,
    values: &values(CROCKFORD),
};

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are at most 64 letters"
)]
const fn values(letters: &[u8]) -> [u8; 256] {
    let mut values = [NONE; 256];
    let mut at = 0;
    while at < letters.len() {
        values[letters[at] as usize] = at as u8;
        at += 1;
    }
    values
}

impl Spelling {
    pub fn letters(self) -> &'static [u8] {
        self.letters
    }

    /// Appends the one spelling of `bytes`.
    pub fn encode(self, bytes: &[u8], text: &mut String) {
        let (mut held, mut bits) = (0_usize, 0);
        for &byte in bytes {
            held = (held << 8 | usize::from(byte)) & 0xffff;
            bits += 8;
            while bits >= self.bits {
                bits -= self.bits;
                text.push(self.letter(held >> bits));
            }
        }
        if bits > 0 {
            text.push(self.letter(held << (self.bits - bits)));
        }
    }

    fn letter(self, value: usize) -> char {
        char::from(self.letters[value & (self.letters.len() - 1)])
    }

    /// Returns how many bytes a text spells; nothing unless it is the one spelling of some bytes.
    pub fn length(self, text: &str) -> Option<usize> {
        let values = text.bytes().map(|letter| self.values[usize::from(letter)]);
        let bits = text.len() * self.bits;
        // What is left is less than a letter, and zero.
        let (left, last) = (bits % 8, values.clone().next_back().unwrap_or_default());
        let all = values.fold(0, |all, value| all | value);
        (all != NONE && left < self.bits && last & ((1 << left) - 1) == 0).then_some(bits / 8)
    }

    /// Reads the one spelling of some bytes; nothing of any other text.
    pub fn decode(self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.length(text)?);
        let (mut held, mut bits) = (0_usize, 0);
        for letter in text.bytes() {
            held = (held << self.bits | usize::from(self.values[usize::from(letter)])) & 0xffff;
            bits += self.bits;
            if bits >= 8 {
                bits -= 8;
                bytes.push((held >> bits).to_le_bytes()[0]);
            }
        }
        Some(bytes)
    }
}
