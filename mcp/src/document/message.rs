//! Messages and revocations: each begins an exchange.

use std::time::Duration;

use super::read::{self, parse, read};
use super::step::begun;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::input::{Message, TransportMessage};
use sealwax::Error;

/// Begins the exchange of a message at the SDK's handlers; `arguments` are the request's, as JSON.
#[must_use]
#[inline(never)]
pub fn message(guard: &Guard, document: &str, arguments: Option<&str>) -> (Exchange, String) {
    let document = parse(document).unwrap_or_default();
    begun(match read::<Message<'_>>(&document) {
        Ok(message) => guard.message(Message {
            arguments,
            ..message
        }),
        Err(_) => Exchange::unreadable(guard.clone()),
    })
}

/// Begins the exchange of a message around HTTP or stdio; `initialize` is the `params` of an
/// `initialize` request, as JSON.
#[must_use]
#[inline(never)]
pub fn transport(guard: &Guard, document: &str, initialize: Option<&str>) -> (Exchange, String) {
    let document = parse(document).unwrap_or_default();
    begun(match read::<TransportMessage<'_>>(&document) {
        Ok(message) => guard.transport(TransportMessage {
            initialize,
            ..message
        }),
        Err(_) => Exchange::unreadable(guard.clone()),
    })
}

/// Begins the exchange that signs a principal out everywhere. `retain_for` is in seconds.
///
/// # Errors
///
/// As [`Guard::revoke`], and [`Error::InvalidArgument`] for an invalid principal.
#[inline(never)]
pub fn revoke(
    guard: &Guard,
    document: &str,
    retain_for: Option<u64>,
) -> Result<(Exchange, String), Error> {
    let principal = read::principal(&parse(document)?)?;
    let retain_for = retain_for.map(Duration::from_secs);
    Ok(begun(guard.revoke(&principal, retain_for)?))
}
