//! The reasons of refusals and failures.

use std::borrow::Cow;

use crate::ledger::{Failure, Latest, Refusal, Reply};
use sealwax::Error;

/// The reason of a refusal or failure, which decides whose fault it is.
pub(crate) enum Reason {
    /// A refused token, or a mistake of the author or operator.
    Error(Error),
    /// A value could not be sealed: never the client's fault.
    Unsealed(Error),
    /// The request has what no `requestState` can be bound to.
    InvalidRequest(Error),
    /// The author's function found no caller.
    Unauthenticated,
    /// Refused by the ledger, or by the user: a code, and the reason.
    Refused(&'static str, Cow<'static, str>),
    /// There is a later state of the session.
    Stale(Box<Latest>),
    /// The ledger could not decide.
    LedgerUnavailable(String),
}

impl From<Error> for Reason {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl Reason {
    pub fn refused(code: &'static str, why: &'static str) -> Self {
        Self::Refused(code, why.into())
    }

    /// Returns the error of what could not be sealed.
    pub fn error(self) -> Error {
        match self {
            Self::Error(error) | Self::Unsealed(error) | Self::InvalidRequest(error) => error,
            other => Error::argument(other.message()),
        }
    }

    pub fn code(&self) -> &'static str {
        match self {
            Self::Error(error) | Self::Unsealed(error) => error.code(),
            Self::InvalidRequest(_) => "invalid_request",
            Self::Unauthenticated => "unauthenticated",
            Self::Refused(code, _) => code,
            Self::Stale(_) => "stale",
            Self::LedgerUnavailable(_) => "ledger_unavailable",
        }
    }

    pub fn message(self) -> String {
        match self {
            Self::Error(error) | Self::Unsealed(error) => error.to_string(),
            Self::InvalidRequest(error) => format!(
                "{error}; no requestState could be bound to this request: the client may pass the value as \
                 a text, or the server name the arguments that matter with `only`"
            ),
            Self::Unauthenticated => {
                "principal: expected an authenticated caller, found none: let the \
                                      authentication in front refuse such a request"
                    .into()
            }
            Self::LedgerUnavailable(why) => why,
            Self::Refused(_, why) => why.into_owned(),
            Self::Stale(latest) => {
                let generation = latest.generation;
                format!("state: expected the latest one, of generation {generation}")
            }
        }
    }

    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Error(error) => error.is_refusal(),
            Self::InvalidRequest(_) | Self::Unauthenticated => true,
            Self::Refused(..) | Self::Stale(_) => true,
            Self::Unsealed(_) | Self::LedgerUnavailable(_) => false,
        }
    }
}

/// The reason that a reply gives, if the command was not done.
impl From<Reply> for Reason {
    fn from(reply: Reply) -> Self {
        let failure = match reply {
            Reply::Refused { refusal, .. } => return refusal.into(),
            Reply::Failed(failure) => failure,
            Reply::Done(_) => Failure::Unspecified,
        };
        Self::LedgerUnavailable(failure.to_string())
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Used => Self::refused("used", "it was used already"),
            Refusal::Ended => Self::refused("ended", "it has ended"),
            Refusal::Revoked => Self::refused("revoked", "its principal was signed out everywhere"),
            Refusal::Expired => Self::refused("expired", "it has expired by the ledger's clock"),
            Refusal::Unknown(age) => Self::Refused("unknown", unknown(age)),
            Refusal::Stale(latest) => Self::Stale(Box::new(latest)),
        }
    }
}

/// Returns the message for a token that the ledger may have forgotten, by the age of its records.
fn unknown(age: Option<u64>) -> Cow<'static, str> {
    const WHY: &str = "the ledger has no records of the time when it was made";
    match age {
        Some(seconds) => format!("{WHY}: they begin {seconds} s ago").into(),
        None => WHY.into(),
    }
}
