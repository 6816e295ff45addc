//! What a C caller gives: pieces of memory of exactly the size that is said, or none.

use std::ffi::c_void;
use std::ptr;

use arbitrary::Arbitrary;

use super::header::{Bytes, Mut, Out};

pub const OK: i32 = 0;
pub const BUFFER_TOO_SMALL: i32 = 13;
const INTERNAL_ERROR: i32 = 31;
/// What makes a secret known in a message.
const MARK: &str = "s3cr3t";
/// What is in memory before a call.
const BEFORE: u8 = 0xA5;

/// A text to give: a pointer and a size.
#[derive(Arbitrary, Clone, Debug)]
pub enum Given<'a> {
    Absent,
    Empty,
    /// No pointer, and a size all the same.
    Nowhere(u8),
    /// More than any memory.
    Endless,
    Bytes(&'a [u8]),
    /// One of the texts that make sense somewhere.
    Known(u8),
    /// What a call has returned, lately.
    Returned(u8),
    /// That, with a byte changed.
    Changed(u8, u16, u8),
}

/// Memory of a text, for one call.
pub struct Text(Option<Box<[u8]>>, usize);

impl Text {
    pub fn new(given: &Given<'_>, returned: &[Vec<u8>]) -> Self {
        let of = |bytes: &[u8]| Self(Some(bytes.into()), bytes.len());
        let lately = |at: &u8| {
            let at = usize::from(*at).checked_rem(returned.len())?;
            Some(returned[returned.len() - 1 - at].clone())
        };
        match given {
            Given::Absent => Self(None, 0),
            Given::Empty => of(b""),
            Given::Nowhere(len) => Self(None, 1 + usize::from(*len)),
            // The pointer is never followed.
            Given::Endless => Self(Some(Box::new([1])), usize::MAX),
            Given::Bytes(bytes) => of(bytes),
            Given::Known(at) => of(KNOWN[usize::from(*at) % KNOWN.len()].as_bytes()),
            Given::Returned(at) => lately(at).map_or(Self(None, 0), |text| of(&text)),
            Given::Changed(at, place, by) => {
                let mut text = lately(at).unwrap_or_default();
                if let Some(place) = usize::from(*place).checked_rem(text.len()) {
                    text[place] ^= by;
                }
                of(&text)
            }
        }
    }

    /// A frame of texts: those without a pointer are absent, or a client's values that are no text.
    pub fn frame(kind: u8, flags: u16, texts: &[&Self]) -> Self {
        let [low, high] = flags.to_le_bytes();
        let mut frame = vec![kind, texts.len() as u8, low, high];
        for text in texts {
            let len = match &text.0 {
                Some(bytes) => bytes.len() as i32,
                None => -1 - i32::from(text.1 > 0),
            };
            frame.extend(len.to_le_bytes());
        }
        frame.extend(texts.iter().filter_map(|text| text.0.as_deref()).flatten());
        Self(Some(frame.as_slice().into()), frame.len())
    }

    /// Takes the marker out of what an error may name, such as a path.
    pub fn unmark(&mut self) {
        let bytes = self.0.as_deref_mut().unwrap_or_default();
        let marked = |bytes: &[u8]| {
            bytes
                .windows(MARK.len())
                .position(|at| at == MARK.as_bytes())
        };
        while let Some(at) = marked(bytes) {
            bytes[at] = b'S';
        }
    }

    pub fn data(&self) -> Bytes {
        self.0.as_ref().map_or(ptr::null(), |bytes| bytes.as_ptr())
    }

    pub fn len(&self) -> usize {
        self.1
    }
}

/// Texts that get a call further.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "urn:fuzz", "alice", "bob", "basket", "tools/list", "tools/call", "x", "{\"id\":7}", "s3cr3t", "\"s3cr3t\"",
    "swk1_oaKjpKWmp6ipqqusra6vsLGys7S1tre4ubq7vL2-v8BQAAAA", "{}", "{\"events\":true}",
    "{\"sessions\":{\"ttl\":60},\"ledger\":{\"local\":true}}", "{\"method\":\"tools/call\",\"target\":\"t\",\"modern\":true}",
    "{\"method\":\"tools/list\",\"principal\":{\"subject\":\"alice\"}}", "{\"method\":\"sessions/create\"}",
    "{\"anonymous\":true}", "null", "{\"result\":{\"error\":true}}", "no",
    "[\"ok\",\"0\"]", "down", "{\"broke\":\"no\"}", "{\"op\":\"check\",\"type\":\"basket\"}",
    "{\"result\":{\"members\":{\"resultType\":\"input_required\",\"requestState\":\"s3cr3t\"}}}",
    "{\"result\":{\"members\":{\"nextCursor\":\"s3cr3t\"}}}", "{\"op\":\"mint\",\"type\":\"basket\"}", "{\"op\":\"seal\",\"type\":\"cart\"}",
    "{\"http\":\"POST\",\"method\":\"initialize\",\"principal\":{\"subject\":\"alice\"}}", "{\"protocolVersion\":\"2025-06-18\"}",
    "{\"http\":\"DELETE\"}", "{\"subject\":\"alice\"}", "{\"iss\":\"i\",\"sub\":\"alice\",\"azp\":\"c\"}",
    "{\"code\":\"expired\",\"kind\":\"session\",\"message\":\"m\"}", "input_required", "public", "admit",
    "{\"script\":\"open\",\"keys\":[\"swl1:{0}:began\",\"swl1:{0}:fence\"],\"args\":[]}", "[null,null]", "{\"text\":\"INFO\"}",
    "{\"texts\":[\"ok\",\"0\"]}", "{\"number\":1}", "{\"error\":\"NOSCRIPT\"}", "request-state", "handle", "mcp-session-id", "data-layer",
    "{\"args\":[\"keygen\"]}", "{\"args\":[\"inspect\",\"sess_\"]}", "a", "\u{e9}",
];

