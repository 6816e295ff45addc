//! Data-layer sessions, in the draft's JSON shape: a session id that never changes, and a state
//! token bound to it that each write seals anew.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::format::clock::earlier;
use crate::format::text::at_most;
use crate::inspect::WIRE_LIMIT;
use crate::sealer::{Ttl, check_ttl};
use crate::{Error, Opened, SessionId, Token, View, kind};

/// `SessionMetadata` of the draft: the value of `_meta["io.modelcontextprotocol/session"]`, and
/// of `session` in the result of `sessions/create`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionMetadata {
    /// The session id.
    pub session_id: String,
    /// The end of the session unless it is renewed, in RFC 3339: a hint for the host, ignored when
    /// it comes back.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The sealed state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

impl SessionMetadata {
    /// Returns the metadata that a client sent.
    #[must_use]
    pub fn new(session_id: impl Into<String>, state: Option<String>) -> Self {
        Self {
            session_id: session_id.into(),
            expires_at: None,
            state,
        }
    }

    /// Reads the JSON that a client sent; members unknown to the draft are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`] over 2 MiB; [`Error::Malformed`] if it is not the JSON of session
    /// metadata.
    pub fn from_json(json: &str) -> Result<Self, Error> {
        at_most("JSON text", json.len(), WIRE_LIMIT)?;
        let not_metadata =
            Error::Malformed("session metadata: an object with sessionId and state, both strings");
        // Serde reads an array as well.
        if !json.trim_start().starts_with('{') {
            return Err(not_metadata);
        }
        serde_json::from_str(json).map_err(|_| not_metadata)
    }

    /// Returns the JSON to send.
    #[must_use]
    pub fn to_json(&self) -> String {
        // A struct of strings always serializes.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Logs get neither the id nor the state: together they are the session.
impl std::fmt::Debug for SessionMetadata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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
    /// Sets the time that a session lives without a write, in whole seconds.
    #[must_use]
    pub fn ttl(self, idle: Duration) -> Self {
        self.with_ttl(Ttl::Given(idle))
    }

    /// Turns off the end by idling; the absolute limit remains.
    #[must_use]
    pub fn no_expiry(self) -> Self {
        self.with_ttl(Ttl::None)
    }

    /// Sets the time that a session lives without a write, by a value: for bindings and tools.
    #[must_use]
    pub fn with_ttl(mut self, idle: Ttl) -> Self {
        self.idle = idle;
        self
    }

    /// Checks the idle lifetime, as sealing does.
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

    /// Creates a session with a first state.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::EntropyUnavailable`], [`Error::InvalidArgument`].
    pub fn create(&self, payload: &[u8]) -> Result<SessionMetadata, Error> {
        self.begin(None, payload)
    }

    /// Creates a session that started now, or when another one did.
    fn begin(&self, started_at: Option<u64>, payload: &[u8]) -> Result<SessionMetadata, Error> {
        let clock = self.view.codec().clock();
        let now = clock.now();
        let id = self.view.mint_session_id_at(clock.now_ms)?;
        let (metadata, _) = self.write(&id, now, started_at.unwrap_or(now), 0, payload)?;
        Ok(metadata)
    }

    /// Creates a session whose state the server holds: an id, and its latest possible end.
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

    /// Opens the metadata that a client sent: verifies the id, then opens the state bound to it.
    ///
    /// # Errors
    ///
    /// The refusals of [`View::verify_session_id`] and [`Sealer::open`](crate::Sealer::open);
    /// [`Error::Malformed`] if the state is missing, because leaving it out must not reset a
    /// session.
    pub fn open(&self, metadata: &SessionMetadata) -> Result<OpenedSession, Error> {
        let id = self.verify(&metadata.session_id)?;
        let state = metadata
            .state
            .as_deref()
            .ok_or(Error::Malformed("the session's state beside its id"))?;
        let state = self.view.state(&id).max_age(self.max_age()).open(state)?;
        Ok(OpenedSession { id, state })
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

    /// Seals a new state for the same session: keeps the id and the start, increments the
    /// generation.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn renew(&self, session: &OpenedSession, payload: &[u8]) -> Result<SessionMetadata, Error> {
        Ok(self.renewed(session, payload)?.0)
    }

    /// As [`renew`](Self::renew), and returns the token of the new state too.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn renewed(
        &self,
        session: &OpenedSession,
        payload: &[u8],
    ) -> Result<(SessionMetadata, Token<kind::State>), Error> {
        let (started_at, before) = (session.state.started_at(), session.state.generation());
        let now = self.view.codec().clock().now();
        self.write(
            &session.id,
            now,
            started_at,
            before.saturating_add(1),
            payload,
        )
    }

    /// Creates a session with the state of another, which continues independently. It keeps the
    /// start: no fork outlives the maximum age of the first session.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn fork(&self, session: &OpenedSession) -> Result<SessionMetadata, Error> {
        self.forked(session, session.payload())
    }

    /// As [`fork`](Self::fork), with another state.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn forked(
        &self,
        session: &OpenedSession,
        payload: &[u8],
    ) -> Result<SessionMetadata, Error> {
        self.begin(Some(session.state.started_at()), payload)
    }

    fn write(
        &self,
        id: &SessionId,
        now: u64,
        started_at: u64,
        generation: u32,
        payload: &[u8],
    ) -> Result<(SessionMetadata, Token<kind::State>), Error> {
        let sealer = self.view.state(id).with_ttl(self.idle);
        let token = sealer.seal_at(now, started_at, generation, payload)?;
        let state = token.as_str();
        let metadata = self.metadata(id, started_at, token.expires_at(), state);
        Ok((metadata, token))
    }

    /// Returns the metadata of an opened session, with the text of its state as it came.
    #[must_use]
    pub fn metadata_of(&self, session: &OpenedSession, state: &str) -> SessionMetadata {
        let opened = session.state();
        self.metadata(&session.id, opened.started_at(), opened.expires_at(), state)
    }

    fn metadata(
        &self,
        id: &SessionId,
        started_at: u64,
        idle_end: Option<u64>,
        state: &str,
    ) -> SessionMetadata {
        let absolute_end = started_at.saturating_add(self.max_age().as_secs());
        SessionMetadata {
            session_id: id.as_str().into(),
            expires_at: earlier(idle_end, Some(absolute_end)).and_then(rfc3339),
            state: Some(state.into()),
        }
    }

    fn max_age(&self) -> Duration {
        self.view.codec().session_max_age()
    }
}

/// A data-layer session, opened and fully checked: its id and its state.
#[derive(Debug)]
pub struct OpenedSession {
    id: SessionId,
    state: Opened<kind::State>,
}

impl OpenedSession {
    /// Returns the session id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the state and the claims of its token.
    #[must_use]
    pub fn state(&self) -> &Opened<kind::State> {
        &self.state
    }

    /// Returns the payload of the state.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.state.payload()
    }

    /// Reads the payload of the state as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        self.state.json()
    }
}

/// Returns `None` past the year 9999, which RFC 3339 cannot write.
pub(crate) fn rfc3339(unix_seconds: u64) -> Option<String> {
    let seconds = i64::try_from(unix_seconds).ok()?;
    jiff::Timestamp::from_second(seconds)
        .ok()
        .map(|time| time.to_string())
}
