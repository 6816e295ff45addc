//! Terms: what is minted, the texts that can be made of it, and who verifies.

use crate::{Holder, Key};

/// What a text says it is, by its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `sess_`
    SessionId,
    /// A handle's type and an underscore.
    Handle(&'static str),
    /// `sw1.`
    Sealed,
}

/// What is behind the prefix. Each has a length of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Body {
    /// In base64url: key id, ulid, ptag, MAC.
    SessionId,
    /// In base32: ulid, MAC.
    Handle,
    /// In base64url: a sealed token.
    Sealed,
}

impl Form {
    /// What has to be behind this prefix.
    #[must_use]
    pub fn body(self) -> Body {
        match self {
            Self::SessionId => Body::SessionId,
            Self::Handle(_) => Body::Handle,
            Self::Sealed => Body::Sealed,
        }
    }
}

/// The 16 bytes that name a session, or a handle's row: in stores and in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ulid {
    /// When it was made, in Unix milliseconds.
    pub made: u64,
    /// Its random part: unique to it.
    pub number: u16,
}

/// The MAC of a ulid and its holder's tag, in a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ptag {
    /// The key.
    pub key: Key,
    /// The ulid.
    pub ulid: Ulid,
    /// Whose tag.
    pub holder: Holder,
}

/// What was minted: its MAC as a term, with all that it is of. Of a sealed token, the tag of its cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Minted {
    /// What it is.
    pub form: Form,
    /// The key.
    pub key: Key,
    /// The service.
    pub audience: &'static str,
    /// Whose it is.
    pub holder: Holder,
    /// What it names.
    pub ulid: Ulid,
}

impl Minted {
    /// Its ptag; only a session id shows it.
    #[must_use]
    pub fn ptag(&self) -> Ptag {
        let Self {
            key, ulid, holder, ..
        } = *self;
        Ptag { key, ulid, holder }
    }
}

/// A text that the attacker presents: parts of what was minted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text<'a> {
    /// The prefix.
    pub prefix: Form,
    /// What follows.
    pub body: Body,
    /// The id of a key, in a session id.
    pub key: Key,
    /// The ulid.
    pub ulid: Ulid,
    /// The ptag, in a session id.
    pub ptag: Ptag,
    /// Whose MAC.
    pub mac: &'a Minted,
    /// Whether the same bytes are spelled otherwise.
    pub respelled: bool,
}

/// A request at a service that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verifier {
    /// What it asks for.
    pub form: Form,
    /// The service.
    pub audience: &'static str,
    /// Whose request it is.
    pub holder: Holder,
    /// Its clock, in Unix milliseconds.
    pub now: u64,
    /// The maximum age, in seconds.
    pub max_age: Option<u64>,
}
