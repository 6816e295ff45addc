//! The codec of a server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::current_keys::{CurrentKeys, Keys};
use crate::environment::expect_written;
use crate::format::clock::Clock;
use crate::format::{sealed, text};
use crate::{Environment, Error, KeyRing};

const DEFAULT_PAYLOAD_LIMIT: usize = 4096;
const MAX_PAYLOAD_LIMIT: usize = 1 << 20;
const DEFAULT_CLOCK_TOLERANCE: Duration = Duration::from_secs(60);
const MAX_CLOCK_TOLERANCE: Duration = Duration::from_secs(300);
const DEFAULT_SESSION_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Seals and opens the tokens of one service: a key ring, an audience and limits.
///
/// It is cheap to clone and safe to share between threads. Its keys [may change](Self::set_keys), and nothing else.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing, Principal};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server has Codec::from_env
/// let codec = Codec::new(ring, "https://mcp.example.com")?;
/// let alice = codec.view(&Principal::subject("alice"))?;
///
/// let token = alice.cursor("tools/list").seal(b"page 2")?;
/// assert_eq!(alice.cursor("tools/list").open(token.as_str())?.payload(), b"page 2");
///
/// let mallory = codec.view(&Principal::subject("mallory"))?;
/// let refused = mallory.cursor("tools/list").open(token.as_str()).unwrap_err();
/// assert_eq!(refused.code(), "principal_mismatch");
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone)]
pub struct Codec(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    keys: CurrentKeys,
    audience: String,
    limits: Limits,
    environment: Box<dyn Environment>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    payload: usize,
    clock_tolerance: Duration,
    session_max_age: Duration,
}

impl Codec {
    /// Returns a builder, to set the limits of the codec.
    #[must_use]
    pub fn builder(ring: KeyRing, audience: impl Into<String>) -> CodecBuilder {
        CodecBuilder {
            ring,
            then: None,
            audience: audience.into(),
            limits: Limits {
                payload: DEFAULT_PAYLOAD_LIMIT,
                clock_tolerance: DEFAULT_CLOCK_TOLERANCE,
                session_max_age: DEFAULT_SESSION_MAX_AGE,
            },
        }
    }

    /// Returns the name of the service.
    #[must_use]
    pub fn audience(&self) -> &str {
        &self.0.audience
    }

    /// Returns the key ring that new views use.
    #[must_use]
    pub fn ring(&self) -> KeyRing {
        self.keys().ring.clone()
    }

    /// Replaces the key ring, in one step for all clones of this codec, and for guards on it. Returns
    /// whether the ring differs from the one before; an equal one changes nothing.
    ///
    /// A view keeps the ring that it was made with, and so does a request in progress. The old keys are
    /// wiped from memory when the last view of them is gone.
    ///
    /// ```
    /// use sealwax::{Codec, Key, KeyRing, Principal};
    ///
    /// let (old, new) = (Key::generate()?, Key::generate()?);
    /// let codec = Codec::new(KeyRing::new([old.clone()])?, "https://mcp.example.com")?;
    /// let before = codec.view(&Principal::subject("alice"))?;
    /// let token = before.cursor("tools/list").seal(b"page 2")?;
    ///
    /// assert!(codec.set_keys(KeyRing::new([new.clone(), old])?));
    /// let after = codec.view(&Principal::subject("alice"))?;
    /// assert!(after.cursor("tools/list").open(token.as_str())?.needs_reseal());
    /// assert!(after.is_current() && !before.is_current());
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[expect(clippy::must_use_candidate, reason = "the change is the purpose")]
    pub fn set_keys(&self, ring: KeyRing) -> bool {
        self.0.keys.replace(ring)
    }

    pub(crate) fn keys(&self) -> Arc<Keys> {
        self.0.keys.keys()
    }

    /// Returns the limit of a payload, in bytes.
    #[must_use]
    pub fn payload_limit(&self) -> usize {
        self.0.limits.payload
    }

    /// Returns the limit of a sealed token in characters, computed from the payload limit.
    #[must_use]
    pub fn token_limit(&self) -> usize {
        sealed::max_text_len(self.payload_limit())
    }

