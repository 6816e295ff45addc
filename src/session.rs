//! Data-layer sessions, in the draft's own JSON shape: a session id that never changes, and a
//! state token bound to it that is sealed anew with every write.

use alloc::string::{String, ToString as _};
use core::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::clock::earlier;
use crate::codec::View;
use crate::sealer::{Life, Ttl, check_ttl};
use crate::text::json_text;
use crate::token::{Opened, kind};
use crate::{Error, SessionId, text};

/// `SessionMetadata` of the draft: the value of `_meta["io.modelcontextprotocol/session"]`, and
/// of `session` in the result of `sessions/create`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionMetadata {
    /// The session id.
    pub session_id: String,
    /// When the session ends unless it is renewed, in RFC 3339: a hint for the host, not read
    /// when it comes back.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The sealed state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl SessionMetadata {
    /// What a client sent.
    #[must_use]
    pub fn new(session_id: impl Into<String>, state: Option<String>) -> Self {
        Self {
            session_id: session_id.into(),
            expires_at: None,
            state,
        }
    }

    /// Reads what a client sent as JSON; members that the draft does not know are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] over 2 MiB; [`Error::Malformed`] where it is not the JSON of session
    /// metadata.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        text::check_wire("JSON text", json)?;
        serde_json::from_str(json).map_err(|_| {
            Error::Malformed("session metadata: an object with sessionId and state, both strings")
        })
    }

    /// The JSON to send.
    #[must_use]
    pub fn to_json(&self) -> String {
        json_text(self)
    }
}

/// Logs get neither the id nor the state: together they are the session.
impl core::fmt::Debug for SessionMetadata {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SessionMetadata")
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl View {
    /// The data-layer sessions of this principal.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions {
            view: self,
            idle: Ttl::Default,
        }
    }
}

/// Data-layer sessions of one principal, with no store.
///
/// A session ends once it was idle for 24 hours, unless set otherwise here, or is as old as
/// [`CodecBuilder::session_max_age`](crate::CodecBuilder::session_max_age) says, whichever comes
/// first.
///
/// ```
/// # use sealwax::{Codec, Key, KeyRing, Principal};
/// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
/// # let alice = codec.view(&Principal::subject("alice"))?;
/// let sessions = alice.sessions();
/// let sent = sessions.create(b"language=en")?; // the result of sessions/create
///
/// let session = sessions.open(&sent)?; // the client sent it back in _meta
/// assert_eq!(session.payload(), b"language=en");
/// let renewed = sessions.renew(&session, b"language=python")?;
/// assert_eq!(renewed.session_id, sent.session_id);
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sessions<'v> {
    view: &'v View,
    idle: Ttl,
}

impl Sessions<'_> {
    /// How long a session lives without a write, in whole seconds.
    #[must_use]
    pub fn ttl(mut self, idle: Duration) -> Self {
        self.idle = Ttl::Given(idle);
        self
    }

    /// Sessions do not end by being idle; the absolute limit remains.
    #[must_use]
    pub fn no_expiry(mut self) -> Self {
        self.idle = Ttl::None;
        self
    }

    /// Checks the idle lifetime, as sealing will.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`].
    pub fn check(&self) -> Result<(), Error> {
        match self.idle {
            Ttl::Given(ttl) => check_ttl(ttl).map(drop),
            Ttl::Default | Ttl::None => Ok(()),
        }
    }

    /// A new session with a first state.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::EntropyUnavailable`], [`Error::InvalidArgument`].
    pub fn create(&self, payload: &[u8]) -> Result<SessionMetadata, Error> {
        let clock = self.view.codec().clock();
        let id = self.view.mint_session_id_at(clock.now_ms)?;
        self.write(&id, clock.now(), Life::starting(clock.now()), payload)
    }

    /// A new session whose state the server holds: an id, and when it ends at the latest.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn mint(&self) -> Result<SessionMetadata, Error> {
        let id = self.view.mint_session_id()?;
        Ok(SessionMetadata {
            expires_at: rfc3339(id.ends_at_ms(self.max_age()) / 1000),
            ..SessionMetadata::new(id.as_str(), None)
        })
    }

    /// Opens what a client sent: verifies the id, then opens the state bound to it.
    ///
    /// # Errors
    ///
    /// The refusals of [`View::verify_session_id`] and [`Sealer::open`](crate::Sealer::open);
    /// [`Error::Malformed`] where the state is missing, for leaving it out must not reset a
    /// session.
    pub fn open(&self, metadata: &SessionMetadata) -> Result<Session, Error> {
        let id = self.verify(&metadata.session_id)?;
        let state = metadata
            .state
            .as_deref()
            .ok_or(Error::Malformed("the session's state beside its id"))?;
        let state = self.view.state(&id).max_age(self.max_age()).open(state)?;
        Ok(Session { id, state })
    }

    /// Verifies an id alone, as `sessions/delete` sends it.
    ///
    /// # Errors
    ///
    /// The refusals of [`View::verify_session_id`].
    pub fn verify(&self, session_id: &str) -> Result<SessionId, Error> {
        self.view
            .verify_session_id(session_id, Some(self.max_age()))
    }

    /// A new state for the same session: the id and the start are kept, the generation is one
    /// more.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn renew(&self, session: &Session, payload: &[u8]) -> Result<SessionMetadata, Error> {
        let life = Life {
            started_at: session.state.started_at(),
            generation: session.state.generation().saturating_add(1),
        };
        self.write(&session.id, self.view.codec().clock().now(), life, payload)
    }

    /// A new session that begins with the state of another, which goes on beside it.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn fork(&self, session: &Session) -> Result<SessionMetadata, Error> {
        self.create(session.payload())
    }

    fn write(
        &self,
        id: &SessionId,
        now: u64,
        life: Life,
        payload: &[u8],
    ) -> Result<SessionMetadata, Error> {
        let sealer = self.view.state(id).with_ttl(self.idle);
        let idle_end = sealer.ends_after(now)?;
        let token = sealer.seal_at(now, life, payload)?;
        let absolute_end = life.started_at.saturating_add(self.max_age().as_secs());
        Ok(SessionMetadata {
            session_id: id.as_str().into(),
            expires_at: earlier(idle_end, Some(absolute_end)).and_then(rfc3339),
            state: Some(token.into_string()),
        })
    }

    fn max_age(&self) -> Duration {
        self.view.codec().session_max_age()
    }
}

/// A data-layer session that was opened: its id and its state, every check passed.
#[derive(Debug)]
pub struct Session {
    id: SessionId,
    state: Opened<kind::State>,
}

impl Session {
    /// The session id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// The state and what its token tells.
    #[must_use]
    pub fn state(&self) -> &Opened<kind::State> {
        &self.state
    }

    /// The payload of the state.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.state.payload()
    }

    /// The payload of the state as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.state.json()
    }
}

/// `None` past the year 9999, which RFC 3339 cannot write.
fn rfc3339(unix_seconds: u64) -> Option<String> {
    let seconds = i64::try_from(unix_seconds).ok()?;
    jiff::Timestamp::from_second(seconds)
        .ok()
        .map(|time| time.to_string())
}
