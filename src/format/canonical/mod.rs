//! The canonical form (RFC 8785) of a request's arguments, in one pass over the text; refuses JSON
//! that languages read differently.
//!
//! Bytes that are canonical already stay where they are: most clients send compact JSON, of which
//! nothing is copied unless an object's keys are not in order.

mod number;
mod object;
mod output;
mod string;

use std::borrow::Cow;

use self::object::Member;
use self::output::Output;
use super::error::Error;

const MAX_LEVELS: usize = 100;

/// Returns the canonical form of a JSON text; none for an empty text or `null`. With `only`,
/// returns that of an object of the members so named, and checks no other member.
pub(crate) fn canonical<'t>(text: &'t str, only: Option<&[&str]>) -> Result<Cow<'t, [u8]>, Error> {
    let text = text.as_bytes();
    let mut reader = Reader {
        text,
        at: 0,
        output: Output::new(text),
        members: Vec::new(),
        skipping: false,
    };
    match reader.whole(only) {
        Ok(true) => Ok(reader.output.finish(reader.at)),
        Ok(false) => Ok(Cow::Borrowed(&[])),
        Err(why) => Err(Error::argument(format!("arguments: {why}"))),
    }
}

type Read<T> = Result<T, &'static str>;

const NO_JSON: &str = "expected JSON";
const NONE_NAMED: &str = "expected an object with at least one of the named members";
const NO_OBJECT: &str = "expected an object or none, found a text, a number or a boolean: give them as they \
                         are, not as JSON within JSON";
const TOO_DEEP: &str = "expected at most 100 levels";

struct Reader<'t> {
    text: &'t [u8],
    /// The place of the first byte that is not read yet.
    at: usize,
    output: Output<'t>,
    /// The members of the objects that are being read, the innermost one's last.
    members: Vec<Member<'t>>,
    /// Whether the value belongs to no named member: it may repeat keys, and hold any number.
    skipping: bool,
}

impl Reader<'_> {
    /// Reads the whole text, and returns whether it has arguments.
    fn whole(&mut self, only: Option<&[&str]>) -> Read<bool> {
        if self.text.is_empty() && only.is_none() {
            return Ok(false);
        }
        self.space();
        let first = self.peek();
        match (first, only) {
            (Some(b'{'), _) => self.object(MAX_LEVELS, only)?,
            (_, Some(_)) => return Err(NONE_NAMED),
            (_, None) => self.value(MAX_LEVELS)?,
        }
        self.space();
        match first {
            _ if self.at < self.text.len() => Err(NO_JSON),
            Some(b'{' | b'[') => Ok(true),
            Some(b'n') => Ok(false),
            _ => Err(NO_OBJECT),
        }
    }

    /// Reads a value of at most `levels` levels.
    fn value(&mut self, levels: usize) -> Read<()> {
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(levels, None),
            Some(b'[') => self.array(levels),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err(NO_JSON),
        }
    }

    fn array(&mut self, levels: usize) -> Read<()> {
        let levels = levels.checked_sub(1).ok_or(TOO_DEEP)?;
        self.at += 1;
        self.space();
        if self.take(b']') {
            return Ok(());
        }
        loop {
            self.value(levels)?;
            self.space();
            if self.take(b']') {
                return Ok(());
            }
            self.comma()?;
        }
    }

    fn word(&mut self, word: &[u8]) -> Read<()> {
        if !self.rest().starts_with(word) {
            return Err(NO_JSON);
        }
        self.at += word.len();
        Ok(())
    }

    fn comma(&mut self) -> Read<()> {
        if !self.take(b',') {
            return Err(NO_JSON);
        }
        self.space();
        Ok(())
    }

    /// Reads white space, and leaves it out.
    #[inline]
    fn space(&mut self) {
        if self.peek() <= Some(b' ') {
            self.some_space();
        }
    }

    #[inline(never)]
    fn some_space(&mut self) {
        let begin = self.at;
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
        if self.at > begin {
            self.output.replace(begin..self.at, b"");
        }
    }

    /// Reads this byte, if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }
}
