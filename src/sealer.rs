//! Seals and opens: a sealer for each kind of token, so that no required binding can be
//! forgotten.

use alloc::format;
use alloc::vec::Vec;
use core::marker::PhantomData;
use core::time::Duration;

use serde::Serialize;

use crate::format::sealed::{self, Claims, Contents};
use crate::kind::{self, Purpose, TokenKind};
use crate::token::{Opened, Sealed, Token, TokenId};
use crate::{Error, RequestContext, SessionId, View};

/// Seals and opens tokens of one kind, for one principal, with the kind's bindings.
///
/// The two sides must be given the same bindings; what differs in any is refused.
#[derive(Clone, Debug)]
pub struct Sealer<'v, K> {
    bound: Bound<'v>,
    kind: PhantomData<K>,
}

/// The same for every kind, and so but once in a program.
#[derive(Clone, Debug)]
struct Bound<'v> {
    view: &'v View,
    purpose: Purpose<'v>,
    ttl: Ttl,
    max_age: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Ttl {
    Default,
    Given(Duration),
    None,
}

impl View {
    /// `state` of the data-layer session `id`. [`sessions`](Self::sessions) does all of it.
    #[must_use]
    pub fn state<'v>(&'v self, id: &'v SessionId) -> Sealer<'v, kind::State> {
        self.state_of(id.as_str())
    }

    pub(crate) fn state_of<'v>(&'v self, id: &'v str) -> Sealer<'v, kind::State> {
        let mut sealer = Sealer::of(self);
        sealer.bound.purpose.session_id = id;
        sealer
    }

    /// `requestState` for the request that `context` names.
    #[must_use]
    pub fn request_state<'v>(
        &'v self,
        context: &'v RequestContext,
    ) -> Sealer<'v, kind::RequestState> {
        let mut sealer = Sealer::of(self);
        sealer.bound.purpose.context = context.as_bytes();
        sealer
    }

    /// A self-contained session: what was negotiated, for a header that cannot be renewed.
    #[must_use]
    pub fn session(&self) -> Sealer<'_, kind::Session> {
        Sealer::of(self)
    }

    /// A cursor of the list method `method`, such as `tools/list`.
    #[must_use]
    pub fn cursor<'v>(&'v self, method: &'v str) -> Sealer<'v, kind::Cursor> {
        Sealer::of(self).labelled(method)
    }

    /// State that the holder of a handle of type `handle_type` keeps: the token is the handle.
    #[must_use]
    pub fn handle_state<'v>(&'v self, handle_type: &'v str) -> Sealer<'v, kind::HandleState> {
        Sealer::of(self).labelled(handle_type)
    }

    /// The application's own, by the name `label`; bound to a session or a request if it says so.
    #[must_use]
    pub fn custom<'v>(&'v self, label: &'v str) -> Sealer<'v, kind::Custom> {
        Sealer::of(self).labelled(label)
    }

    /// A kind known only at run time: for bindings and tools.
    #[must_use]
    pub fn sealer<'v>(&'v self, purpose: Purpose<'v>) -> Sealer<'v, kind::Untyped> {
        Sealer::with(self, purpose)
    }
}

impl<'v, K: TokenKind> Sealer<'v, K> {
    /// With no binding yet: each kind sets what it requires.
    fn of(view: &'v View) -> Self {
        Self::with(view, Purpose::of(K::KIND))
    }

    fn labelled(mut self, label: &'v str) -> Self {
        self.bound.purpose.label = label;
        self
    }
}

impl<'v> Sealer<'v, kind::Custom> {
    /// Binds to the session `id` as well.
    #[must_use]
    pub fn bound_to_session(mut self, id: &'v SessionId) -> Self {
        self.bound.purpose.session_id = id.as_str();
        self
    }

    /// Binds to a request as well.
    #[must_use]
    pub fn bound_to_request(mut self, context: &'v RequestContext) -> Self {
        self.bound.purpose.context = context.as_bytes();
        self
    }
}

impl<'v, K> Sealer<'v, K> {
    fn with(view: &'v View, purpose: Purpose<'v>) -> Self {
        Self {
            bound: Bound {
                view,
                purpose,
                ttl: Ttl::Default,
                max_age: None,
            },
            kind: PhantomData,
        }
    }

    pub(crate) fn with_ttl(mut self, ttl: Ttl) -> Self {
        self.bound.ttl = ttl;
        self
    }

