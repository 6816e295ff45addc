//! The purpose of a sealed token and its bindings: the format's table of kinds.

use std::fmt;

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
    /// State in a self-contained handle: the token is the handle.
    HandleState = 0x05,
    /// A custom token of the application.
    Custom = 0x7f,
}

/// Whether a kind has a field.
#[derive(Clone, Copy)]
enum Need {
    Never,
    May,
    Must,
}

impl Kind {
    /// All kinds, in the order of their bytes.
    pub const ALL: [Self; 6] = [
        Self::State,
        Self::RequestState,
        Self::Session,
        Self::Cursor,
        Self::HandleState,
        Self::Custom,
    ];

    /// Returns the name, the same in every language: `state`, `request-state`, `session`, `cursor`,
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

    /// Returns the default lifetime of a token of this kind, in seconds.
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

    /// Returns whether it has a label, a session id and a context.
    fn needs(self) -> [Need; 3] {
        use Need::{May, Must, Never};
        match self {
            Self::State => [Never, Must, Never],
            Self::RequestState => [Never, Never, Must],
            Self::Session => [Never, Never, Never],
            Self::Cursor | Self::HandleState => [Must, Never, Never],
            Self::Custom => [Must, May, May],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The purpose of a sealed token: its kind, and the fields that the kind is bound to.
///
/// A field that the kind does not use is empty. This is checked before sealing and opening.
#[derive(Clone, Copy, Debug)]
pub struct Purpose<'a> {
    /// The kind.
    pub kind: Kind,
    /// The list method of a cursor, the type of a self-contained handle, the name of a custom token.
    pub label: &'a str,
    /// The text of the session id that a state or a custom token belongs to.
    pub session_id: &'a str,
    /// The 32 bytes that name a request.
    pub context: &'a [u8],
}

impl<'a> Purpose<'a> {
    /// Returns the purpose of a kind, without bindings.
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
        let kind = self.kind;
        let fields = [
            ("label", self.label.is_empty()),
            ("session id", self.session_id.is_empty()),
            ("context", self.context.is_empty()),
        ];
        for (need, (field, empty)) in kind.needs().into_iter().zip(fields) {
            let problem = match (need, empty) {
                (Need::Must, true) => format!("{field}: required for kind {kind}"),
                (Need::Never, false) => format!("{field}: not used by kind {kind}, leave it out"),
                _ => continue,
            };
            return Err(Error::argument(problem));
        }
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
}
