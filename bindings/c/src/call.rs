//! The common part of all calls that can fail: a status, a message, and no panic across the ABI.

use std::ffi::c_char;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use sealwax_core::Error;

use crate::status::{self, Status};

/// The size of a message, with its NUL.
pub const SEALWAX_MESSAGE_LEN: usize = 252;

/// The error of a call: for the server's log, never for the client.
///
/// The caller owns it; a failing call fills it in, unless it is given NULL. It holds no key, no
/// token and no payload.
#[repr(C)]
pub struct ErrorReport {
    /// The status that the call returned.
    pub status: Status,
    /// The expected and the found value, in UTF-8 with a NUL at the end; cut if longer.
    pub message: [c_char; SEALWAX_MESSAGE_LEN],
}

pub(crate) enum Failure {
    Core(Error),
    Null(&'static str),
    NotUtf8(&'static str),
    TooLong(&'static str),
    BufferTooSmall { needed: usize, found: usize },
    Contradiction(&'static str),
    Panic,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl Failure {
    fn status(&self) -> Status {
        match self {
            Self::Core(error) => status::of(error),
            Self::Null(_) => status::SEALWAX_NULL_POINTER,
            Self::NotUtf8(_) => status::SEALWAX_NOT_UTF8,
            Self::TooLong(_) | Self::Contradiction(_) => status::SEALWAX_INVALID_ARGUMENT,
            Self::BufferTooSmall { .. } => status::SEALWAX_BUFFER_TOO_SMALL,
            Self::Panic => status::SEALWAX_INTERNAL_ERROR,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => error.fmt(f),
            Self::Null(name) => write!(f, "{name}: expected a pointer, found NULL"),
            Self::NotUtf8(name) => write!(f, "{name}: expected UTF-8"),
            Self::TooLong(name) => write!(f, "{name}: expected a length that memory can have"),
            Self::BufferTooSmall { needed, found } => {
                write!(f, "expected a buffer of {needed} bytes, found {found}")
            }
            Self::Contradiction(expected) => f.write_str(expected),
            Self::Panic => f.write_str("a fault in sealwax itself; please report it"),
        }
    }
}

/// Runs the body of a call.
///
/// # Safety
///
/// `error` is NULL or valid for writing.
pub(crate) unsafe fn call(
    error: *mut ErrorReport,
    body: impl FnOnce() -> Result<(), Failure>,
) -> Status {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Failure::Panic));
    let Err(failure) = outcome else {
        return status::SEALWAX_OK;
    };
    let status = failure.status();
    if !error.is_null() {
        let report = ErrorReport {
            status,
            message: Message::of(&failure),
        };
        // SAFETY: not NULL, so the caller guarantees it.
        unsafe { error.write(report) };
    }
    status
}

/// A text of limited size, with a NUL at its end.
struct Message {
    bytes: [c_char; SEALWAX_MESSAGE_LEN],
    len: usize,
}

impl Message {
    fn of(text: &impl fmt::Display) -> [c_char; SEALWAX_MESSAGE_LEN] {
        let mut message = Self {
            bytes: [0; SEALWAX_MESSAGE_LEN],
            len: 0,
        };
        // An error means that the buffer is full; the text is cut there.
        let _ = write!(message, "{text}");
        message.bytes
    }
}

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            if self.len + utf8.len() >= SEALWAX_MESSAGE_LEN {
                return Err(fmt::Error);
            }
            for byte in utf8 {
                self.bytes[self.len] = c_char::from_ne_bytes([*byte]);
                self.len += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    fn report(body: impl FnOnce() -> Result<(), Failure>) -> (Status, Vec<u8>) {
        let mut report = ErrorReport {
            status: -1,
            message: [1; SEALWAX_MESSAGE_LEN],
        };
        // SAFETY: the report is ours.
        let status = unsafe { call(&raw mut report, body) };
        let message = report.message.map(|c| c.to_ne_bytes()[0]);
        let text = message.split(|byte| *byte == 0).next().unwrap_or_default();
        (status, text.to_vec())
    }

    #[test]
    fn a_panic_becomes_a_status() {
        let (status, message) = report(|| panic!("expected by the test"));
        assert_eq!(status, status::SEALWAX_INTERNAL_ERROR);
        assert_eq!(message, Failure::Panic.to_string().as_bytes());
        // SAFETY: NULL asks for no report.
        let status = unsafe { call(ptr::null_mut(), || panic!("expected by the test")) };
        assert_eq!(status, status::SEALWAX_INTERNAL_ERROR);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = "é".repeat(200);
        let (_, message) = report(|| Err(Error::InvalidArgument(long.into()).into()));
        assert_eq!(message, "é".repeat(125).as_bytes());
    }
}
