//! Strings: characters as they are, and only what must be escaped (RFC 8785, 3.2.2.2).

use std::borrow::Cow;

use super::{LONE_SURROGATE, NO_JSON, Read, Reader};

impl<'t> Reader<'t> {
    /// Reads a string, and returns its characters, in UTF-8.
    pub(super) fn string(&mut self) -> Read<Cow<'t, [u8]>> {
        self.at += 1;
        let text = self.text;
        let begin = self.at;
        self.at += plain(self.rest());
        if self.take(b'"') {
            return Ok(Cow::Borrowed(&text[begin..self.at - 1]));
        }
        let mut characters = text[begin..self.at].to_owned();
        while self.take(b'\\') {
            self.escape(&mut characters)?;
            let begin = self.at;
            self.at += plain(self.rest());
            characters.extend_from_slice(&text[begin..self.at]);
        }
        match self.take(b'"') {
            true => Ok(Cow::Owned(characters)),
            false => Err(NO_JSON),
        }
    }

    /// Reads an escape after its backslash, and writes its shortest form.
    fn escape(&mut self, characters: &mut Vec<u8>) -> Read<()> {
        let begin = self.at - 1;
        let kind = self.peek().ok_or(NO_JSON)?;
        self.at += 1;
        let character = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\x08',
            b'f' => '\x0c',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.code_point()?,
            _ => return Err(NO_JSON),
        };
        let read = begin..self.at;
        let mut room = [0; 4];
        let utf8 = character.encode_utf8(&mut room).as_bytes();
        match character {
            '"' => self.output.replace(read, b"\\\""),
            '\\' => self.output.replace(read, b"\\\\"),
            '\x08' => self.output.replace(read, b"\\b"),
            '\x0c' => self.output.replace(read, b"\\f"),
            '\n' => self.output.replace(read, b"\\n"),
            '\r' => self.output.replace(read, b"\\r"),
            '\t' => self.output.replace(read, b"\\t"),
            '\0'..' ' => {
                let code = format!("\\u{:04x}", u32::from(character));
                self.output.replace(read, code.as_bytes());
            }
            _ => self.output.replace(read, utf8),
        }
        characters.extend_from_slice(utf8);
        Ok(())
    }

    /// Reads the digits of `\u`, and a second escape after a high surrogate.
    fn code_point(&mut self) -> Read<char> {
        let mut units = [self.unit()?, 0];
        let is_high = (0xD800..0xDC00).contains(&units[0]);
        if is_high {
            self.word(b"\\u").map_err(|_| LONE_SURROGATE)?;
            units[1] = self.unit()?;
        }
        let units = &units[..1 + usize::from(is_high)];
        let mut characters = char::decode_utf16(units.iter().copied());
        // It is no character, and languages differ in what they make of it.
        let character = characters.next().ok_or(NO_JSON)?;
        character.map_err(|_| LONE_SURROGATE)
    }

    /// Reads the four digits of a UTF-16 unit.
    fn unit(&mut self) -> Read<u16> {
        let digits = self.rest().get(..4).ok_or(NO_JSON)?;
        let unit = digits.iter().try_fold(0, |unit, &digit| {
            let digit = char::from(digit).to_digit(16)?;
            Some(unit << 4 | digit)
        });
        self.at += 4;
        unit.and_then(|unit| unit.try_into().ok()).ok_or(NO_JSON)
    }
}

/// Returns the number of bytes before the first quote, backslash or control character.
fn plain(text: &[u8]) -> usize {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    // Without a branch for each byte, the compiler looks at 16 of them at once.
    let are_plain = |chunk: &&[u8]| {
        !chunk
            .iter()
            .fold(false, |found, &byte| found | is_special(byte))
    };
    let whole = 16 * text.chunks_exact(16).take_while(are_plain).count();
    let rest = &text[whole..];
    let found = rest.iter().position(|&byte| is_special(byte));
    whole + found.unwrap_or(rest.len())
}
