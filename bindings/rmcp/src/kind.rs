//! What can come back from a client.

use std::fmt;

use sealwax::Profile;

/// The kinds of tokens that a guard seals, by the names that every language has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `request-state`: `requestState` of `tools/call`, `prompts/get` and `resources/read`.
    RequestState,
    /// `cursor`: a cursor of a list method.
    Cursor,
    /// `handle`: the key of a row that the server holds.
    Handle,
    /// `handle-state`: a handle that holds its state.
    HandleState,
    /// `session`: a session, of whatever proposal.
    Session,
}

impl Kind {
    /// The name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestState => "request-state",
            Self::Cursor => "cursor",
            Self::Handle => "handle",
            Self::HandleState => "handle-state",
            Self::Session => "session",
        }
    }

    pub(crate) fn profile(self) -> Profile {
        match self {
            Self::RequestState => Profile::RequestState,
            Self::Cursor => Profile::Cursor,
            Self::Handle | Self::HandleState => Profile::Handle,
            Self::Session => Profile::DataLayer,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
