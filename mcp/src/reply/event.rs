//! What happened to tokens that were not refused, for those who count them.

use crate::reply::log::Origin;
use crate::reply::step::Item;
use sealwax::KeyId;

/// Something that happened to a token, if [`GuardBuilder::events`](crate::GuardBuilder::events) asks
/// for it. It holds no token and no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenEvent {
    /// What happened.
    pub event: Happened,
    /// The kind of token.
    pub item: Item,
    /// The id of the key that made it; `None` for a handle that is the key of a row, which names none.
    /// A data-layer session needs that of its id for its whole life.
    pub key_id: Option<KeyId>,
    /// The token id, or the ulid: 32 hex digits.
    pub id: Option<String>,
    /// Of an opened one: the seconds since it was made.
    pub age: Option<u64>,
    /// The message that it belongs to.
    pub origin: Origin,
}

/// What happened to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(inline, rename_all = "lowercase")
)]
#[non_exhaustive]
pub enum Happened {
    /// `opened`: it passed every check, those of the ledger too.
    Opened,
    /// `sealed`: it was made, and leaves with the answer.
    Sealed,
    /// `ended`: its session or its handle ended before its time.
    Ended,
    /// `revoked`: everything of a principal was signed out.
    Revoked,
}

impl Happened {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Sealed => "sealed",
            Self::Ended => "ended",
            Self::Revoked => "revoked",
        }
    }
}
