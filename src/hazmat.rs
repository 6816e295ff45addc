//! The clock and the randomness in the caller's hands: for the bindings, the command and the
//! tests, and for nobody else.
//!
//! A caller who sets the clock can revive an expired token; one who sets the randomness and
//! repeats a nonce reveals what both tokens hold and lets anyone forge more. This module is
//! exempt from semantic versioning.

use alloc::boxed::Box;

pub use crate::environment::Environment;
#[cfg(feature = "std")]
pub use crate::environment::System;
use crate::sealer::Life;
use crate::{Codec, CodecBuilder, Error, Key, Sealer, Token, View};

/// [`CodecBuilder::build`] with a clock and a randomness of one's own.
///
/// # Errors
///
/// As [`CodecBuilder::build`].
pub fn build(builder: CodecBuilder, environment: Box<dyn Environment>) -> Result<Codec, Error> {
    builder.build_in(environment)
}

/// [`Key::generate`] with a randomness of one's own.
///
/// # Errors
///
/// [`Error::EntropyUnavailable`].
pub fn generate_key(environment: &dyn Environment) -> Result<Key, Error> {
    Key::generate_in(environment)
}

/// [`Sealer::seal`] with claims of one's own: `age` in seconds since the session began.
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
    sealer.seal_at(
        now,
        Life {
            started_at,
            generation,
        },
        payload,
    )
}

/// The principal's tag under each key of the ring.
pub fn tags(view: &View) -> impl Iterator<Item = &[u8; 16]> {
    view.tags().iter()
}
