//! The short forms of the steps that most requests have: writing and reading documents takes longer than what the engine
//! does.

use super::{Answer, kind, with_text};
use crate::document;
use crate::exchange::Exchange;
use crate::message::input::Event;
use crate::message::token_fields::TokenFields;
use crate::reply::step::{Deliver, Report, Respond, Step};
use sealwax::Error;

/// Reports an outcome, and returns what is next.
#[inline(never)]
pub(super) fn reported(exchange: &mut Exchange, event: Event<'_>) -> Result<Answer, Error> {
    // An exchange that ends forgets them.
    let fields = exchange.token_fields();
    let step = exchange.on(event)?;
    Ok(shortened(exchange, fields, step))
}

/// Returns the first step of an exchange.
pub(super) fn first(exchange: &mut Exchange, step: Step) -> Answer {
    let fields = exchange.token_fields();
    shortened(exchange, fields, step)
}

fn shortened(exchange: &mut Exchange, fields: Option<TokenFields>, step: Step) -> Answer {
    let is_told = !exchange.was_refused();
    let reported = fields.map_or(Report::Never, |fields| Report::Member(fields.result));
    let (kind, text) = match step {
        Step::Deliver(mut deliver)
            if is_told
                && deliver.is_plain(reported)
                && exchange.called().is_none()
                // Of a request, what is reported tells of a session too.
                && (reported != Report::Never || exchange.session().is_none()) =>
        {
            (kind::DELIVER, deliver.opened.take())
        }
        Step::Respond(mut respond) if is_told && respond.is_plain() => {
            (kind::RESPOND, respond.token.take())
        }
        step => {
            let document = document::written(exchange, fields, &step);
            return with_text(exchange, document);
        }
    };
    // Those that a step without a document does not hold.
    let events = exchange.has_events().then(|| document::events(exchange));
    Answer {
        texts: [text, events],
        ..Answer::of(kind, None)
    }
}

impl Deliver {
    /// Returns whether it holds nothing but `opened`.
    fn is_plain(&self, reported: Report) -> bool {
        let Self {
            opened: _,
            builtin_result: None,
            negotiated: None,
            id: None,
            expires_at: None,
            version: None,
            add_session_id: None,
            report,
            within: _,
        } = self
        else {
            return false;
        };
        *report == reported
    }
}

impl Respond {
    /// Returns whether it holds nothing but the token.
    fn is_plain(&self) -> bool {
        matches!(
            self,
            Self {
                token: _,
                metadata: None,
                cache_scope: None,
                ttl_ms: None,
                declare: false,
                header: None,
                timeout: None,
                tools: None,
            }
        )
    }
}
