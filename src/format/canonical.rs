//! Whether a JSON text is its own canonical form (RFC 8785), told without reading it into a value.
//!
//! A second reader beside `json`, so it knows little: whatever is out of the ordinary it leaves to that one.

use super::json::MAX_LEVELS;

/// More may be 2⁵³ and above.
const MAX_DIGITS: usize = 15;

/// Whether this is an object or an array that `json` would accept, and write as it stands. It may be so
/// where this says no: escapes, fractions, integers of more than 15 digits and keys beyond ASCII are not
/// looked into.
pub(crate) fn is_canonical(text: &str) -> bool {
    let mut rest = Rest(text.as_bytes());
    text.starts_with(['{', '[']) && rest.value(MAX_LEVELS).is_some() && rest.0.is_empty()
}

/// What is still to be looked at. Each method goes past what it names; `None` is "don't know".
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    /// A value of at most `levels` levels.
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

    /// The members of an object, after its brace. ASCII sorts alike in UTF-8 and in UTF-16, and what
    /// ascends strictly has each key once.
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

    /// The items of an array, after its bracket.
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

    /// A string after its quote, and the quote at its end. What is no control character and needs no
    /// escape stands as it is.
    fn text(&mut self) -> Option<&'a [u8]> {
        let special = |&byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
        let end = self.0.iter().position(special)?;
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        self.word(b"\"")?;
        Some(text)
    }

    /// The digits of an integer after its first.
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
