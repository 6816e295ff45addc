//! Chosen claims and visible tags: for the command, vectors and tests only.
//!
//! This module is exempt from semantic versioning.

use std::borrow::Cow;

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
    view.principal_keys().tags.iter()
}

/// Computes the canonical form of a request's arguments; borrowed if it is a part of the text.
///
/// # Errors
///
/// As [`RequestContext::new`](crate::RequestContext::new).
pub fn canonical<'t>(text: &'t str, only: Option<&'t [&'t str]>) -> Result<Cow<'t, [u8]>, Error> {
    crate::format::canonical::canonical(text, only)
}
