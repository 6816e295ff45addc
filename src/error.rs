//! The errors' messages, and their stable codes, the same in every language.

use std::fmt;

pub use crate::format::error::Error;

impl Error {
    /// Returns the code, the same in every language and every release.
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

    /// Returns whether a token was refused; other errors are mistakes or failures of the server.
    ///
    /// Answer a refusal as the `Profile` of `sealwax-mcp` says. Any other error is the server's,
    /// and must not make a client discard its session.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::InvalidArgument(_) | Self::InvalidKey(_) | Self::EntropyUnavailable
        )
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
                let set_by = match *what {
                    "payload" => " (the codec's payloadLimit or payload_limit)",
                    _ => "",
                };
                write!(
                    f,
                    "expected a {what} of at most {limit} bytes{set_by}, found {found}"
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

impl std::error::Error for Error {}
