//! The typed front of sealed tokens: one for each kind, so that a state cannot be passed where
//! a cursor is expected and no required binding can be forgotten.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;

use data_encoding::HEXLOWER;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::purpose::{Kind, Purpose};
use crate::sealed::{self, Claims, Contents, TOKEN_ID_LEN};
use crate::{Error, RequestContext, SessionId, View};

/// The kinds of sealed tokens as types: the `K` of [`Sealer`], [`Token`] and [`Opened`].
pub mod kind {
    /// State of a data-layer session.
    #[derive(Clone, Copy, Debug)]
    pub enum State {}
    /// `requestState` of a multi-round-trip request.
    #[derive(Clone, Copy, Debug)]
    pub enum RequestState {}
    /// A self-contained session.
    #[derive(Clone, Copy, Debug)]
    pub enum Session {}
    /// A cursor of a list method.
    #[derive(Clone, Copy, Debug)]
    pub enum Cursor {}
    /// State in a handle.
    #[derive(Clone, Copy, Debug)]
    pub enum HandleState {}
    /// The application's own.
    #[derive(Clone, Copy, Debug)]
    pub enum Custom {}
    /// A kind known only at run time: for bindings and tools.
    #[derive(Clone, Copy, Debug)]
    pub enum Untyped {}
}

/// Seals and opens tokens of one kind, for one principal, with the kind's bindings.
///
/// The two sides must be given the same bindings; what differs in any is refused.
#[derive(Clone, Debug)]
pub struct Sealer<'v, K> {
    view: &'v View,
    purpose: Purpose<'v>,
    ttl: Ttl,
    max_age: Option<Duration>,
    kind: PhantomData<K>,
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
        self.front(Purpose {
            session_id: id.as_str(),
            ..Purpose::of(Kind::State)
        })
    }

    /// `requestState` for the request that `context` names.
    #[must_use]
    pub fn request_state<'v>(
        &'v self,
        context: &'v RequestContext,
    ) -> Sealer<'v, kind::RequestState> {
        self.front(Purpose {
            context: context.as_bytes(),
            ..Purpose::of(Kind::RequestState)
        })
    }

    /// A self-contained session: what was negotiated, for a header that cannot be renewed.
    #[must_use]
    pub fn session(&self) -> Sealer<'_, kind::Session> {
        self.front(Purpose::of(Kind::Session))
    }

    /// A cursor of the list method `method`, such as `tools/list`.
    #[must_use]
    pub fn cursor<'v>(&'v self, method: &'v str) -> Sealer<'v, kind::Cursor> {
        self.front(Purpose {
            label: method,
            ..Purpose::of(Kind::Cursor)
        })
    }

    /// State that the holder of a handle of type `handle_type` keeps: the token is the handle.
    #[must_use]
    pub fn handle_state<'v>(&'v self, handle_type: &'v str) -> Sealer<'v, kind::HandleState> {
        self.front(Purpose {
            label: handle_type,
            ..Purpose::of(Kind::HandleState)
        })
    }

    /// The application's own, by the name `label`; bound to a session or a request if it says so.
    #[must_use]
    pub fn custom<'v>(&'v self, label: &'v str) -> Sealer<'v, kind::Custom> {
        self.front(Purpose {
            label,
            ..Purpose::of(Kind::Custom)
        })
    }

    /// A kind known only at run time: for bindings and tools.
    #[must_use]
    pub fn sealer<'v>(&'v self, purpose: Purpose<'v>) -> Sealer<'v, kind::Untyped> {
        self.front(purpose)
    }

    fn front<'v, K>(&'v self, purpose: Purpose<'v>) -> Sealer<'v, K> {
        Sealer {
            view: self,
            purpose,
            ttl: Ttl::Default,
            max_age: None,
            kind: PhantomData,
        }
    }
}

impl<'v> Sealer<'v, kind::Custom> {
    /// Binds to the session `id` as well.
    #[must_use]
    pub fn bound_to_session(mut self, id: &'v SessionId) -> Self {
        self.purpose.session_id = id.as_str();
        self
    }

    /// Binds to a request as well.
    #[must_use]
    pub fn bound_to_request(mut self, context: &'v RequestContext) -> Self {
        self.purpose.context = context.as_bytes();
        self
    }
}

