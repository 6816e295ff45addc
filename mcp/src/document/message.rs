//! Messages and revocations: each begins an exchange.

use std::time::Duration;

use serde_json::Value;

use super::read::{Document, principal, read};
use super::step::begun;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::input::{ClientSession, Failed, Message, TransportMessage};
use sealwax::{Error, Principal};

/// Begins the exchange of a message at the SDK's handlers; `arguments` are the request's, as JSON.
#[must_use]
#[inline(never)]
pub fn message(guard: &Guard, document: &str, arguments: Option<&str>) -> (Exchange, String) {
    let Ok((document, principal)) = received(document) else {
        return unreadable(guard);
    };
    let document = Document(&document);
    let session = document.at("session");
    let exchange = guard.message(Message {
        method: document.text("method").unwrap_or_default(),
        target: document.text("target"),
        arguments,
        notification: document.is("notification"),
        modern: document.is("modern"),
        header: document.text("header"),
        token: document.sent("carried"),
        session: (!session.0.is_null()).then(|| ClientSession {
            id: session.sent("id"),
            state: session.sent("state"),
        }),
        principal,
        within: document.number("withinMs").map(Duration::from_millis),
    });
    begun(exchange)
}

/// Begins the exchange of a message around HTTP or stdio; `initialize` is the `params` of an
/// `initialize` request, as JSON.
#[must_use]
#[inline(never)]
pub fn transport(guard: &Guard, document: &str, initialize: Option<&str>) -> (Exchange, String) {
    let Ok((document, principal)) = received(document) else {
        return unreadable(guard);
    };
    let document = Document(&document);
    let exchange = guard.transport(TransportMessage {
        http: document.text("http"),
        method: document.text("method"),
        notification: document.is("notification"),
        modern: document.is("modern"),
        version: document.text("version"),
        header: document.sent("header"),
        message_session_id: document.sent("inside"),
        initialize,
        principal,
    });
    begun(exchange)
}

/// Begins the exchange that signs a principal out everywhere. `lives` is in seconds.
///
/// # Errors
///
/// As [`Guard::revoke`], and [`Error::InvalidArgument`] for an invalid principal.
#[inline(never)]
pub fn revoke(
    guard: &Guard,
    document: &str,
    lives: Option<u64>,
) -> Result<(Exchange, String), Error> {
    let principal = principal(Document(&read(document)?))?;
    Ok(begun(
        guard.revoke(&principal, lives.map(Duration::from_secs))?,
    ))
}

/// Reads a message and its caller; a fault of the caller is not the client's.
fn received(document: &str) -> Result<(Value, Option<Result<Principal, Failed>>), Error> {
    let document = read(document)?;
    let principal = match Document(&document).at("principal") {
        Document(Value::Null) => None,
        sent => Some(principal(sent).map_err(|error| Failed(error.to_string()))),
    };
    Ok((document, principal))
}

/// Answers a message whose document could not be read.
fn unreadable(guard: &Guard) -> (Exchange, String) {
    begun(Exchange::unreadable(guard.clone()))
}
