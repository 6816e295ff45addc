//! Revocations.

use std::time::Duration;

use super::begun;
use super::read::{self, parse};
use crate::exchange::Exchange;
use crate::guard::Guard;
use sealwax::Error;

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