impl<K> Sealer<'_, K> {
    pub(crate) fn with_ttl(mut self, ttl: Ttl) -> Self {
        self.ttl = ttl;
        self
    }

    /// How long what is sealed lives, in whole seconds, instead of the
    /// [kind's own time](Kind::default_ttl).
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
        self.max_age = Some(max_age);
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
        self.purpose.check()?;
        let claims = Claims {
            issued_at: now,
            ttl: self.ttl_seconds()?,
            age: u32::try_from(now.saturating_sub(life.started_at)).unwrap_or(u32::MAX),
            generation: life.generation,
        };
        let text = sealed::seal(self.view, &self.purpose, &claims, payload)?;
        Ok(Token {
            text,
            kind: PhantomData,
        })
    }

    /// Opens what came back: text as it stood on the wire, or a [`Token`] of the same kind.
    ///
    /// # Errors
    ///
    /// Every refusal of [`Error`], in the order of SPEC.md, "Opening".
    pub fn open<'t>(&self, token: impl Into<Untrusted<'t, K>>) -> Result<Opened<K>, Error> {
        self.purpose.check()?;
        let max_age = self.max_age.map(|age| age.as_secs());
        let contents = sealed::open(self.view, &self.purpose, max_age, token.into().text)?;
        Ok(Opened {
            contents,
            kind: PhantomData,
        })
    }

    /// When what is sealed at `now` ends.
    pub(crate) fn ends_after(&self, now: u64) -> Result<Option<u64>, Error> {
        let ttl = self.ttl_seconds()?;
        Ok((ttl != 0).then(|| now.saturating_add(ttl.into())))
    }

    pub(crate) fn now(&self) -> u64 {
        self.view.codec().clock().now()
    }

    fn ttl_seconds(&self) -> Result<u32, Error> {
        match self.ttl {
            Ttl::Default => Ok(self.purpose.kind.default_ttl()),
            Ttl::None => Ok(0),
            Ttl::Given(ttl) => match u32::try_from(ttl.as_secs()) {
                Ok(seconds @ 1..) => Ok(seconds),
                _ => Err(Error::argument(format!(
                    "ttl: expected 1 to {} seconds, or no expiry by name",
                    u32::MAX
                ))),
            },
        }
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

/// A sealed token of kind `K`, fresh from sealing: ASCII, fit for JSON, headers and URLs.
pub struct Token<K> {
    text: String,
    kind: PhantomData<K>,
}

impl<K> Token<K> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, to keep.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }
}

impl<K> fmt::Display for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A token is worth what it carries, so logs get its length only.
impl<K> fmt::Debug for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} characters)", self.text.len())
    }
}

/// A text that claims to be a token of kind `K`. Only opening makes it more.
#[derive(Debug)]
pub struct Untrusted<'t, K> {
    text: &'t str,
    kind: PhantomData<K>,
}

impl<'t, K> From<&'t str> for Untrusted<'t, K> {
    fn from(text: &'t str) -> Self {
        Self {
            text,
            kind: PhantomData,
        }
    }
}

impl<'t, K> From<&'t String> for Untrusted<'t, K> {
    fn from(text: &'t String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'t, K> From<&'t Token<K>> for Untrusted<'t, K> {
    fn from(token: &'t Token<K>) -> Self {
        Self::from(token.as_str())
    }
}

/// What an authentic token of kind `K` held, every check passed.
pub struct Opened<K> {
    contents: Contents,
    kind: PhantomData<K>,
}

impl<K> Opened<K> {
    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.contents.payload
    }

    /// The payload, to keep.
    #[must_use]
    pub fn into_payload(self) -> Vec<u8> {
        self.contents.payload
    }

    /// The payload as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(self.payload())
            .map_err(|_| Error::Malformed("a payload that is JSON of the type asked for"))
    }

    /// When it was sealed, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.contents.claims.issued_at
    }

    /// When its own lifetime ends, in Unix seconds; `None` for no expiry.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.contents.claims.expires_at()
    }

    /// When its session began, in Unix seconds: kept across renewals.
    #[must_use]
    pub fn started_at(&self) -> u64 {
        self.contents.claims.started_at()
    }

    /// How often it was renewed; stops at its maximum.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.contents.claims.generation
    }

    /// What a ledger of spent tokens counts by.
    #[must_use]
    pub fn token_id(&self) -> TokenId {
        TokenId(self.contents.token_id)
    }

    /// Whether an older key made it, so that it should be sealed anew before that key goes.
    #[must_use]
    pub fn needs_reseal(&self) -> bool {
        self.contents.needs_reseal
    }
}

impl<K> fmt::Debug for Opened<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("token_id", &self.token_id())
            .field("claims", &self.contents.claims)
            .field("needs_reseal", &self.needs_reseal())
            .finish_non_exhaustive()
    }
}

/// The identity of a sealed token: 16 bytes taken from what it decodes to, so that no other
/// spelling of it can pass for another token; shown as hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub(crate) [u8; TOKEN_ID_LEN]);

impl TokenId {
    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; TOKEN_ID_LEN] {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}

pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| {
        Error::argument(format!(
            "payload: expected a value that JSON can hold: {error}"
        ))
    })
}

/// The JSON of one of our own types, structs of texts and numbers, which all have one.
pub(crate) fn json_text<T: Serialize>(ours: &T) -> String {
    serde_json::to_string(ours).unwrap_or_default()
}
