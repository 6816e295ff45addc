//! What a sealed token is for and what it is bound to: the format's table of kinds.

use alloc::format;
use core::fmt;

use super::error::Error;
use super::{handle, text};

/// The kind of a sealed token, in its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Kind {
    /// `state` of a data-layer session.
    State = 0x01,
    /// `requestState` of a multi-round-trip request (revision 2026-07-28).
    RequestState = 0x02,
    /// A self-contained session for a header that cannot be renewed (`Mcp-Session-Id`).
    Session = 0x03,
    /// A pagination cursor.
    Cursor = 0x04,
    /// State that a handle's holder keeps: the token is the handle.
    HandleState = 0x05,
    /// The application's own.
    Custom = 0x7f,
}

/// Whether a kind has a field.
#[derive(Clone, Copy)]
enum Need {
    Never,
    May,
    Must,
}

/// Which fields a kind has.
struct Needs {
    label: Need,
    session_id: Need,
    context: Need,
}

impl Kind {
    /// Every kind, in the order of the bytes.
    pub const ALL: [Self; 6] = [
        Self::State,
        Self::RequestState,
        Self::Session,
        Self::Cursor,
        Self::HandleState,
        Self::Custom,
    ];

    /// The name, the same in every language: `state`, `request-state`, `session`, `cursor`,
    /// `handle-state` or `custom`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::RequestState => "request-state",
            Self::Session => "session",
            Self::Cursor => "cursor",
            Self::HandleState => "handle-state",
            Self::Custom => "custom",
        }
    }

    /// How long a token of this kind lives unless told otherwise, in seconds.
    #[must_use]
    pub fn default_ttl(self) -> u32 {
        match self {
            Self::RequestState => 600,
            Self::Session => 30 * 24 * 3600,
            Self::State | Self::Cursor | Self::HandleState | Self::Custom => 24 * 3600,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == byte)
    }

    fn needs(self) -> Needs {
        use Need::{May, Must, Never};
        let needs = |label, session_id, context| Needs {
            label,
            session_id,
            context,
        };
        match self {
            Self::State => needs(Never, Must, Never),
            Self::RequestState => needs(Never, Never, Must),
            Self::Session => needs(Never, Never, Never),
            Self::Cursor | Self::HandleState => needs(Must, Never, Never),
            Self::Custom => needs(Must, May, May),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a sealed token is for: its kind, and the fields the kind is bound to.
///
/// A field that the kind has not is empty; whether it must be is checked before any sealing
/// or opening.
#[derive(Clone, Copy, Debug)]
pub struct Purpose<'a> {
    /// The kind.
    pub kind: Kind,
    /// The list method of a cursor, the type of a handle state, the name of a custom token.
    pub label: &'a str,
    /// The text of the session id that a state, or a custom token, belongs to.
    pub session_id: &'a str,
    /// The 32 bytes that name a request.
    pub context: &'a [u8],
}

impl<'a> Purpose<'a> {
    /// Nothing but the kind.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        Self {
            kind,
            label: "",
            session_id: "",
            context: &[],
        }
    }

    /// Checks the fields against the table of kinds.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let needs = self.kind.needs();
        self.check_presence("label", needs.label, self.label.is_empty())?;
        self.check_presence("session id", needs.session_id, self.session_id.is_empty())?;
        self.check_presence("context", needs.context, self.context.is_empty())?;
        text::check("label", self.label)?;
        text::check("session id", self.session_id)?;
        if self.kind == Kind::HandleState {
            handle::check_type(self.label)?;
        }
        if !matches!(self.context.len(), 0 | 32) {
            let found = self.context.len();
            return Err(Error::argument(format!(
                "context: expected 32 bytes, found {found}"
            )));
        }
        Ok(())
    }

    fn check_presence(&self, field: &str, need: Need, empty: bool) -> Result<(), Error> {
        let kind = self.kind;
        match (need, empty) {
            (Need::Must, true) => Err(Error::argument(format!(
                "{field}: required for kind {kind}"
            ))),
            (Need::Never, false) => Err(Error::argument(format!(
                "{field}: not used by kind {kind}, leave it out"
            ))),
            _ => Ok(()),
        }
    }
}
