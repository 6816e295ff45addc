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

use self::object::{Member, Object};
use self::output::Output;
use super::error::Error;

const MAX_LEVELS: usize = 100;

/// Returns the canonical form of a JSON text; none for an empty text or `null`. With `only`,
/// returns that of an object of the members so named, and checks no other member.
pub(crate) fn canonical<'t>(
    text: &'t str,
    only: Option<&'t [&'t str]>,
) -> Result<Cow<'t, [u8]>, Error> {
    let text = text.as_bytes();
    let mut reader = Reader {
        text,
        at: 0,
        output: Output::new(text),
        around: Vec::new(),
        members: Vec::new(),
        argument: None,
        only,
        skipping: false,
    };
    match reader.whole() {
        Ok(true) => Ok(reader.output.finish(reader.at)),
        Ok(false) => Ok(Cow::Borrowed(&[])),
        Err(why) => Err(Error::argument(reader.place() + why)),
    }
}

type Read<T> = Result<T, &'static str>;

const NO_JSON: &str = "expected JSON";
const NONE_NAMED: &str = "expected an object with at least one of the named members";
const NO_OBJECT: &str = "expected an object or none, found a text, a number or a boolean: give them as they \
                         are, not as JSON within JSON";
const LONE_SURROGATE: &str = "expected Unicode, found one half of a surrogate pair";
const TOO_DEEP: &str = "expected at most 100 levels";

struct Reader<'t> {
    text: &'t [u8],
    /// The place of the first byte that is not read yet.
    at: usize,
    output: Output<'t>,
    /// The arrays and objects around the innermost one that is being read. They are no calls within
    /// each other: a client chooses how deep they are, and a host may have little stack.
    around: Vec<Open<'t>>,
    /// The members of the objects that are being read, the innermost one's last.
    members: Vec<Member<'t>>,
    /// The key of the outermost object's member that is being read.
    argument: Option<Cow<'t, [u8]>>,
    /// The only members of the outermost object to write.
    only: Option<&'t [&'t str]>,
    /// Whether the value belongs to no named member: it may repeat keys, and hold any number.
    skipping: bool,
}

/// An array or an object that is being read.
enum Open<'t> {
    Array,
    Object(Object<'t>),
}

impl<'t> Reader<'t> {
    /// Reads the whole text, and returns whether it has arguments.
    fn whole(&mut self) -> Read<bool> {
        if self.text.is_empty() && self.only.is_none() {
            return Ok(false);
        }
        self.space();
        let first = self.peek();
        if first != Some(b'{') && self.only.is_some() {
            return Err(NONE_NAMED);
        }
        self.value()?;
        self.space();
        match first {
            _ if self.at < self.text.len() => Err(NO_JSON),
            Some(b'{' | b'[') => Ok(true),
            Some(b'n') => Ok(false),
            _ => Err(NO_OBJECT),
        }
    }

    /// Returns where it stopped, in the words of whoever gave the arguments.
    fn place(&self) -> String {
        let Some(argument) = &self.argument else {
            return "arguments: ".into();
        };
        let name = str::from_utf8(argument).unwrap_or_default();
        // In ASCII: no log shows a character that a client chose to confuse its reader.
        let name = name.chars().take(64).flat_map(char::escape_default);
        format!("argument \"{}\": ", name.collect::<String>())
    }

    /// Reads a value.
    fn value(&mut self) -> Read<()> {
        let mut inner = None;
        loop {
            let is_read = match self.peek() {
                Some(b'"') => self.string().map(|_| true),
                Some(b'{') => self.begin(&mut inner, b'}'),
                Some(b'[') => self.begin(&mut inner, b']'),
                Some(b'-' | b'0'..=b'9') => self.number(),
                Some(b't') => self.word(b"true"),
                Some(b'f') => self.word(b"false"),
                Some(b'n') => self.word(b"null"),
                _ => Err(NO_JSON),
            };
            if is_read? && !self.follows(&mut inner)? {
                return Ok(());
            }
        }
    }

    /// Begins an array or an object, and returns whether it is read: it is empty.
    fn begin(&mut self, inner: &mut Option<Open<'t>>, last: u8) -> Read<bool> {
        if inner.is_some() && self.around.len() == MAX_LEVELS - 1 {
            return Err(TOO_DEEP);
        }
        self.at += 1;
        self.space();
        let open = match last {
            b']' => Open::Array,
            _ => Open::Object(self.object()),
        };
        self.around.extend(inner.replace(open));
        if self.take(last) {
            return self.end(inner).map(|()| true);
        }
        if let Some(Open::Object(object)) = inner {
            self.begin_member(object)?;
        }
        Ok(false)
    }

    /// Ends a value with all arrays and objects that end with it. Returns whether another one follows.
    fn follows(&mut self, inner: &mut Option<Open<'t>>) -> Read<bool> {
        while let Some(open) = inner {
            let last = match open {
                Open::Array => b']',
                Open::Object(object) => {
                    self.end_member(object);
                    b'}'
                }
            };
            self.space();
            if self.take(b',') {
                self.space();
                if let Open::Object(object) = open {
                    self.begin_member(object)?;
                }
                return Ok(true);
            }
            if !self.take(last) {
                return Err(NO_JSON);
            }
            self.end(inner)?;
        }
        Ok(false)
    }

    /// Ends the innermost array or object, behind its last byte.
    fn end(&mut self, inner: &mut Option<Open<'t>>) -> Read<()> {
        if let Some(Open::Object(object)) = inner {
            self.end_object(object)?;
        }
        *inner = self.around.pop();
        Ok(())
    }

    fn word(&mut self, word: &[u8]) -> Read<bool> {
        if !self.rest().starts_with(word) {
            return Err(NO_JSON);
        }
        self.at += word.len();
        Ok(true)
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
