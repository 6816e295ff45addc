//! What happens to tokens that are not refused, for those who count.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

use sealwax::{KeyId, Principal};
use sealwax_mcp::{Exchange, Happened};

use crate::Kind;

/// What happened to a token, as [`GuardBuilder::on_event`](crate::GuardBuilder::on_event) reports it. It contains no token
/// and no payload.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TokenEvent {
    /// What happened.
    pub event: Happened,
    /// The kind of token.
    pub kind: Kind,
    /// The id of the key that made it, which has to stay in the ring as long as such tokens come; `None` for a
    /// [`ReferenceHandle`](crate::ReferenceHandle), which names none.
    pub key_id: Option<KeyId>,
    /// The id of the token, or the ulid of a handle or session, in hex digits.
    pub id: Option<String>,
    /// Of an opened token: the time since it was made, in whole seconds.
    pub age: Option<Duration>,
    /// The method of the message.
    pub method: Option<Arc<str>>,
    /// Whether the method is none of the protocol's: a client may have made it up.
    pub custom_method: bool,
    /// The tool, the prompt or the resource of the request.
    pub target: Option<Arc<str>>,
    /// The principal of the request.
    pub principal: Option<Arc<Principal>>,
    /// How long the guard took, since the message came to it, or the handler's result or call. It includes the time
    /// that it waited for a [`Ledger`](crate::ledger::Ledger).
    pub took: Duration,
}

impl TokenEvent {
    pub(crate) fn new(event: sealwax_mcp::TokenEvent, took: Duration) -> Self {
        Self {
            event: event.event,
            kind: event.item,
            key_id: event.key_id,
            id: event.id,
            age: event.age.map(Duration::from_secs),
            custom_method: event.origin.has_custom_method(),
            method: event.origin.method,
            target: event.origin.target,
            principal: event.origin.principal,
            took,
        }
    }
}

/// An exchange, and since when the guard works at its message: only where somebody counts.
pub(crate) struct Timed {
    exchange: Exchange,
    pub since: Option<Instant>,
}

impl Timed {
    pub(crate) fn new(exchange: Exchange, since: Option<Instant>) -> Self {
        Self { exchange, since }
    }
}

impl Deref for Timed {
    type Target = Exchange;

    fn deref(&self) -> &Exchange {
        &self.exchange
    }
}

impl DerefMut for Timed {
    fn deref_mut(&mut self) -> &mut Exchange {
        &mut self.exchange
    }
}
