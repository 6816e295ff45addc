//! Terms: what is sealed, the texts that can be made of it, and who opens.

use sealwax::Kind;

/// The time at which most is sealed, in Unix seconds.
pub const NOW: u64 = 1_800_000_000;

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// In the ring of every service, and seals.
    Ours,
    /// In the ring behind it, and still opens.
    Former,
    /// It leaked, and was removed: the attacker has it.
    Removed,
    /// The attacker's own.
    Theirs,
}

impl Key {
    /// Whether a service opens with it, and with removed ones if it should.
    #[must_use]
    pub fn opens(self, removed: bool) -> bool {
        match self {
            Self::Ours | Self::Former => true,
            Self::Removed => removed,
            Self::Theirs => false,
        }
    }
}

/// Who is authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Another user.
    Alice,
    /// The attacker, who has a login of his own.
    Mallory,
}

/// What a token is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Purpose {
    /// The kind.
    pub kind: Kind,
    /// The label; empty for none, and so are the others.
    pub label: &'static str,
    /// The session.
    pub session: &'static str,
    /// The request.
    pub context: &'static str,
}

/// The times inside a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claims {
    /// When it was sealed.
    pub issued: u64,
    /// How long it lives, in seconds.
    pub ttl: u32,
    /// How old its session was by then.
    pub age: u32,
}

/// A sealed token: its cipher as a term, with all that it was sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sealed {
    /// The key.
    pub key: Key,
    /// The nonce: unique to it.
    pub nonce: u16,
    /// The service.
    pub audience: &'static str,
    /// The purpose.
    pub purpose: Purpose,
    /// Whose it is: the tag in the ciphertext.
    pub holder: Holder,
    /// The times in the ciphertext.
    pub claims: Claims,
    /// The session's beginning as it was, whatever the claims say.
    pub began: u64,
    /// The secret inside: its number, and whose it is.
    pub secret: (u16, Holder),
}

/// A text that the attacker presents: parts of tokens. A cipher's own parts are those of its token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text<'a> {
    /// The byte of the kind.
    pub kind: Kind,
    /// The id of a key.
    pub key: Key,
    /// The nonce.
    pub nonce: u16,
    /// The ciphertext and its tag.
    pub cipher: &'a Sealed,
    /// Whether the unused bits of the last character are not zero.
    pub respelled: bool,
}

/// A request at a service that opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opener {
    /// The service.
    pub audience: &'static str,
    /// What it opens tokens for.
    pub purpose: Purpose,
    /// Whose request it is.
    pub holder: Holder,
    /// Its clock.
    pub now: u64,
    /// The maximum age of a session.
    pub max_age: Option<u64>,
}
