//! Messages and revocations: each begins an exchange.

use std::time::Duration;

use super::read::{self, parse};
use super::step::begun;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::message::input::Message;
use crate::wire::{Connection, HttpRequest};
use sealwax::Error;

/// Begins the exchange of a message at the SDK's handlers.
#[must_use]
pub fn message(guard: &Guard, message: Message<'_>) -> (Exchange, String) {
    begun(guard.message(message))
}

/// Begins the exchange of a message at the SDK's handlers that is none.
#[must_use]
#[inline(never)]
pub fn invalid(guard: &Guard, id_in_use: bool) -> (Exchange, String) {
    begun(guard.invalid(id_in_use))
}

/// Begins the exchange of an HTTP request.
#[must_use]
#[inline(never)]
pub fn http(guard: &Guard, request: HttpRequest<'_>) -> (Exchange, String) {
    begun(guard.http(request))
}

/// Begins the exchange of a line of the client's.
#[must_use]
pub fn line(connection: &Connection, line: &[u8]) -> (Exchange, String) {
    begun(connection.line(line))
}

/// Begins the exchange of a message of the SDK's.
#[must_use]
pub fn leaves(connection: &Connection, line: &[u8], of: Option<&str>) -> (Exchange, String) {
    begun(connection.leaves(line, of))
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
