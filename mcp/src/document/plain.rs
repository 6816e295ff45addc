//! The calls that most requests have, without documents: writing and reading these takes longer
//! than what the engine does.

use super::event::Members;
use super::step::written;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::message::input::{Event, Failed, Message};
use crate::message::token_fields::TokenFields;
use crate::reply::step::{Deliver, Report, Respond, Step};
use sealwax::{Error, Principal};

/// What an adapter does next: a step, or the short form of the ones that most requests have.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// A step, as a document.
    Step(String),
    /// `deliver` with nothing but `opened`. If there are [`events`](super::events), then it has a text. The result is
    /// reported as [`Members`](super::Members), if it has the one that [`TokenFields::result`] names.
    Deliver(Option<String>),
    /// `respond` with this token for that member of the result; `None` changes nothing, and has no
    /// [`events`](super::events).
    Respond(Option<String>),
}

/// Begins the exchange of a message at the SDK's handlers.
#[must_use]
pub fn request(guard: &Guard, message: Message<'_>) -> (Exchange, Next) {
    let (mut exchange, step) = guard.message(message);
    let next = next(&mut exchange, step);
    (exchange, next)
}

/// Reports the caller, in place of [`told`](super::told).
///
/// # Errors
///
/// As [`Exchange::on`].
pub fn principal(exchange: &mut Exchange, found: Result<Principal, Failed>) -> Result<Next, Error> {
    report(exchange, Event::Principal(found.map(Some)))
}

/// Reports the result of a delivered message.
///
/// # Errors
///
/// As [`Exchange::on`].
pub fn result(exchange: &mut Exchange, members: Members<'_>) -> Result<Next, Error> {
    report(exchange, Event::Result(members.result()))
}

#[inline(never)]
fn report(exchange: &mut Exchange, event: Event<'_>) -> Result<Next, Error> {
    // An exchange that ends forgets them.
    let fields = exchange.token_fields();
    let step = exchange.on(event)?;
    Ok(shortened(exchange, fields, step))
}

/// Returns the first step of an exchange.
pub(crate) fn next(exchange: &mut Exchange, step: Step) -> Next {
    let fields = exchange.token_fields();
    shortened(exchange, fields, step)
}

fn shortened(exchange: &mut Exchange, fields: Option<TokenFields>, step: Step) -> Next {
    if exchange.was_refused() {
        return Next::Step(written(exchange, fields, &step));
    }
    let reported = fields.map_or(Report::Never, |fields| Report::Member(fields.result));
    match step {
        Step::Deliver(mut deliver)
            if deliver.is_plain(reported)
                && exchange.called().is_none()
                // Of a request, what is reported tells of a session too.
                && (reported != Report::Never || exchange.session().is_none()) =>
        {
            Next::Deliver(deliver.opened.take())
        }
        Step::Respond(mut respond) if respond.is_plain() => Next::Respond(respond.token.take()),
        step => Next::Step(written(exchange, fields, &step)),
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