/// A buffer to write to.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Room {
    Large,
    Exact(u16),
    /// No pointer: the size is asked for.
    Asks,
    /// No pointer, and a size all the same.
    Nowhere,
    NoLen,
}

pub struct Buffer {
    room: Room,
    bytes: Box<[u8]>,
    before: Box<[u8]>,
    len: usize,
}

const UNWRITTEN: usize = usize::MAX - 7;

impl Buffer {
    pub fn new(room: Room) -> Self {
        let size = match room {
            Room::Large | Room::NoLen => 24_000,
            Room::Exact(size) => usize::from(size % 1024),
            Room::Asks | Room::Nowhere => 0,
        };
        Self {
            room,
            bytes: vec![BEFORE; size].into(),
            before: vec![BEFORE; size].into(),
            len: UNWRITTEN,
        }
    }

    /// Puts a text where the result goes, if there is room for it.
    pub fn hold(&mut self, text: &Text) -> Option<()> {
        let bytes = text.0.as_deref().filter(|bytes| bytes.len() == text.1)?;
        self.before.get_mut(..text.1)?.copy_from_slice(bytes);
        self.bytes.copy_from_slice(&self.before);
        Some(())
    }

    pub fn data(&mut self) -> Out {
        match self.room {
            Room::Asks | Room::Nowhere => ptr::null_mut(),
            _ => self.bytes.as_mut_ptr(),
        }
    }

    pub fn cap(&self) -> usize {
        match self.room {
            Room::Nowhere => 7,
            _ => self.bytes.len(),
        }
    }

    pub fn len(&mut self) -> *mut usize {
        match self.room {
            Room::NoLen => ptr::null_mut(),
            _ => &raw mut self.len,
        }
    }

    /// Checks what was written, and returns it.
    pub fn written(&self, status: i32) -> Option<Vec<u8>> {
        match status {
            OK => {
                let (written, rest) = self.bytes.split_at(self.len);
                assert!(rest == &self.before[self.len..], "behind what it said");
                Some(written.into())
            }
            BUFFER_TOO_SMALL => {
                assert!(self.len > self.bytes.len() && self.bytes == self.before);
                None
            }
            _ => {
                assert!(
                    self.len == UNWRITTEN && self.bytes == self.before,
                    "written to on failure"
                );
                None
            }
        }
    }
}

/// A struct of the caller, to be written as a whole, or not at all.
#[repr(C, align(8))]
pub struct Place([u8; 128], bool, [u8; 128]);

impl Place {
    pub fn new(is_null: bool) -> Self {
        Self([BEFORE; 128], is_null, [BEFORE; 128])
    }

    /// Makes it `sealwax_opened`, of whose members only two are read: the start and the generation.
    pub fn claims(&mut self, start: u64) {
        self.2[16..24].copy_from_slice(&start.to_ne_bytes());
        self.2[24..28].fill(0);
        self.0 = self.2;
    }

    pub fn data(&mut self) -> Mut {
        match self.1 {
            true => ptr::null_mut(),
            false => (&raw mut self.0).cast(),
        }
    }

    /// Checks that it was written to only if that may be.
    pub fn checked(&self, status: i32, size: usize) {
        // What was written may have padding, which nobody may read.
        let from = if status == OK && !self.1 { size } else { 0 };
        assert!(self.0[from..] == self.2[from..]);
    }
}

/// `sealwax_error`.
#[repr(C)]
pub struct Error {
    status: i32,
    message: [u8; 252],
}

pub struct Told(Option<Box<Error>>);

impl Told {
    pub fn new(is_null: bool) -> Self {
        Self((!is_null).then(|| {
            Box::new(Error {
                status: -1,
                message: [BEFORE; 252],
            })
        }))
    }

    pub fn data(&mut self) -> Mut {
        self.0
            .as_mut()
            .map_or(ptr::null_mut(), |told| (&raw mut **told).cast::<c_void>())
    }

    /// Checks a status, and what was said of it.
    pub fn checked(&self, status: i32) {
        assert_ne!(status, INTERNAL_ERROR);
        let Some(told) = &self.0 else { return };
        if status == OK {
            assert!(told.status == -1 && told.message.iter().all(|byte| *byte == BEFORE));
            return;
        }
        assert_eq!(told.status, status);
        let end = told
            .message
            .iter()
            .position(|byte| *byte == 0)
            .expect("a NUL");
        let message = std::str::from_utf8(&told.message[..end]).expect("UTF-8");
        assert!(!message.is_empty() && !message.contains(MARK), "{message}");
    }
}
