//! A server's codec.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use crate::format::clock::Clock;
use crate::format::{sealed, text};
use crate::{Environment, Error, KeyRing};

const DEFAULT_PAYLOAD_LIMIT: usize = 4096;
const MAX_PAYLOAD_LIMIT: usize = 1 << 20;
const DEFAULT_SKEW: Duration = Duration::from_secs(60);
const MAX_SKEW: Duration = Duration::from_secs(300);
const DEFAULT_SESSION_MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);

/// Seals and opens the tokens of one service: a key ring, an audience and limits.
///
/// It never changes, clones cheaply and is shared freely between threads.
///
/// ```
/// use sealwax::{Codec, Key, KeyRing, Principal};
///
/// let ring = KeyRing::new([Key::generate()?])?; // a server reads KeyRing::from_env()
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
pub struct Codec(Arc<Inner>);

struct Inner {
    ring: KeyRing,
    audience: String,
    limits: Limits,
    environment: Box<dyn Environment>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    payload: usize,
    skew: Duration,
    session_max_age: Duration,
}

impl Codec {
    /// A codec with limits of its own.
    #[must_use]
    pub fn builder(ring: KeyRing, audience: impl Into<String>) -> CodecBuilder {
        CodecBuilder {
            ring,
            audience: audience.into(),
            limits: Limits {
                payload: DEFAULT_PAYLOAD_LIMIT,
                skew: DEFAULT_SKEW,
                session_max_age: DEFAULT_SESSION_MAX_AGE,
            },
        }
    }

    /// The service's name.
    #[must_use]
    pub fn audience(&self) -> &str {
        &self.0.audience
    }

    /// The ids of the keys, the sealing one first.
    #[must_use]
    pub fn ring(&self) -> &KeyRing {
        &self.0.ring
    }

    /// The most bytes of a payload.
    #[must_use]
    pub fn payload_limit(&self) -> usize {
        self.0.limits.payload
    }

    /// The most characters of a sealed token, by the payload limit.
    #[must_use]
    pub fn token_limit(&self) -> usize {
        sealed::max_text_len(self.payload_limit())
    }

    /// How old a session may become, however often it is renewed.
    #[must_use]
    pub fn session_max_age(&self) -> Duration {
        self.0.limits.session_max_age
    }

    /// How far another replica's clock may be ahead.
    #[must_use]
    pub fn skew(&self) -> Duration {
        self.0.limits.skew
    }

    /// Fresh randomness, for one nonce or one ulid.
    pub(crate) fn draw<const N: usize>(&self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.0.environment.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The time of this very moment; an operation asks once and keeps to it.
    pub(crate) fn clock(&self) -> Clock {
        Clock {
            now_ms: self.0.environment.now_ms(),
            skew: self.0.limits.skew,
        }
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec")
            .field("audience", &self.audience())
            .field("ring", self.ring())
            .finish_non_exhaustive()
    }
}

/// Sets the limits of a [`Codec`].
#[derive(Debug)]
pub struct CodecBuilder {
    ring: KeyRing,
    audience: String,
    limits: Limits,
}

impl CodecBuilder {
    /// The most bytes of a payload: 4,096 unless set, 1 MiB at most. A token carries its payload
    /// back and forth with every request, so what grows belongs in a store.
    #[must_use]
    pub fn payload_limit(mut self, bytes: usize) -> Self {
        self.limits.payload = bytes;
        self
    }

    /// How far another replica's clock may be ahead: 60 s unless set, 300 s at most.
    #[must_use]
    pub fn skew(mut self, skew: Duration) -> Self {
        self.limits.skew = skew;
        self
    }

    /// How old a data-layer session may become, however often it is renewed: 30 days unless set.
    #[must_use]
    pub fn session_max_age(mut self, max_age: Duration) -> Self {
        self.limits.session_max_age = max_age;
        self
    }

    /// The codec, with a clock and a randomness of its own; `build` has the operating system's.
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
        } = self;
        text::require("audience", &audience)?;
        if limits.payload > MAX_PAYLOAD_LIMIT {
            let found = limits.payload;
            return Err(Error::argument(format!(
                "payload limit: expected at most {MAX_PAYLOAD_LIMIT} bytes, found {found}"
            )));
        }
        if limits.skew > MAX_SKEW {
            return Err(Error::argument("skew: expected at most 300 seconds"));
        }
        Ok(Codec(Arc::new(Inner {
            ring,
            audience,
            limits,
            environment: Box::new(environment),
        })))
    }
}
