//! Recognizes a JSON text that is its own canonical form (RFC 8785), without building a value.
//!
//! It is a second reader beside `json`, so it is simple: anything unusual is left to `json`.

use super::json::MAX_LEVELS;

/// Integers with more digits may be 2⁵³ or above.
const MAX_DIGITS: usize = 15;

/// Returns whether this is an object or an array that `json` would accept and write unchanged. A
/// canonical text may still get `false`: escapes, fractions, integers of more than 15 digits and
/// keys beyond ASCII are not examined.
pub(crate) fn is_canonical(text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    text.starts_with(['{', '[']) && rest.value(MAX_LEVELS).is_some() && rest.0.is_empty()
}

/// The unread rest. Each method reads past the construct it names; `None` means "don't know".
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// Reads a value of at most `levels` levels.
    fn value(&mut self, levels: usize) -> Option<()> {
        match self.byte()? {
            b'{' => self.members(levels.checked_sub(1)?),
            b'[' => self.items(levels.checked_sub(1)?),
            b'"' => self.text().map(drop),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            b'0' => Some(()),
            b'1'..=b'9' => self.digits(),
            b'-' => match self.byte()? {
                b'1'..=b'9' => self.digits(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Reads the members of an object, after its brace. ASCII sorts alike in UTF-8 and in UTF-16,
    /// and strictly ascending keys are unique.
    fn members(&mut self, levels: usize) -> Option<()> {
        if self.word(b"}").is_some() {
            return Some(());
        }
        let mut last = None;
        loop {
            self.word(b"\"")?;
            let key = self.text()?;
            if !key.is_ascii() || last.is_some_and(|last| key <= last) {
                return None;
            }
            last = Some(key);
            self.word(b":")?;
            self.value(levels)?;
            match self.byte()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads the items of an array, after its bracket.
    fn items(&mut self, levels: usize) -> Option<()> {
        if self.word(b"]").is_some() {
            return Some(());
        }
        loop {
            self.value(levels)?;
            match self.byte()? {
                b',' => {}
                b']' => return Some(()),
                _ => return None,
            }
        }
    }

    /// Reads a string after its quote, and its closing quote. All but control characters and
    /// escapes is written unchanged.
    fn text(&mut self) -> Option<&'a [u8]> {
        let special = |&byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
        let end = self.0.iter().position(special)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        self.word(b"\"")?;
        Some(text)
    }

    /// Reads the digits of an integer after the first.
    fn digits(&mut self) -> Option<()> {
        let digit = |byte: &&u8| byte.is_ascii_digit();
        let more = self.0.iter().take_while(digit).count();
        self.0 = self.0.get(more..)?;
        (more < MAX_DIGITS).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }
}
