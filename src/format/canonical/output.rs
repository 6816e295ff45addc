//! The canonical text: a part of what was read, or a copy from the first change on.

use std::borrow::Cow;
use std::ops::Range;

pub(super) struct Output<'t> {
    text: &'t [u8],
    /// What is written, up to `kept` of the text.
    copied: Vec<u8>,
    /// The text from here on is written as it is, and not copied yet.
    kept: usize,
}

impl<'t> Output<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Self {
            text,
            copied: Vec::new(),
            kept: 0,
        }
    }

    /// Returns the length of the output, once the text is read up to `at`.
    pub fn len(&self, at: usize) -> usize {
        self.copied.len() + at - self.kept
    }

    /// Writes `by` in place of a span of the text, the last one read. Nothing is copied if they are equal.
    pub fn replace(&mut self, span: Range<usize>, by: &[u8]) {
        if self.text[span.clone()] == *by {
            return;
        }
        self.copy(span.start);
        self.copied.extend_from_slice(by);
        self.kept = span.end;
    }

    /// Writes these spans of the output, joined by commas, in place of all from `begin` on.
    pub fn rearrange(
        &mut self,
        at: usize,
        begin: usize,
        spans: impl Iterator<Item = Range<usize>>,
    ) {
        self.copy(at);
        // Behind all, which then go.
        let end = self.copied.len();
        for span in spans {
            if self.copied.len() > end {
                self.copied.push(b',');
            }
            self.copied.extend_from_within(span);
        }
        self.copied.drain(begin..end);
    }

    /// Returns the output, once the text is read up to `at`.
    pub fn finish(mut self, at: usize) -> Cow<'t, [u8]> {
        if self.copied.is_empty() {
            return Cow::Borrowed(&self.text[self.kept..at]);
        }
        self.copy(at);
        Cow::Owned(self.copied)
    }

    fn copy(&mut self, at: usize) {
        if self.copied.capacity() == 0 {
            // Room for an object that is rearranged at the end.
            self.copied.reserve(2 * self.text.len());
        }
        self.copied.extend_from_slice(&self.text[self.kept..at]);
        self.kept = at;
    }
}
