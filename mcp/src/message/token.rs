//! A token that a message brought, and what the ledger is asked about it.

use crate::ledger::{Check, RecordKind, Subject};
use crate::message::text::{hex, remembered, until};
use crate::reply::step::Item;
use sealwax::{KeyId, Opened};

/// A token that passed every check of its seal, and what the ledger is asked about it.
pub(crate) struct Token {
    pub item: Item,
    /// The token id, or the ulid of a handle or a data-layer session: 32 hex digits.
    pub id: String,
    /// The key that made it.
    pub key_id: Option<KeyId>,
    /// `None` if the ledger does not know it: a cursor that is nobody's.
    pub check: Option<Check>,
    /// Times are in Unix seconds.
    pub issued_at: u64,
    /// The start of its session or chain.
    pub started_at: u64,
    /// The time from which it opens nowhere by its own lifetime, whatever the settings.
    pub until: Option<u64>,
}

impl Token {
    pub fn new<K>(item: Item, opened: &Opened<K>, check: Option<Check>) -> Self {
        Self {
            item,
            id: opened.token_id().to_string(),
            key_id: Some(opened.key_id()),
            check,
            issued_at: opened.issued_at(),
            started_at: opened.started_at(),
            until: until(opened.expires_at()),
        }
    }

    /// Returns the token of a session id or a handle, by its time of making.
    pub fn made(item: Item, ulid: &[u8; 16], created_at_ms: u64, check: Check) -> Self {
        Self {
            item,
            id: hex(ulid),
            key_id: None,
            check: Some(check),
            issued_at: created_at_ms / 1000,
            started_at: created_at_ms / 1000,
            // Only settings limit its age, and these may change.
            until: None,
        }
    }

    /// Returns what the ledger is asked of it; `transport` says whether it is a session of the transport.
    pub fn subject(&self, transport: bool) -> Option<Subject<'_>> {
        let kind = match self.item {
            Item::RequestState => RecordKind::RequestState,
            Item::Handle => RecordKind::Handle,
            Item::HandleState => RecordKind::HandleState,
            Item::Session if transport => RecordKind::Transport,
            Item::Session => RecordKind::Session,
            Item::Cursor => RecordKind::Cursor,
            Item::Link => RecordKind::Link,
        };
        Some(Subject {
            kind,
            id: &self.id,
            check: self.check.as_ref()?,
            issued_at: self.issued_at,
            started_at: self.started_at,
            until: Some(remembered(self.until, self.started_at)),
        })
    }
}
