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
    /// Where the state of the generator may be copied (a virtual machine that is cloned, a process
    /// that is restored from a snapshot), [`mix_time`] at each call keeps the copies from repeating
    /// one another's nonces. Take the finest clock there is, and one that goes on where a snapshot is
    /// restored; the milliseconds of [`now_ms`](Self::now_ms) are better than none.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`] where there is none; `bytes` must not be used then.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error>;
}

/// Mixes a time into randomness just drawn, for an [`Environment::fill`]: of two copies of one
/// generator, what is drawn at different times differs. The operating system's has it.
///
/// The time, in nanoseconds since the Unix epoch, is XORed into the first bytes, its lowest byte first:
/// what was random before is as random after, and what would have been the same is not. A nonce, a ulid and a
/// key are long enough for all of it that moves.
///
/// It is a second line of defence, and makes no bad generator good. Copies whose clocks read the
/// same in the same draw still repeat a nonce. And it adds nothing secret: whoever has seen what one copy
/// drew can guess what the other did, so a key must come from a generator that is nobody's copy.
///
/// ```
/// let drawn = [7; 24];
/// let [mut one, mut two] = [drawn; 2];
/// sealwax::mix_time(&mut one, 1_800_000_000_000_000_000);
/// sealwax::mix_time(&mut two, 1_800_000_000_000_000_001);
/// assert_ne!(one, two);
/// ```
pub fn mix_time(bytes: &mut [u8], nanoseconds: u128) {
    for (byte, time) in bytes.iter_mut().zip(nanoseconds.to_le_bytes()) {
        *byte ^= time;
    }
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
