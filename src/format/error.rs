//! The errors, in the order of SPEC.md, "Opening". The API adds codes and messages.

use std::borrow::Cow;

use super::key_id::KeyId;

/// The reason of a refusal or a failure: for the server's log, never for the client.
///
/// The client's answer is fixed and reveals nothing. No message holds a key, a token or a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A wrong argument of the caller; the text says what was expected.
    InvalidArgument(Cow<'static, str>),
    /// An unusable key text or key ring; the text says which and why.
    InvalidKey(Cow<'static, str>),
    /// The system gave no randomness, so nothing was sealed.
    EntropyUnavailable,
    /// A token or a payload over its limit in bytes.
    TooLarge {
        /// The thing that is too large.
        what: &'static str,
        /// Its length in bytes.
        found: usize,
        /// Its limit in bytes.
        limit: usize,
    },
    /// A later version of the format, or a kind of token unknown to version 1.
    Unsupported(&'static str),
    /// Not a token of this format, or not in its canonical spelling.
    Malformed(&'static str),
    /// A token of another kind, or a handle of another type, than expected.
    WrongPurpose {
        /// The expected kind or type.
        expected: String,
        /// The presented kind or type.
        found: String,
    },
    /// Sealed under a key that is not in the ring: retired, or not yet known to this replica.
    UnknownKey(KeyId),
    /// Forged, altered, or bound to something else; these cannot be told apart.
    Unauthentic,
    /// Authentic, but issued to another principal.
    PrincipalMismatch,
    /// Issued further in the future than the allowed clock tolerance.
    NotYetValid {
        /// The time of issue, in Unix seconds.
        issued_at: u64,
        /// The server's time, in Unix seconds.
        now: u64,
    },
    /// Past its lifetime or the given maximum age.
    Expired {
        /// The end, in Unix seconds.
        at: u64,
        /// The server's time, in Unix seconds.
        now: u64,
    },
}

impl Error {
    /// Returns [`InvalidArgument`](Self::InvalidArgument): what was expected, and what was found.
    pub fn argument(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidArgument(expected.into())
    }
}
