//! What can go wrong, in the order of SPEC.md, "Opening". The codes and the words are the API's.

use alloc::borrow::Cow;
use alloc::string::String;

use super::key::KeyId;

/// Why something was refused: for the server's log, never for the client.
///
/// What the client hears is fixed and tells nothing. No message holds a key, a token or a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The caller's own mistake; the text says what was expected.
    InvalidArgument(Cow<'static, str>),
    /// A key text or a ring that cannot be used; the text says which and why.
    InvalidKey(Cow<'static, str>),
    /// The system gave no randomness, so nothing was sealed.
    EntropyUnavailable,
    /// A token, or a payload, over its limit in bytes.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its length in bytes.
        found: usize,
        /// The most it may be, in bytes.
        limit: usize,
    },
    /// A later version of the format, or a kind of token that version 1 does not know.
    Unsupported(&'static str),
    /// Not a token of this format, or spelled in another way than the one that counts.
    Malformed(&'static str),
    /// A token of another kind, or a handle of another type, than asked for.
    WrongPurpose {
        /// The kind or type asked for.
        expected: String,
        /// The kind or type presented.
        found: String,
    },
    /// Sealed under a key that the ring does not hold: retired, or never known here.
    UnknownKey(KeyId),
    /// Forged, altered, or bound to something else; nobody can tell which.
    Unauthentic,
    /// Authentic, but issued to somebody else.
    PrincipalMismatch,
    /// Issued further in the future than the allowed clock skew.
    NotYetValid {
        /// When it was issued, in Unix seconds.
        issued_at: u64,
        /// The server's time, in Unix seconds.
        now: u64,
    },
    /// Past its own lifetime or the given maximum age.
    Expired {
        /// When it ended, in Unix seconds.
        at: u64,
        /// The server's time, in Unix seconds.
        now: u64,
    },
}

impl Error {
    pub(crate) fn argument(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidArgument(expected.into())
    }
}
