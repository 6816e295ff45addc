//! The kinds of sealed tokens, as names and as types.

use std::str::FromStr;

use crate::Error;
pub use crate::format::purpose::{Kind, Purpose};
use crate::format::text;

impl FromStr for Kind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| {
                Error::argument(
                    "kind: expected state, request-state, session, cursor, handle-state or custom",
                )
            })
    }
}

impl<'a> Purpose<'a> {
    /// Binds the purpose to the session of this id as well. For callers with an optional id: an
    /// empty one is an error, not an absent one.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an id that is empty or over 1,024 bytes.
    pub fn bound_to_session(self, session_id: &'a str) -> Result<Self, Error> {
        text::require("session id", session_id)?;
        Ok(Self { session_id, ..self })
    }
}

/// A kind as a type: the `K` of [`Sealer`](crate::Sealer), [`Token`](crate::Token) and
/// [`Opened`](crate::Opened). Other crates cannot implement it.
pub trait TokenKind: sealed::Sealed {
    /// The kind.
    const KIND: Kind;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind {}

        impl sealed::Sealed for $kind {}

        impl TokenKind for $kind {
            const KIND: Kind = Kind::$kind;
        }
    )*};
}

kinds! {
    /// State of a data-layer session.
    State
    /// `requestState` of a multi-round-trip request.
    RequestState
    /// A self-contained session, for a header.
    Session
    /// A cursor of a list method.
    Cursor
    /// State in a handle.
    HandleState
    /// A custom token of the application.
    Custom
}

/// A kind known only at run time: for bindings and tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untyped {}
