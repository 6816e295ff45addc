//! Objects: each key once, in the order of UTF-16 units (RFC 8785, 3.2.3).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::{NO_JSON, NONE_NAMED, Read, Reader};

const DUPLICATE: &str = "expected each key once in an object";
/// The members to make room for at first.
const ROOM: usize = 16;

/// An object that is being read.
pub(super) struct Object<'t> {
    /// The number of members that belong to the objects around it.
    first: usize,
    /// Its place in the output, behind its brace.
    begin: usize,
    is_sorted: bool,
    /// The member that is being read: the characters of its key, and its place in the output.
    key: Cow<'t, [u8]>,
    place: usize,
}

/// A member of an object: the characters of its key, and its place in the output.
pub(super) struct Member<'t> {
    key: Cow<'t, [u8]>,
    place: Range<usize>,
}

impl<'t> Reader<'t> {
    /// Returns an object that begins here, behind its brace.
    pub(super) fn object(&self) -> Object<'t> {
        Object {
            first: self.members.len(),
            begin: self.output.len(self.at),
            is_sorted: true,
            key: Cow::Borrowed(&[]),
            place: 0,
        }
    }

    /// Reads the key of a member.
    pub(super) fn begin_member(&mut self, object: &mut Object<'t>) -> Read<()> {
        if self.peek() != Some(b'"') {
            return Err(NO_JSON);
        }
        object.place = self.output.len(self.at);
        let is_argument = self.around.is_empty();
        if is_argument {
            self.argument = None;
        }
        object.key = self.string()?;
        if is_argument {
            self.argument = Some(object.key.clone());
        }
        self.space();
        if !self.take(b':') {
            return Err(NO_JSON);
        }
        self.space();
        if let Some(only) = self.only
            && is_argument
        {
            self.skipping = !only.iter().any(|name| name.as_bytes() == &*object.key);
        }
        Ok(())
    }

    /// Ends a member behind its value.
    pub(super) fn end_member(&mut self, object: &mut Object<'t>) {
        if self.skipping {
            return;
        }
        let key = std::mem::take(&mut object.key);
        let before = self.members[object.first..].last();
        object.is_sorted &= before.is_none_or(|before| by_utf16(&before.key, &key).is_lt());
        if self.members.capacity() == 0 {
            self.members.reserve(ROOM);
        }
        let place = object.place..self.output.len(self.at);
        self.members.push(Member { key, place });
    }

    /// Ends an object behind its brace.
    pub(super) fn end_object(&mut self, object: &Object<'t>) -> Read<()> {
        let first = object.first;
        if self.around.is_empty() {
            self.argument = None;
        }
        let has_only = self.only.is_some() && self.around.is_empty();
        if has_only && self.members.len() == first {
            return Err(NONE_NAMED);
        }
        if has_only || !object.is_sorted {
            self.sort(first, object.begin)?;
        }
        self.members.truncate(first);
        Ok(())
    }

    /// Writes the members of an object anew, which begin at `begin` of the output.
    fn sort(&mut self, first: usize, begin: usize) -> Read<()> {
        let heap: BinaryHeap<_> = self.members.drain(first..).collect();
        let sorted = heap.into_sorted_vec();
        let mut pairs = sorted.windows(2);
        if let Some(pair) = pairs.find(|pair| pair[0].key == pair[1].key) {
            if self.around.is_empty() {
                self.argument = Some(pair[0].key.clone());
            }
            return Err(DUPLICATE);
        }
        let places = sorted.into_iter().map(|member| member.place);
        // The brace that closes the object is read, and written behind the members.
        self.output.rearrange(self.at - 1, begin, places);
        Ok(())
    }
}

impl Ord for Member<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        by_utf16(&self.key, &other.key)
    }
}

impl PartialEq for Member<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Member<'_> {}

impl PartialOrd for Member<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares texts by their UTF-16 units. UTF-8 bytes compare in the same way, but for characters
/// from U+10000 on (lead bytes F0 to F4): their units come before those of U+E000 to U+FFFF (EE, EF).
fn by_utf16(a: &[u8], b: &[u8]) -> Ordering {
    let rank = |&byte: &u8| match byte {
        0xEE | 0xEF => byte + 8,
        _ => byte,
    };
    match a.iter().zip(b).find(|(a, b)| a != b) {
        Some((a, b)) => rank(a).cmp(&rank(b)),
        None => a.len().cmp(&b.len()),
    }
}
