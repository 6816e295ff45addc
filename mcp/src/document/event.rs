//! Events: the outcomes of steps.

use serde_json::Value;

use super::read::{Document, place, principal, read, texts};
use super::{NO_DOCUMENT, step};
use crate::exchange::Exchange;
use crate::input::{Event, Failed, HandlerResult, Outcome, Scope, Updated, Verdict};
use sealwax::Error;

/// Reports the outcome of the last step. `value` is the first value of a session, or the whole
/// result of `initialize`, as JSON.
///
/// # Errors
///
/// As [`Exchange::on`], and [`Error::InvalidArgument`] for an invalid event.
#[inline(never)]
pub fn on(exchange: &mut Exchange, document: &str, value: Option<&str>) -> Result<String, Error> {
    let document = read(document)?;
    let (name, details) = Document(&document).first().ok_or(NO_DOCUMENT)?;
    let failed = details.text("failed").map(|why| Failed(why.to_owned()));
    let event = match name.as_str() {
        "principal" if details.is("nobody") => Event::Principal(Ok(None)),
        "principal" => Event::Principal(match failed {
            Some(failed) => Err(failed),
            None => principal(details)
                .map(Some)
                .map_err(|error| Failed(error.to_string())),
        }),
        "answer" => Event::Answer(match failed {
            Some(failed) => Verdict::Unavailable(failed),
            None if details.0.as_str() == Some("yes") => Verdict::Yes,
            None => Verdict::No(place(details.at("no").0)?),
        }),
        "ledger" => Event::Ledger(match failed {
            Some(failed) => Err(failed),
            None => Ok(texts(details.0)),
        }),
        "updated" => Event::Updated(match failed {
            Some(failed) => Err(failed),
            None => Ok(Updated {
                value: value.ok_or(NO_DOCUMENT)?,
                result: match details.at("left") {
                    Document(Value::Null) => None,
                    result => Some(head(result, None)),
                },
            }),
        }),
        "begun" => Event::Begun(match failed {
            Some(failed) => Err(failed),
            None => Ok(value.ok_or(NO_DOCUMENT)?),
        }),
        "notResumed" => {
            Event::NotResumed(Failed(details.0.as_str().unwrap_or_default().to_owned()))
        }
        "left" => Event::Result(head(details, value)),
        _ => return Err(NO_DOCUMENT),
    };
    let step = exchange.on(event)?;
    Ok(step::written(exchange, &step))
}

fn head<'a>(left: Document<'a>, initialized: Option<&'a str>) -> HandlerResult<'a> {
    HandlerResult {
        outcome: match left.text("outcome") {
            Some("input_required") => Outcome::InputRequired,
            Some("error") => Outcome::Error,
            _ => Outcome::Complete,
        },
        token: left.sent("token"),
        scope: left.text("scope").map(|scope| match scope {
            "public" => Scope::Public,
            _ => Scope::Private,
        }),
        has_ttl: left.is("ttlMs"),
        no_meta: left.is("noMeta"),
        initialized,
    }
}
