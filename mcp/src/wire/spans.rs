//! Where the members of an object stand in a JSON text, so that what is not changed keeps its bytes.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Why a text is not read as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is no JSON.
    NoJson,
    /// It is JSON that two readers may take for two messages: what was expected.
    Unclear(&'static str),
}

const ONCE: Unread = Unread::Unclear("a message without a member twice");
const SPELLED: Unread = Unread::Unclear("a message whose members are spelled as specified");
const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const DEEP: Unread = Unread::Unclear("a message of at most 128 levels");

/// The most levels of a message. Those who read it may have a stack to keep.
const LEVELS: usize = 128;

/// An object: the place behind its brace, whether it has no members, and those that were asked for.
pub(crate) struct Object<const N: usize> {
    pub open: usize,
    pub is_empty: bool,
    pub members: [Option<Member>; N],
}

/// A member of an object: its value, and what to cut to remove it.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub value: Range<usize>,
    pub cut: Range<usize>,
}

/// Reads the only value of a text, if that is an object.
pub(crate) fn whole<const N: usize>(
    text: &str,
    names: [&str; N],
) -> Result<Option<Object<N>>, Unread> {
    let mut values = Deserializer::from_slice(text.as_bytes()).into_iter::<IgnoredAny>();
    let is_json = matches!(values.next(), Some(Ok(_)));
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    if !is_json || !rest.trim_start_matches(SPACE).is_empty() {
        return Err(Unread::NoJson);
    }
    if value(text.trim_start_matches(SPACE).as_bytes()).1 > LEVELS {
        return Err(DEEP);
    }
    object(text, &(0..text.len()), names)
}

/// Reads an object inside a text that is JSON; `None` for any other value.
pub(crate) fn object<const N: usize>(
    text: &str,
    at: &Range<usize>,
    names: [&str; N],
) -> Result<Option<Object<N>>, Unread> {
    let mut reader = Reader {
        text: text.get(..at.end).unwrap_or_default(),
        at: at.start,
        is_strict: true,
    };
    reader.object(names)
}

/// Reads an object as a server sent it, which the guard does not judge.
pub(crate) fn sent<const N: usize>(
    text: &str,
    at: &Range<usize>,
    names: [&str; N],
) -> Option<Object<N>> {
    let mut reader = Reader {
        text: text.get(..at.end)?,
        at: at.start,
        is_strict: false,
    };
    reader.object(names).ok()?
}

/// Returns whether a text is JSON.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Returns the places of the items of an array, which a text is; of an empty one, one where none is.
pub(crate) fn items(text: &str) -> Vec<Range<usize>> {
    let mut reader = Reader {
        text,
        at: 0,
        is_strict: true,
    };
    let mut items = Vec::new();
    if reader.takes(b'[') {
        items.push(reader.value());
        while reader.takes(b',') {
            items.push(reader.value());
        }
    }
    items
}

/// Returns what a string of JSON says; `None` for any other value, and for a lone surrogate.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(inside.into());
    }
    let value = crate::message::json::read(json)?;
    value.as_str().map(|text| text.to_owned().into())
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Whether what readers may take differently is refused.
    is_strict: bool,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Steps over white space.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.rest().first() {
            self.at += 1;
        }
        self.rest().first().copied()
    }

    fn takes(&mut self, mark: u8) -> bool {
        let is_there = self.next() == Some(mark);
        self.at += usize::from(is_there);
        is_there
    }

    /// Steps over a value, and returns its place.
    fn value(&mut self) -> Range<usize> {
        self.next();
        let start = self.at;
        self.at += value(self.rest()).0;
        start..self.at
    }

    fn object<const N: usize>(&mut self, names: [&str; N]) -> Result<Option<Object<N>>, Unread> {
        if !self.takes(b'{') {
            return Ok(None);
        }
        let mut object = Object {
            open: self.at,
            is_empty: true,
            members: [const { None }; N],
        };
        if self.takes(b'}') {
            return Ok(Some(object));
        }
        // The end of the member before.
        let mut before = None;
        loop {
            let name = self.value();
            self.takes(b':');
            let value = self.value();
            let is_followed = self.takes(b',');
            let cut = if is_followed {
                self.next();
                name.start..self.at
            } else {
                before.unwrap_or(name.start)..value.end
            };
            object.is_empty = false;
            before = Some(value.end);
            let name = string(self.text.get(name).unwrap_or_default());
            // One with a lone surrogate is none of those that are asked for.
            let name = name.unwrap_or_default();
            if let Some(at) = names.iter().position(|known| *known == name) {
                if let Some(member) = object.members.get_mut(at)
                    && member.replace(Member { value, cut }).is_some()
                    && self.is_strict
                {
                    return Err(ONCE);
                }
            } else if self.is_strict && names.iter().any(|known| is_spelling(&name, known)) {
                return Err(SPELLED);
            }
            if !is_followed {
                break;
            }
        }
        Ok(Some(object))
    }
}

/// Returns whether a lenient reader may take one name for another: by its case, `_` or `-`.
fn is_spelling(name: &str, known: &str) -> bool {
    letters(name).eq(letters(known))
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    let letters = name.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
    letters.map(|byte| byte.to_ascii_lowercase())
}

/// Returns the length of the value with which JSON begins, and how many levels it has.
fn value(json: &[u8]) -> (usize, usize) {
    let (mut level, mut most) = (0_usize, 0);
    let mut at = 0;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at += 1 + behind(json.get(at + 1..).unwrap_or_default()),
            b'[' | b'{' => {
                (at, level) = (at + 1, level + 1);
                most = most.max(level);
                continue;
            }
            b']' | b'}' => (at, level) = (at + 1, level.saturating_sub(1)),
            _ if level > 0 => {
                at += 1;
                continue;
            }
            _ => {
                let rest = json.get(at..).unwrap_or_default();
                let is_over = |byte: &u8| b",]}: \t\n\r".contains(byte);
                at += rest.iter().position(is_over).unwrap_or(rest.len());
            }
        }
        if level == 0 {
            break;
        }
    }
    (at, most)
}

/// Returns how long a text is from behind the mark that begins it, with the one that ends it.
fn behind(json: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = json.get(at..)
        && let Some(found) = memchr2(b'"', b'\\', rest)
    {
        at += found + 1;
        if rest.get(found) == Some(&b'"') {
            return at;
        }
        at += 1;
    }
    json.len()
}
