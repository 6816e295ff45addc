//! What can go wrong, with one stable code for each in every language.

use alloc::borrow::Cow;
use alloc::string::String;
use core::fmt;

use crate::key::KeyId;

/// Why something was refused: for the server's log, never for the client.
///
/// What the client hears is fixed and tells nothing: see [`Profile`](crate::Profile).
/// No message holds a key, a token or a payload.
///
/// ```
/// let refused = "swk1_short".parse::<sealwax::KeyRing>().unwrap_err();
/// assert_eq!(refused.code(), "invalid_key");
/// ```
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
    /// The code, the same in every language and every release.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument(_) => "invalid_argument",
            Self::InvalidKey(_) => "invalid_key",
            Self::EntropyUnavailable => "entropy_unavailable",
            Self::TooLarge { .. } => "too_large",
            Self::Unsupported(_) => "unsupported",
            Self::Malformed(_) => "malformed",
            Self::WrongPurpose { .. } => "wrong_purpose",
            Self::UnknownKey(_) => "unknown_key",
            Self::Unauthentic => "unauthentic",
            Self::PrincipalMismatch => "principal_mismatch",
            Self::NotYetValid { .. } => "not_yet_valid",
            Self::Expired { .. } => "expired",
        }
    }

    /// Whether a token was refused, as opposed to a mistake or a failure on the server's side.
    ///
    /// A refusal is answered as the [`Profile`](crate::Profile) says; anything else is the
    /// server's own trouble and must not make a client throw its session away.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::InvalidArgument(_) | Self::InvalidKey(_) | Self::EntropyUnavailable
        )
    }

    pub(crate) fn argument(expected: impl Into<Cow<'static, str>>) -> Self {
        Self::InvalidArgument(expected.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArgument(expected) => f.write_str(expected),
            Self::InvalidKey(problem) => f.write_str(problem),
            Self::EntropyUnavailable => {
                f.write_str("the system gave no randomness, so nothing was sealed")
            }
            Self::TooLarge { what, found, limit } => {
                write!(
                    f,
                    "expected a {what} of at most {limit} bytes, found {found}"
                )
            }
            Self::Unsupported(what) => write!(f, "{what} is not known to this version of sealwax"),
            Self::Malformed(expected) => write!(f, "expected {expected}"),
            Self::WrongPurpose { expected, found } => {
                write!(f, "expected {expected}, found {found}")
            }
            Self::UnknownKey(id) => write!(
                f,
                "no key {id} in the ring: retired too early, or not yet known to this replica"
            ),
            Self::Unauthentic => f.write_str(
                "forged, altered, or bound to another audience, session, request or label; a handle \
                 also to another principal or a retired key",
            ),
            Self::PrincipalMismatch => f.write_str("issued to another principal"),
            Self::NotYetValid { issued_at, now } => write!(
                f,
                "issued at {issued_at}, but it is {now} here: compare the replicas' clocks"
            ),
            Self::Expired { at, now } => write!(f, "expired at {at}, and it is {now}"),
        }
    }
}

impl core::error::Error for Error {}
