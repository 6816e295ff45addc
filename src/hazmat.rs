//! Chosen claims and visible tags: for the command, vectors and tests only.
//!
//! This module is exempt from semantic versioning.

use crate::{Error, Sealer, Token, View};

/// [`Sealer::seal`] with chosen claims: `age` in seconds since the session began.
///
/// # Errors
///
/// As [`Sealer::seal`].
pub fn seal<K>(
    sealer: &Sealer<'_, K>,
    age: u32,
    generation: u32,
    payload: &[u8],
) -> Result<Token<K>, Error> {
    let now = sealer.now();
    let started_at = now.saturating_sub(age.into());
    sealer.seal_at(now, started_at, generation, payload)
}

/// Returns the principal's tag under each key of the ring.
pub fn tags(view: &View) -> impl Iterator<Item = &[u8; 16]> {
    view.holder().tags.iter()
}

/// Returns whether a JSON text is hashed unchanged because it is known to be canonical.
#[must_use]
pub fn is_canonical(arguments: &str) -> bool {
    crate::format::canonical::is_canonical(arguments)
}

/// Computes the canonical form of any JSON text.
///
/// # Errors
///
/// As [`RequestContext::new`](crate::RequestContext::new).
pub fn canonical(arguments: &str) -> Result<Vec<u8>, Error> {
    crate::format::json::canonical(arguments, None)
}
