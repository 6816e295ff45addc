//! Actions of a handler.

use super::NO_DOCUMENT;
use super::read::{Document, read};
use super::step::begun;
use crate::act::{Act, What};
use crate::exchange::Exchange;
use crate::step::Before;
use sealwax::Error;

/// Begins an exchange for a handler's action on a handle; `value` is the state to seal, as JSON.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid action.
#[inline(never)]
pub fn act(
    exchange: &Exchange,
    document: &str,
    value: Option<&str>,
) -> Result<(Exchange, String), Error> {
    let document = read(document)?;
    let document = Document(&document);
    let handle = document.sent("handle");
    let max_age = document.seconds("maxAge");
    let before = document.at("before");
    let once = document.is("once");
    let what = match document.text("do") {
        Some("mint") => What::Mint { max_age },
        Some("check") => What::Check { handle, max_age },
        Some("seal") => What::Seal {
            value: value.ok_or(NO_DOCUMENT)?,
            ttl: document.seconds("ttl"),
            before: before.number("startedAt").map(|started_at| Before {
                started_at,
                generation: before
                    .number("generation")
                    .and_then(|number| number.try_into().ok())
                    .unwrap_or_default(),
                id: before.text("id").unwrap_or_default().into(),
                issued_at: before.number("issuedAt").unwrap_or_default(),
                until: before.number("until"),
            }),
            once,
        },
        Some("open") => What::Open {
            handle,
            max_age,
            once,
        },
        Some("end") => What::End {
            handle,
            max_age,
            held: document.is("held"),
        },
        _ => return Err(NO_DOCUMENT),
    };
    let handle_type = document.text("type").unwrap_or_default();
    Ok(begun(exchange.act(Act { handle_type, what })))
}

/// Forks the session, and returns the metadata of the new one, for a result.
///
/// # Errors
///
/// As [`Exchange::fork`].
#[inline(never)]
pub fn fork(exchange: &Exchange) -> Result<String, Error> {
    exchange.fork().map(|forked| forked.to_json())
}
