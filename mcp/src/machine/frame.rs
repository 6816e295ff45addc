//! What crosses to a machine and back: a kind, flags, and texts, in one buffer.

use std::slice::ChunksExact;

use super::NO_FRAME;
use crate::message::input::ClientValue;
use sealwax::Error;

/// The length of a text that is absent, and of a value that is no text.
const ABSENT: i32 = -1;
const OTHER: i32 = -2;

/// What a machine is told.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// One of [`kind`](super::kind).
    pub kind: u8,
    /// Those of the kind, added.
    pub flags: u16,
    /// Of the texts, which `read` found to fit.
    lengths: &'a [u8],
    texts: &'a [u8],
}

impl<'a> Frame<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] unless the lengths fit.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let (&[kind, count, low, high], rest) = bytes.split_first_chunk().ok_or(NO_FRAME)?;
        let (lengths, texts) = rest
            .split_at_checked(4 * usize::from(count))
            .ok_or(NO_FRAME)?;
        let mut rest = texts.len();
        for length in lengths.chunks_exact(4).map(length) {
            let of_text = match length {
                ABSENT | OTHER => 0,
                _ => usize::try_from(length).map_err(|_| NO_FRAME)?,
            };
            rest = rest.checked_sub(of_text).ok_or(NO_FRAME)?;
        }
        if rest > 0 {
            return Err(NO_FRAME);
        }
        Ok(Self {
            kind,
            flags: u16::from_le_bytes([low, high]),
            lengths,
            texts,
        })
    }

    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Returns how many texts it has.
    pub(super) fn count(&self) -> usize {
        self.lengths.len() / 4
    }

    /// Returns the texts, to take one after another.
    pub(super) fn texts(&self) -> Texts<'a> {
        Texts {
            lengths: self.lengths.chunks_exact(4),
            rest: self.texts,
        }
    }

    /// Returns the first texts.
    #[must_use]
    pub fn values<const N: usize>(&self) -> [ClientValue<'a>; N] {
        let mut texts = self.texts();
        [(); N].map(|()| texts.take())
    }

    /// Returns the first texts as bytes, which nobody decoded.
    #[must_use]
    pub fn bytes<const N: usize>(&self) -> [Option<&'a [u8]>; N] {
        let mut texts = self.texts();
        [(); N].map(|()| texts.take_bytes())
    }

    /// Returns the first text, a document; one that is no text is no document.
    #[must_use]
    pub fn document(&self) -> &'a str {
        let [document] = self.values();
        document.text().unwrap_or_default()
    }

    /// Returns two texts: a document, and JSON beside it.
    pub(super) fn documents(&self) -> (&'a str, Option<&'a str>) {
        let [document, value] = self.values();
        (document.text().unwrap_or_default(), sent(value))
    }

    /// Returns two texts: a document, and a number.
    pub(super) fn numbered(&self) -> Result<(&'a str, Option<u64>), Error> {
        let [document, found] = self.values();
        Ok((document.text().unwrap_or_default(), number(found)?))
    }
}

/// The texts of a frame that are not taken yet.
pub(super) struct Texts<'a> {
    lengths: ChunksExact<'a, u8>,
    rest: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Takes the next one; those that were left out at the end are absent. What is no UTF-8 is
    /// [`ClientValue::Other`]: a client may have sent it.
    pub fn take(&mut self) -> ClientValue<'a> {
        match self.lengths.next().map(length) {
            None | Some(ABSENT) => ClientValue::Absent,
            Some(length) => self.of(length),
        }
    }

    fn of(&mut self, length: i32) -> ClientValue<'a> {
        let Ok(length) = usize::try_from(length) else {
            return ClientValue::Other;
        };
        str::from_utf8(self.cut(length)).map_or(ClientValue::Other, ClientValue::Text)
    }

    fn take_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.lengths.next().map(length)?;
        usize::try_from(length).ok().map(|length| self.cut(length))
    }

    fn cut(&mut self, length: usize) -> &'a [u8] {
        let (text, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        self.rest = rest;
        text
    }
}

fn length(bytes: &[u8]) -> i32 {
    i32::from_le_bytes(bytes.try_into().unwrap_or_default())
}

/// Returns JSON, a number, or the id of a session; what is no text is none of them, and is not absent.
pub(super) fn sent(value: ClientValue<'_>) -> Option<&str> {
    match value {
        ClientValue::Absent => None,
        ClientValue::Text(text) => Some(text),
        ClientValue::Other => Some("?"),
    }
}