    /// How long what is sealed lives, in whole seconds, instead of the
    /// [kind's own time](crate::Kind::default_ttl).
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with_ttl(Ttl::Given(ttl))
    }

    /// What is sealed never expires by itself: it opens as long as its key is in the ring.
    #[must_use]
    pub fn no_expiry(self) -> Self {
        self.with_ttl(Ttl::None)
    }

    /// How old what is opened may be since its session began, however often it was renewed.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.bound.max_age = Some(max_age);
        self
    }

    /// Seals `payload`: a new life, of generation 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`], [`Error::TooLarge`], [`Error::EntropyUnavailable`].
    pub fn seal(&self, payload: &[u8]) -> Result<Token<K>, Error> {
        let now = self.now();
        self.seal_at(now, Life::starting(now), payload)
    }

    /// Seals `value` as JSON.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal), and [`Error::InvalidArgument`] where JSON has no such value.
    pub fn seal_json<T: Serialize + ?Sized>(&self, value: &T) -> Result<Token<K>, Error> {
        self.seal(&to_json(value)?)
    }

    /// Seals `payload` in place of what was `opened`: the start is kept, so that a maximum age
    /// holds, and the generation is one more, so that a stale token can be told.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn renew(&self, opened: &Opened<K>, payload: &[u8]) -> Result<Token<K>, Error> {
        self.renew_from(opened.started_at(), opened.generation(), payload)
    }

    /// Renews by numbers, for bindings: `started_at` in Unix seconds, and the `generation` that
    /// was opened.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn renew_from(
        &self,
        started_at: u64,
        generation: u32,
        payload: &[u8],
    ) -> Result<Token<K>, Error> {
        let life = Life {
            started_at,
            generation: generation.saturating_add(1),
        };
        self.seal_at(self.now(), life, payload)
    }

    /// Seals as of `now`; the caller has asked the clock once.
    pub(crate) fn seal_at(&self, now: u64, life: Life, payload: &[u8]) -> Result<Token<K>, Error> {
        self.bound.seal(now, life, payload).map(Token::new)
    }

    /// Checks the bindings and the lifetime, as sealing will: for options that are given once and
    /// used later.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`].
    pub fn check(&self) -> Result<(), Error> {
        self.bound.purpose.check()?;
        self.bound.ttl_seconds().map(drop)
    }

    /// Opens what came back: text as it stood on the wire, or a [`Token`].
    ///
    /// # Errors
    ///
    /// Every refusal of [`Error`], in the order of SPEC.md, "Opening".
    pub fn open(&self, token: impl AsRef<str>) -> Result<Opened<K>, Error> {
        let (contents, now) = self.bound.open(token.as_ref())?;
        Ok(Opened::new(contents, now))
    }

    pub(crate) fn now(&self) -> u64 {
        self.bound.view.codec().clock().now()
    }
}

impl Bound<'_> {
    fn seal(&self, now: u64, life: Life, payload: &[u8]) -> Result<Sealed, Error> {
        self.purpose.check()?;
        let claims = Claims {
            issued_at: now,
            ttl: self.ttl_seconds()?,
            age: u32::try_from(now.saturating_sub(life.started_at)).unwrap_or(u32::MAX),
            generation: life.generation,
        };
        let codec = self.view.codec();
        let (holder, limit) = (self.view.holder(), codec.payload_limit());
        let nonce = codec.draw()?;
        Ok(Sealed {
            text: sealed::seal(holder, &self.purpose, &claims, &nonce, payload, limit)?,
            claims,
            id: TokenId(sealed::token_id(&nonce)),
        })
    }

    /// What a token held, and the time by which it was judged.
    fn open(&self, token: &str) -> Result<(Contents, u64), Error> {
        self.purpose.check()?;
        let codec = self.view.codec();
        let (holder, limit, clock) = (self.view.holder(), codec.payload_limit(), codec.clock());
        let max_age = self.max_age.map(|age| age.as_secs());
        let contents = sealed::open(holder, &self.purpose, token, limit, &clock, max_age)?;
        Ok((contents, clock.now()))
    }

    fn ttl_seconds(&self) -> Result<u32, Error> {
        match self.ttl {
            Ttl::Default => Ok(self.purpose.kind.default_ttl()),
            Ttl::None => Ok(0),
            Ttl::Given(ttl) => check_ttl(ttl),
        }
    }
}

/// The seconds of a lifetime, checked as sealing checks it: for options that are given once and used
/// later.
///
/// # Errors
///
/// [`Error::InvalidArgument`] unless it is 1 to 4,294,967,295 seconds.
pub fn check_ttl(ttl: Duration) -> Result<u32, Error> {
    match u32::try_from(ttl.as_secs()) {
        Ok(seconds @ 1..) => Ok(seconds),
        _ => Err(Error::argument(format!(
            "ttl: expected 1 to {} seconds, or no expiry by name",
            u32::MAX
        ))),
    }
}

/// A session's life so far.
#[derive(Clone, Copy)]
pub(crate) struct Life {
    /// Unix seconds.
    pub started_at: u64,
    pub generation: u32,
}

impl Life {
    pub fn starting(now: u64) -> Self {
        Self {
            started_at: now,
            generation: 0,
        }
    }
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| {
        Error::argument(format!(
            "payload: expected a value that JSON can hold: {error}"
        ))
    })
}
