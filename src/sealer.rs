//! Seals and opens: one sealer for each kind of token, so that no required binding can be
//! forgotten.

use std::marker::PhantomData;
use std::time::Duration;

use serde::Serialize;

use crate::format::sealed::{self, Claims, Contents};
use crate::kind::{self, Purpose, TokenKind};
use crate::token::{Opened, Sealed, Token, TokenId};
use crate::{Error, RequestContext, SessionId, View};

/// Seals and opens tokens of one kind, for one principal, with the kind's bindings.
///
/// Both sides must give the same bindings; a token with other bindings is refused.
#[derive(Clone, Debug)]
pub struct Sealer<'v, K> {
    bound: Bound<'v>,
    kind: PhantomData<K>,
}

/// The part without a type parameter, compiled once for all kinds.
#[derive(Clone, Debug)]
struct Bound<'v> {
    view: &'v View,
    purpose: Purpose<'v>,
    ttl: Ttl,
    max_age: Option<Duration>,
}

/// The lifetime of a token, chosen when it is sealed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ttl {
    /// That of its kind ([`Kind::default_ttl`](crate::Kind::default_ttl)).
    #[default]
    Default,
    /// This time, in whole seconds.
    Given(Duration),
    /// No expiry.
    None,
}

impl View {
    /// Returns the sealer for `state` of the data-layer session `id`. [`sessions`](Self::sessions)
    /// handles id and state together.
    #[must_use]
    pub fn state<'v>(&'v self, id: &'v SessionId) -> Sealer<'v, kind::State> {
        self.state_of(id.as_str())
    }

    pub(crate) fn state_of<'v>(&'v self, id: &'v str) -> Sealer<'v, kind::State> {
        let mut sealer = Sealer::of(self);
        sealer.bound.purpose.session_id = id;
        sealer
    }

    /// Returns the sealer for the `requestState` of the request that `context` names.
    #[must_use]
    pub fn request_state<'v>(
        &'v self,
        context: &'v RequestContext,
    ) -> Sealer<'v, kind::RequestState> {
        let mut sealer = Sealer::of(self);
        sealer.bound.purpose.context = context.as_bytes();
        sealer
    }

    /// Returns the sealer for a self-contained session: negotiated values, in a header that cannot
    /// be renewed.
    #[must_use]
    pub fn session(&self) -> Sealer<'_, kind::Session> {
        Sealer::of(self)
    }

    /// Returns the sealer for cursors of the list method `method`, such as `tools/list`.
    #[must_use]
    pub fn cursor<'v>(&'v self, method: &'v str) -> Sealer<'v, kind::Cursor> {
        Sealer::of(self).labelled(method)
    }

    /// Returns the sealer for self-contained handles of type `handle_type`: the token is the handle and holds
    /// its state.
    #[must_use]
    pub fn handle_state<'v>(&'v self, handle_type: &'v str) -> Sealer<'v, kind::HandleState> {
        Sealer::of(self).labelled(handle_type)
    }

    /// Returns the sealer for custom tokens named `label`; binding them to a session or a request
    /// is optional.
    #[must_use]
    pub fn custom<'v>(&'v self, label: &'v str) -> Sealer<'v, kind::Custom> {
        Sealer::of(self).labelled(label)
    }

    /// Returns the sealer for a kind known only at run time: for bindings and tools.
    #[must_use]
    pub fn sealer<'v>(&'v self, purpose: Purpose<'v>) -> Sealer<'v, kind::Untyped> {
        Sealer::with(self, purpose)
    }
}

impl<'v, K: TokenKind> Sealer<'v, K> {
    /// Returns a sealer without bindings; each kind sets those it requires.
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

