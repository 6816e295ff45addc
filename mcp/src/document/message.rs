//! Messages and revocations: each begins an exchange.

use std::time::Duration;

use super::read::{self, parse};
use super::step::begun;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::input::{Message, TransportMessage};
use sealwax::Error;

/// Begins the exchange of a message at the SDK's handlers.
#[must_use]
pub fn message(guard: &Guard, message: Message<'_>) -> (Exchange, String) {
    begun(guard.message(message))
}

/// Begins the exchange of a message around HTTP or stdio.
#[must_use]
#[inline(never)]
pub fn transport(guard: &Guard, message: TransportMessage<'_>) -> (Exchange, String) {
    begun(guard.transport(message))
}

/// Refuses a message that is not as `expected`, whatever its method.
#[must_use]
#[inline(never)]
pub fn invalid(guard: &Guard, expected: &'static str) -> (Exchange, String) {
    begun(Exchange::invalid(guard.clone(), expected))
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
