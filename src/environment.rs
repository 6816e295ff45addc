//! The source of time and randomness.

use zeroize::Zeroizing;

use crate::format::key::SECRET_LEN;
use crate::{Error, Key};

/// A clock and a source of randomness, for targets without an operating system: embedded ones, or
/// `wasm32-unknown-unknown`, whose host has both. Use the default everywhere else.
///
/// An attacker who can set the clock can revive an expired token. Repeated randomness repeats a
/// nonce, which reveals the contents of both tokens and allows forgeries: the randomness must
/// be fit for keys, and differ in every thread, process and clone of a machine.
///
/// ```
/// use sealwax::{Codec, Environment, Error, Key, KeyRing, Principal};
///
/// /// A microcontroller.
/// struct Board;
///
/// impl Environment for Board {
///     fn now_ms(&self) -> u64 {
///         1_800_000_000_000 // a real-time clock
///     }
///
///     fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
///         // Read the generator's register. If it fails: Err(Error::EntropyUnavailable).
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
    /// Returns the time in Unix milliseconds.
    fn now_ms(&self) -> u64;

    /// Fills `bytes` with randomness fit for keys and nonces.
    ///
    /// If the generator's state can be copied (a virtual machine that is cloned, a process that is
    /// restored from a snapshot), call [`mix_time`] each time: it keeps the copies from repeating
    /// each other's nonces. Use the finest clock available, one that goes on when a snapshot is
    /// restored; the milliseconds of [`now_ms`](Self::now_ms) are better than none.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`] if there is none; `bytes` must not be used then. Zeros alone count as none.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// Mixes a time into fresh randomness, for an [`Environment::fill`]: two copies of one generator
/// draw different bytes at different times. `System` does this already.
///
/// The time, in nanoseconds since the Unix epoch, is XORed into the first bytes, lowest byte first:
/// random bytes stay random, and equal draws become different. A nonce, a ulid and a key are long
/// enough for all bytes of the time that change.
///
/// This is a second line of defence; it does not repair a bad generator. Copies whose clocks read
/// the same time at the same draw still repeat a nonce. It adds no secret: anyone who sees one
/// copy's draws can guess the other's, so draw keys from a generator that is no copy.
///
/// ```
/// let drawn = [7; 24];
/// let [mut one, mut two] = [drawn; 2];
/// sealwax::mix_time(&mut one, 1_800_000_000_000_000_000);
/// sealwax::mix_time(&mut two, 1_800_000_000_000_000_001);
/// assert_ne!(one, two);
/// ```
pub fn mix_time(bytes: &mut [u8], nanoseconds: u128) {
    // Zeros are nobody's randomness: they stay, and are refused.
    if expect_written(bytes).is_err() {
        return;
    }
    for (byte, time) in bytes.iter_mut().zip(nanoseconds.to_le_bytes()) {
        *byte ^= time;
    }
}

/// Fewer bytes may all be zero by chance.
const ENOUGH_TO_TELL: usize = 10;

/// Refuses bytes that nobody has written: a generator that is switched off, or a stub of one, leaves or gives zeros.
pub(crate) fn expect_written(bytes: &[u8]) -> Result<(), Error> {
    if bytes.len() >= ENOUGH_TO_TELL && bytes.iter().all(|byte| *byte == 0) {
        return Err(Error::EntropyUnavailable);
    }
    Ok(())
}

impl Key {
    /// Generates a key from the randomness of `environment`. With an operating system, use
    /// `Key::generate`.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn generate_in(environment: &dyn Environment) -> Result<Self, Error> {
        let mut secret = Zeroizing::new([0; SECRET_LEN]);
        environment.fill(secret.as_mut())?;
        expect_written(secret.as_ref())?;
        Self::from_secret(secret.as_ref())
    }
}
