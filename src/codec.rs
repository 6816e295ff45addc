//! A server's codec, and the view of it for one principal.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::clock::Clock;
use crate::environment::Environment;
use crate::principal::Tag;
use crate::{Error, KeyRing, Principal, text};

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
    /// A codec with the default limits.
    ///
    /// `audience` names the service, best by its public address: tokens of one service never
    /// open at another, even under shared keys. Every replica must be given the same.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes.
    #[cfg(feature = "std")]
    pub fn new(ring: KeyRing, audience: impl Into<String>) -> Result<Self, Error> {
        Self::builder(ring, audience).build()
    }

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

    /// What this codec is to one principal: computed once, it serves a whole request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a principal that is nobody, or has an empty or too long
    /// part.
    pub fn view(&self, principal: &Principal) -> Result<View, Error> {
        principal.check()?;
        Ok(View {
            codec: self.clone(),
            tags: self
                .ring()
                .keys()
                .iter()
                .map(|key| principal.tag(key))
                .collect(),
        })
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
        crate::sealed::max_text_len(self.payload_limit())
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

    pub(crate) fn environment(&self) -> &dyn Environment {
        &*self.0.environment
    }

    /// The time of this very moment; an operation asks once and keeps to it.
    pub(crate) fn clock(&self) -> Clock {
        Clock {
            now_ms: self.environment().now_ms(),
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

    /// The codec.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an audience that is empty or over 1,024 bytes, or a limit
    /// out of its range.
    #[cfg(feature = "std")]
    pub fn build(self) -> Result<Codec, Error> {
        self.build_in(Box::new(crate::environment::System))
    }

    pub(crate) fn build_in(self, environment: Box<dyn Environment>) -> Result<Codec, Error> {
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
            environment,
        })))
    }
}

/// A [`Codec`] for one principal, with the principal's tags computed.
///
/// Its methods give a front for each kind of token, which asks for the bindings that the kind
/// requires; see the [crate's front page](crate) for the choice.
#[derive(Clone)]
pub struct View {
    codec: Codec,
    tags: Vec<Tag>,
}

impl View {
    /// The codec that this is a view of.
    #[must_use]
    pub fn codec(&self) -> &Codec {
        &self.codec
    }

    /// The principal's tag under each key, in the ring's order.
    pub(crate) fn tags(&self) -> &[Tag] {
        &self.tags
    }
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("codec", &self.codec)
            .finish_non_exhaustive()
    }
}
