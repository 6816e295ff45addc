//! Operations of a handler on handles.

use super::NO_DOCUMENT;
use super::read::{Document, read};
use super::step::begun;
use crate::exchange::Exchange;
use crate::input::Predecessor;
use crate::input::{HandleOp, HandleOpKind};
use sealwax::Error;

/// Begins an exchange for a handler's operation on a handle; `value` is the state to seal, as JSON.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid operation.
#[inline(never)]
pub fn handle(
    exchange: &Exchange,
    document: &str,
    value: Option<&str>,
) -> Result<(Exchange, String), Error> {
    let document = read(document)?;
    let document = Document(&document);
    let handle = document.sent("handle");
    let max_age = document.seconds("maxAge");
    let predecessor = document.at("before");
    let once = document.is("once");
    let kind = match document.text("do") {
        Some("mint") => HandleOpKind::Mint { max_age },
        Some("check") => HandleOpKind::Check { handle, max_age },
        Some("seal") => HandleOpKind::Seal {
            value: value.ok_or(NO_DOCUMENT)?,
            ttl: document.seconds("ttl"),
            predecessor: predecessor
                .number("startedAt")
                .map(|started_at| Predecessor {
                    started_at,
                    generation: predecessor
                        .number("generation")
                        .and_then(|number| number.try_into().ok())
                        .unwrap_or_default(),
                    id: predecessor.text("id").unwrap_or_default().into(),
                    issued_at: predecessor.number("issuedAt").unwrap_or_default(),
                    until: predecessor.number("until"),
                }),
            once,
        },
        Some("open") => HandleOpKind::Open {
            handle,
            max_age,
            once,
        },
        Some("end") => HandleOpKind::End {
            handle,
            max_age,
            self_contained: document.is("held"),
        },
        _ => return Err(NO_DOCUMENT),
    };
    let handle_type = document.text("type").unwrap_or_default();
    Ok(begun(exchange.handle(HandleOp { handle_type, kind })))
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
