//! Collects what happens to tokens that are not refused, if anybody counts them.

use crate::ledger::Check;
use crate::message::context::Context;
use crate::message::text::hex;
use crate::message::token::Token;
use crate::reply::event::{Happened, TokenEvent};
use crate::reply::step::Item;
use sealwax::{Inspected, KeyId, SessionMetadata, inspect};

impl Context {
    /// Collects that these passed all checks.
    pub fn passed(&mut self, tokens: &[Token]) {
        if tokens.is_empty() || !self.collects() {
            return;
        }
        let now = self.guard.now();
        for token in tokens {
            let (event, age) = match (&token.check, token.item) {
                (Some(Check::End | Check::Force), _) => (Happened::Ended, None),
                // It counted when it was opened. This is its renewal.
                (Some(Check::Once), Item::HandleState) => continue,
                _ => (Happened::Opened, Some(now.saturating_sub(token.issued_at))),
            };
            let id = Some(token.id.clone());
            self.happened(event, token.item, token.key_id, id, age);
        }
    }

    /// Collects that a token leaves. `id` is that of its session or handle, if it has another one.
    pub fn sealed(&mut self, item: Item, text: &str, id: Option<String>) {
        if self.collects() {
            let (key_id, token_id) = match inspect(text) {
                Ok(Inspected::Token {
                    key_id, token_id, ..
                }) => (Some(key_id), Some(token_id.to_string())),
                Ok(Inspected::SessionId { key_id, .. }) => (Some(key_id), None),
                _ => (None, None),
            };
            self.happened(Happened::Sealed, item, key_id, id.or(token_id), None);
        }
    }

    /// Collects that a new data-layer session leaves.
    pub fn sealed_session(&mut self, made: &SessionMetadata) {
        if self.collects()
            && let Some(view) = self.known()
            && let Ok(id) = view.sessions().verify(&made.session_id)
        {
            let text = made.state.as_deref().unwrap_or(&made.session_id);
            self.sealed(Item::Session, text, Some(hex(id.ulid())));
        }
    }

    pub fn revoked(&mut self) {
        if self.collects() {
            self.happened(Happened::Revoked, Item::Session, None, None, None);
        }
    }

    fn collects(&self) -> bool {
        self.guard.settings().events
    }

    fn happened(
        &mut self,
        event: Happened,
        item: Item,
        key_id: Option<KeyId>,
        id: Option<String>,
        age: Option<u64>,
    ) {
        let origin = self.origin();
        self.events.push(TokenEvent {
            event,
            item,
            key_id,
            id,
            age,
            origin,
        });
    }
}
