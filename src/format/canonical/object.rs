//! Objects: each key once, in the order of UTF-16 units (RFC 8785, 3.2.3).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::{NO_JSON, NONE_NAMED, Read, Reader, TOO_DEEP};

const DUPLICATE: &str = "expected each key once in an object";
/// The members to make room for at first.
const ROOM: usize = 16;

/// A member of an object: the characters of its key, and its place in the output.
pub(super) struct Member<'t> {
    key: Cow<'t, [u8]>,
    place: Range<usize>,
}

impl<'t> Reader<'t> {
    /// Reads an object; with `only`, writes the members so named.
    pub(super) fn object(&mut self, levels: usize, only: Option<&[&str]>) -> Read<()> {
        let levels = levels.checked_sub(1).ok_or(TOO_DEEP)?;
        self.at += 1;
        self.space();
        let (first, begin) = (self.members.len(), self.output.len(self.at));
        let mut is_sorted = true;
        if !self.take(b'}') {
            loop {
                is_sorted &= self.member(levels, only, first)?;
                self.space();
                if self.take(b'}') {
                    break;
                }
                self.comma()?;
            }
        }
        if only.is_some() && self.members.len() == first {
            return Err(NONE_NAMED);
        }
        if !self.skipping && (!is_sorted || only.is_some()) {
            self.sort(first, begin)?;
        }
        self.members.truncate(first);
        Ok(())
    }

    /// Reads a member, and returns whether its key comes after the one before.
    fn member(&mut self, levels: usize, only: Option<&[&str]>, first: usize) -> Read<bool> {
        if self.peek() != Some(b'"') {
            return Err(NO_JSON);
        }
        let begin = self.output.len(self.at);
        let key = self.string()?;
        self.space();
        if !self.take(b':') {
            return Err(NO_JSON);
        }
        self.space();
        if only.is_some_and(|only| !only.iter().any(|name| name.as_bytes() == &*key)) {
            self.skipping = true;
            self.value(levels)?;
            self.skipping = false;
            return Ok(true);
        }
        self.value(levels)?;
        let before = self.members[first..].last();
        let is_after = before.is_none_or(|before| by_utf16(&before.key, &key).is_lt());
        if self.members.capacity() == 0 {
            self.members.reserve(ROOM);
        }
        let place = begin..self.output.len(self.at);
        self.members.push(Member { key, place });
        Ok(is_after)
    }

    /// Writes the members of an object anew, which begin at `begin` of the output.
    fn sort(&mut self, first: usize, begin: usize) -> Read<()> {
        let heap: BinaryHeap<_> = self.members.drain(first..).collect();
        let sorted = heap.into_sorted_vec();
        if sorted.windows(2).any(|pair| pair[0].key == pair[1].key) {
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