/// Returns a number, in decimal digits.
pub(super) fn number(value: ClientValue<'_>) -> Result<Option<u64>, Error> {
    let number = sent(value).map(str::parse);
    number.transpose().map_err(|_| NO_FRAME)
}

/// What a machine says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// One of [`kind`](super::kind).
    pub kind: u8,
    /// Those of the kind, added.
    pub flags: u16,
    /// Those of the kind.
    pub texts: [Option<String>; 2],
}

impl Answer {
    /// Returns an answer with one text.
    #[must_use]
    pub fn of(kind: u8, text: Option<String>) -> Self {
        Self {
            kind,
            flags: 0,
            texts: [text, None],
        }
    }

    /// Returns what is before the texts, in the form that [`Frame::read`] takes.
    #[must_use]
    pub fn head(&self) -> [u8; 12] {
        let [low, high] = self.flags.to_le_bytes();
        let length = |text: &Option<String>| {
            let length = text.as_ref().map(|text| i32::try_from(text.len()));
            // Nothing of that length fits into the memory of an adapter.
            length.unwrap_or(Ok(ABSENT)).unwrap_or(OTHER).to_le_bytes()
        };
        let [first, second] = self.texts.each_ref().map(length);
        let mut head = [self.kind, 2, low, high, 0, 0, 0, 0, 0, 0, 0, 0];
        head[4..8].copy_from_slice(&first);
        head[8..].copy_from_slice(&second);
        head
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use ClientValue::{Absent, Other, Text};

    #[test]
    fn texts_are_there_or_absent_or_no_texts() {
        let bytes = b"\x07\x05\x01\x02\x01\0\0\0\xff\xff\xff\xff\xfe\xff\xff\xff\0\0\0\0\x02\0\0\0a\xc3\x28";
        let frame = Frame::read(bytes).unwrap();
        assert_eq!((frame.kind, frame.flags), (7, 0x201));
        assert!(frame.has(1) && frame.has(0x200) && !frame.has(2));
        let texts = [Text("a"), Absent, Other, Text(""), Other, Absent, Absent];
        assert_eq!(frame.values(), texts);
        let sent = [Some("a"), None, Some("?"), Some(""), Some("?"), None, None];
        assert_eq!(texts.map(super::sent), sent);
        assert!(number(Text("a")).is_err() && number(Other).is_err());
        assert_eq!((number(Absent), number(Text("7"))), (Ok(None), Ok(Some(7))));
    }

    #[test]
    fn lengths_fit() {
        let is_read = |bytes: &[u8]| match Frame::read(bytes) {
            Ok(_) => true,
            Err(error) => !matches!(error, Error::InvalidArgument(_)),
        };
        let whole = b"\x02\x01\0\0\x02\0\0\0ab";
        assert!(is_read(whole));
        for end in 0..whole.len() {
            assert!(!is_read(&whole[..end]), "{end}");
        }
        assert!(!is_read(b"\x02\x01\0\0\x02\0\0\0abc"));
        for length in [-3, i32::MIN, 1, 3, i32::MAX] {
            let mut bytes = *whole;
            bytes[4..8].copy_from_slice(&length.to_le_bytes());
            assert!(!is_read(&bytes), "{length}");
        }
        // Their sum is what is there, by 32 bits.
        assert!(!is_read(
            b"\x02\x03\0\0\xff\xff\xff\x7f\xff\xff\xff\x7f\x04\0\0\0ab"
        ));
        for (count, fits) in [(0, true), (11, true), (255, true)] {
            let mut bytes = vec![2, count, 0, 0];
            bytes.resize(4 + 4 * usize::from(count), 0xff);
            assert_eq!(is_read(&bytes), fits, "{count}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 256 }) })]

        #[test]
        fn what_is_written_is_read(kind: u8, flags: u16, texts: [Option<String>; 2]) {
            let answer = Answer { kind, flags, texts };
            let mut bytes = answer.head().to_vec();
            for text in answer.texts.iter().flatten() {
                bytes.extend_from_slice(text.as_bytes());
            }
            let frame = Frame::read(&bytes).unwrap();
            prop_assert_eq!((frame.kind, frame.flags), (kind, flags));
            let values = answer.texts.each_ref().map(|text| ClientValue::from(text.as_deref()));
            prop_assert_eq!(frame.values(), values);
        }

        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes in prop::collection::vec(prop_oneof![0..12_u8, any::<u8>()], 0..64)) {
            let _ = Frame::read(&bytes);
        }
    }
}