    /// Sets the lifetime of sealed tokens, by a value: for bindings and tools.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Ttl) -> Self {
        self.bound.ttl = ttl;
        self
    }

    /// Sets the lifetime of sealed tokens, in whole seconds, instead of the [kind's
    /// default](crate::Kind::default_ttl).
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with_ttl(Ttl::Given(ttl))
    }

    /// Seals without expiry: a token opens as long as its key is in the ring.
    #[must_use]
    pub fn no_expiry(self) -> Self {
        self.with_ttl(Ttl::None)
    }

    /// Sets the maximum age when opening, from the start of the session and over all its renewals.
    #[must_use]
    pub fn max_age(mut self, max_age: Duration) -> Self {
        self.bound.max_age = Some(max_age);
        self
    }

    /// Seals `payload` with a new start and generation 0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`], [`Error::TooLarge`], [`Error::EntropyUnavailable`].
    pub fn seal(&self, payload: &[u8]) -> Result<Token<K>, Error> {
        let now = self.now();
        self.seal_at(now, now, 0, payload)
    }

    /// Seals `value` as JSON.
    ///
    /// # Errors
    ///
    /// As [`seal`](Self::seal), and [`Error::InvalidArgument`] if JSON cannot hold the value.
    pub fn seal_json<T: Serialize + ?Sized>(&self, value: &T) -> Result<Token<K>, Error> {
        self.seal(&to_json(value)?)
    }

    /// Seals `payload` as the successor of `opened`: keeps the start, so that a maximum age holds,
    /// and increments the generation, so that a stale token can be detected.
    /// # Errors
    ///
    /// As [`seal`](Self::seal).
    pub fn renew(&self, opened: &Opened<K>, payload: &[u8]) -> Result<Token<K>, Error> {
        self.renew_from(opened.started_at(), opened.generation(), payload)
    }

    /// Renews by numbers, for bindings: `started_at` in Unix seconds, and the opened `generation`.
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
        let generation = generation.saturating_add(1);
        self.seal_at(self.now(), started_at, generation, payload)
    }

    /// Seals as of `now`: the caller reads the clock once.
    pub(crate) fn seal_at(
        &self,
        now: u64,
        started_at: u64,
        generation: u32,
        payload: &[u8],
    ) -> Result<Token<K>, Error> {
        let sealed = self.bound.seal(now, started_at, generation, payload)?;
        Ok(Token::new(sealed))
    }

    /// Checks the bindings and the lifetime, as sealing does: for options that are given once and
    /// used later.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`].
    pub fn check(&self) -> Result<(), Error> {
        self.bound.purpose.check()?;
        self.bound.ttl_seconds().map(drop)
    }

    /// Opens a presented token: its text as received, or a [`Token`].
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
    fn seal(
        &self,
        now: u64,
        started_at: u64,
        generation: u32,
        payload: &[u8],
    ) -> Result<Sealed, Error> {
        self.purpose.check()?;
        let claims = Claims {
            issued_at: now,
            ttl: self.ttl_seconds()?,
            age: u32::try_from(now.saturating_sub(started_at)).unwrap_or(u32::MAX),
            generation,
        };
        let codec = self.view.codec();
        let (keys, limit) = (self.view.principal_keys(), codec.payload_limit());
        let nonce = codec.draw()?;
        Ok(Sealed {
            text: sealed::seal(keys, &self.purpose, &claims, &nonce, payload, limit)?,
            claims,
            id: TokenId(sealed::token_id(&nonce)),
        })
    }

    /// Returns the contents of a token, and the time at which it was checked.
    fn open(&self, token: &str) -> Result<(Contents, u64), Error> {
        self.purpose.check()?;
        let codec = self.view.codec();
        let (keys, limit, clock) = (
            self.view.principal_keys(),
            codec.payload_limit(),
            codec.clock(),
        );
        let max_age = self.max_age.map(|age| age.as_secs());
        let contents = sealed::open(keys, &self.purpose, token, limit, &clock, max_age)?;
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

/// Returns a lifetime in seconds, checked as sealing does: for options that are given once and used
/// later.
///
/// # Errors
///
/// [`Error::InvalidArgument`] unless it is 1 to 4,294,967,295 seconds.
pub fn check_ttl(ttl: Duration) -> Result<u32, Error> {
    match u32::try_from(ttl.as_secs()) {
        Ok(seconds @ 1..) => Ok(seconds),
        _ => Err(Error::argument(format!(
            "ttl: expected 1 to {} seconds, found {}; for no expiry, say so by name",
            u32::MAX,
            ttl.as_secs()
        ))),
    }
}

fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| {
        Error::argument(format!(
            "payload: expected a value that JSON can hold: {error}"
        ))
    })
}
