//! Where the time and the randomness come from.

use zeroize::Zeroizing;

use crate::format::key::SECRET_LEN;
use crate::{Error, Key};

/// A clock and a source of randomness, for targets that have no operating system's: embedded ones,
/// or `wasm32-unknown-unknown`, whose host has both. Everywhere else the default is right.
///
/// Whoever sets the clock can revive an expired token. Whoever repeats randomness repeats a nonce,
/// which reveals what both tokens hold and lets anyone forge more: it must be fit for keys, and differ
/// in every thread, process and clone of a machine.
///
/// ```
/// use sealwax::{Codec, Environment, Error, Key, KeyRing, Principal};
///
/// /// What a microcontroller has.
/// struct Board;
///
/// impl Environment for Board {
///     fn now_ms(&self) -> u64 {
///         1_800_000_000_000 // a real-time clock
///     }
///
///     fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
///         // The generator's register. Where it fails: Err(Error::EntropyUnavailable).
///         # getrandom::fill(bytes).map_err(|_| Error::EntropyUnavailable)?;
///         Ok(())
///     }
/// }
///
/// let ring = KeyRing::new([Key::generate_in(&Board)?])?;
/// let codec = Codec::builder(ring, "https://mcp.example.com").build_in(Board)?;
/// let alice = codec.view(&Principal::subject("alice"))?;
/// let token = alice.cursor("tools/list").seal(b"page 2")?;
/// assert_eq!(token.issued_at(), 1_800_000_000);
/// # Ok::<(), sealwax::Error>(())
/// ```
pub trait Environment: Send + Sync {
    /// The time in Unix milliseconds.
    fn now_ms(&self) -> u64;

    /// Fills `bytes` with randomness fit for keys and nonces.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`] where there is none; `bytes` must not be used then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

impl Key {
    /// A new key from the randomness of `environment`. With an operating system there is
    /// `Key::generate`.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn generate_in(environment: &dyn Environment) -> Result<Self, Error> {
        let mut secret = Zeroizing::new([0; SECRET_LEN]);
        environment.fill(secret.as_mut())?;
        Self::from_secret(secret.as_ref())
    }
}