    /// Returns the maximum age of a session, over all its renewals.
    #[must_use]
    pub fn session_max_age(&self) -> Duration {
        self.0.limits.session_max_age
    }

    /// Returns the time by which another replica's clock may be ahead.
    #[must_use]
    pub fn clock_tolerance(&self) -> Duration {
        self.0.limits.clock_tolerance
    }

    /// Returns the clock and the source of randomness.
    #[must_use]
    pub fn environment(&self) -> &dyn Environment {
        &*self.0.environment
    }

    /// Draws fresh randomness, for one nonce or one ulid.
    pub(crate) fn draw<const N: usize>(&self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.0.environment.fill(&mut bytes)?;
        expect_written(&bytes)?;
        Ok(bytes)
    }

    /// Reads the clock; each operation reads it once and keeps that time.
    pub(crate) fn clock(&self) -> Clock {
        Clock {
            now_ms: self.0.environment.now_ms(),
            clock_tolerance: self.0.limits.clock_tolerance,
        }
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("audience", &self.audience())
            .field("ring", &self.ring())
            .finish_non_exhaustive()
    }
}

/// What follows the codec's making, such as the watch of the file that its keys are from.
type Then = dyn FnOnce(&Codec) -> Result<(), Error> + Send + Sync;

/// Sets the limits of a [`Codec`].
pub struct CodecBuilder {
    ring: KeyRing,
    then: Option<Box<Then>>,
    audience: String,
    limits: Limits,
}

impl CodecBuilder {
    #[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
    pub(crate) fn then(
        mut self,
        then: impl FnOnce(&Codec) -> Result<(), Error> + Send + Sync + 'static,
    ) -> Self {
        self.then = Some(Box::new(then));
        self
    }

    /// Sets the limit of a payload in bytes: 4,096 by default, 1 MiB at most. Each request carries
    /// the payload both ways, so data that grows belongs in a store.
    #[must_use]
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.limits.payload = bytes;
        self
    }

    /// Sets the time by which another replica's clock may be ahead: 60 s by default, 300 s at most.
    #[must_use]
    pub fn clock_tolerance(mut self, clock_tolerance: Duration) -> Self {
        self.limits.clock_tolerance = clock_tolerance;
        self
    }

    /// Sets the maximum age of a data-layer session, over all its renewals: 30 days by default.
    #[must_use]
    pub fn session_max_age(mut self, max_age: Duration) -> Self {
        self.limits.session_max_age = max_age;
        self
    }

    /// Builds the codec with its own clock and randomness; `build` takes the operating system's.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes, or a limit
    /// out of its range.
    pub fn build_in(self, environment: impl Environment + 'static) -> Result<Codec, Error> {
        let Self {
            ring,
            audience,
            limits,
            then,
        } = self;
        text::require("audience", &audience)?;
        if limits.payload > MAX_PAYLOAD_LIMIT {
            let found = limits.payload;
            return Err(Error::argument(format!(
                "payload limit: expected at most {MAX_PAYLOAD_LIMIT} bytes, found {found}"
            )));
        }
        if limits.clock_tolerance > MAX_CLOCK_TOLERANCE {
            return Err(Error::argument(
                "clock tolerance: expected at most 300 seconds",
            ));
        }
        let codec = Codec(Arc::new(Inner {
            keys: CurrentKeys::new(ring),
            audience,
            limits,
            environment: Box::new(environment),
        }));
        match then {
            Some(then) => then(&codec).map(|()| codec),
            None => Ok(codec),
        }
    }
}

impl fmt::Debug for CodecBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodecBuilder")
            .field("audience", &self.audience)
            .field("ring", &self.ring)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{Codec, Error, Key, KeyRing, Principal};

    #[test]
    fn replaced_keys_are_dropped_with_their_last_view() -> Result<(), Error> {
        let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
        let keys = Arc::downgrade(&codec.keys());
        let view = codec.view(&Principal::anonymous())?;
        codec.set_keys(KeyRing::new([Key::generate()?])?);
        assert!(keys.upgrade().is_some());
        drop(view);
        assert!(keys.upgrade().is_none());
        Ok(())
    }
}
