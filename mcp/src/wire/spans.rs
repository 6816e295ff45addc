//! Where the members of an object stand in a JSON text, so that what is not changed keeps its bytes.

use std::borrow::Cow;
use std::ops::Range;

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

pub(super) const ONCE: Unread = Unread::Unclear("a message without a member twice");
const SPELLED: Unread = Unread::Unclear("a message whose members are spelled as specified");
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
    if levels(text) > LEVELS {
        return Err(DEEP);
    }
    of_client(text).whole(names)
}

/// Reads an object as a server sent it, which the guard does not judge.
pub(crate) fn sent<const N: usize>(
    text: &str,
    at: &Range<usize>,
    names: [&str; N],
) -> Option<Object<N>> {
    let reader = Reader {
        text: text.get(..at.end)?,
        at: at.start,
        is_strict: false,
    };
    reader.whole(names).ok()?
}

/// Reads an object inside a text that was read as JSON; `None` for any other value.
pub(crate) fn object<const N: usize>(
    text: &str,
    at: &Range<usize>,
    names: [&str; N],
) -> Result<Option<Object<N>>, Unread> {
    let mut reader = of_client(text.get(..at.end).unwrap_or_default());
    reader.at = at.start;
    reader.object(names)
}

fn of_client(text: &str) -> Reader<'_> {
    Reader {
        text,
        at: 0,
        is_strict: true,
    }
}

/// Returns the places of the items of an array, which is the only value of a text.
pub(crate) fn items(text: &str) -> Result<Vec<Range<usize>>, Unread> {
    let mut reader = of_client(text);
    let mut items = Vec::new();
    if !reader.takes(b'[') {
        return Err(Unread::NoJson);
    }
    loop {
        items.push(reader.value()?);
        if !reader.takes(b',') {
            break;
        }
    }
    if !reader.takes(b']') {
        return Err(Unread::NoJson);
    }
    reader.end()?;
    Ok(items)
}

/// Returns what a string of JSON says; `None` for any other value, and for a lone surrogate.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inside.contains('\\') {
        return Some(inside.into());
    }
    let value = crate::json::read(json)?;
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
    fn value(&mut self) -> Result<Range<usize>, Unread> {
        self.next();
        let start = self.at;
        let mut values = Deserializer::from_slice(self.rest()).into_iter::<IgnoredAny>();
        let Some(Ok(_)) = values.next() else {
            return Err(Unread::NoJson);
        };
        let length = values.byte_offset();
        self.at += length;
        Ok(start..self.at)
    }

    fn end(&mut self) -> Result<(), Unread> {
        self.next().map_or(Ok(()), |_| Err(Unread::NoJson))
    }

    fn whole<const N: usize>(mut self, names: [&str; N]) -> Result<Option<Object<N>>, Unread> {
        let object = self.object(names)?;
        if object.is_none() {
            self.value()?;
        }
        self.end()?;
        Ok(object)
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
            let name = self.value()?;
            if self.text.as_bytes().get(name.start) != Some(&b'"') || !self.takes(b':') {
                return Err(Unread::NoJson);
            }
            let value = self.value()?;
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
        if !self.takes(b'}') {
            return Err(Unread::NoJson);
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

/// Returns how many levels a text has, whether it is JSON or not.
fn levels(text: &str) -> usize {
    let (mut level, mut most) = (0_usize, 0);
    let (mut is_inside, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_inside => is_escaped = true,
            b'"' => is_inside = !is_inside,
            b'[' | b'{' if !is_inside => {
                level += 1;
                most = most.max(level);
            }
            b']' | b'}' if !is_inside => level = level.saturating_sub(1),
            _ => {}
        }
    }
    most
}
