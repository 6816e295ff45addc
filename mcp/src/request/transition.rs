//! A `requestState` from before the guard, which the author's opener knows: accepted until a date.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::{Request, once};
use crate::admission;
use crate::context::Context;
use crate::input::{Failed, Foreign};
use crate::reason::Reason;
use crate::step::{Deliver, Item, Presented, Step};
use crate::text::{hex, until};
use crate::token_fields::TokenFields;
use sealwax::{Error, Kind};

impl Request {
    /// Returns the step that asks about this request's token, if it is not a sealed one.
    pub(super) fn foreign(&self, context: &Context, fields: TokenFields) -> Option<Step> {
        let until = context.guard.settings().transition_until?;
        let token = self.token.borrowed().text()?;
        let asks = fields.kind == Kind::RequestState
            && !token.starts_with("sw1.")
            && context.guard.now() < until;
        // The exchange says how long it may wait.
        asks.then(|| Step::Transition {
            token: token.into(),
            within: Duration::ZERO,
        })
    }

    pub(super) fn opened_elsewhere(
        &mut self,
        context: &mut Context,
        mut tokens: Vec<admission::Token>,
        mut then: Deliver,
        opened: Result<Option<Foreign>, Failed>,
    ) -> Step {
        let opened = match opened {
            Ok(Some(opened)) => Ok(opened),
            Ok(None) => Err(Reason::Error(NOT_OPENED)),
            Err(Failed(why)) => Err(Reason::AcceptUnavailable(why)),
        };
        let opened = match (opened, self.fields) {
            (Ok(opened), _) => opened,
            (Err(reason), Some(fields)) => return self.refuse_token(context, fields, reason),
            (Err(_), None) => return Step::Drop,
        };
        tokens.push(self.foreign_token(context, opened.issued_at));
        then.opened = Some(opened.payload);
        self.admit(context, tokens, then)
    }

    /// Returns the token, by its digest as its id: with a ledger it counts once. A ledger that began after it
    /// was made has no reason to refuse it, so it counts as made now; but not to who was signed out since.
    fn foreign_token(&self, context: &Context, issued_at: Option<u64>) -> admission::Token {
        let token = self.token.borrowed().text().unwrap_or_default();
        let digest = Sha256::new_with_prefix(b"sealwax transition 1").chain_update(token);
        let mut id = [0; 16];
        id.copy_from_slice(&digest.finalize()[..16]);
        let now = context.guard.now();
        let presented = Presented {
            item: Item::RequestState,
            id: hex(&id),
            until: until(context.guard.settings().transition_until),
            public: false,
        };
        admission::Token {
            until: presented.until,
            presented,
            key_id: None,
            check: Some(once(context)),
            issued_at: now,
            started_at: issued_at.unwrap_or(now).min(now),
        }
    }
}

const NOT_OPENED: Error =
    Error::Malformed("a sealed token, or one from before that `transition` opens");
