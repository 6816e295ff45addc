//! The data-layer session of one request.

use std::fmt;

use crate::ledger::Check;
use crate::message::input::ClientValue;
use crate::message::text::{hex, remembered, until};
use crate::message::token::Token;
use crate::reply::step::Item;
use crate::settings::SessionSettings;
use sealwax::{Error, OpenedSession, SessionId, SessionMetadata, View};

/// The data-layer session of a request, opened and fully checked.
pub struct Session {
    id: SessionId,
    /// `None` if the server holds the value.
    opened: Option<OpenedSession>,
    value: String,
    written: bool,
}

/// The part of a session that is sent with a result.
pub(crate) struct Sealed {
    pub metadata: SessionMetadata,
    /// The new state, if one was sealed: its token id, and the time until which a ledger remembers it.
    pub token: Option<(String, u64)>,
}

impl Session {
    pub(crate) fn open(
        settings: &SessionSettings,
        view: &View,
        id: ClientValue<'_>,
        state: ClientValue<'_>,
    ) -> Result<Self, Error> {
        let sessions = settings.of(view);
        let id = id
            .text()
            .ok_or(Error::Malformed("a sessionId that is a text"))?;
        if settings.held_by_server {
            return Ok(Self {
                id: sessions.verify(id)?,
                opened: None,
                value: String::new(),
                written: false,
            });
        }
        if state == ClientValue::Other {
            return Err(Error::Malformed("a state that is a text"));
        }
        let sent = SessionMetadata::new(id, state.text().map(Into::into));
        let opened = sessions.open(&sent)?;
        Ok(Self {
            id: opened.id().clone(),
            value: json(opened.payload())?.into(),
            opened: Some(opened),
            written: false,
        })
    }

    /// Returns the session id. Together with the state it continues the session, so do not log it.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// Returns the name of the session for logs and stores: 32 hex digits, constant for its whole
    /// life.
    #[must_use]
    pub fn ulid(&self) -> String {
        hex(self.id.ulid())
    }

    /// Returns the number of writes before this request; 0 if the server holds the value.
    #[must_use]
    pub fn generation(&self) -> u32 {
        let opened = self.opened.as_ref();
        opened.map_or(0, |opened| opened.state().generation())
    }

    /// Returns the value as JSON, as last written; `None` if the server holds it.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.opened.as_ref().map(|_| self.value.as_str())
    }

    pub(crate) fn write(&mut self, written: &str) -> Result<(), Error> {
        if self.opened.is_none() {
            return Err(Error::argument(
                "write: expected a session that holds its value; the server holds this one's, by its ulid",
            ));
        }
        self.value = json(written.as_bytes())
            .map_err(|_| Error::argument("write: expected JSON"))?
            .into();
        self.written = true;
        Ok(())
    }

    pub(crate) fn fork(
        &self,
        settings: &SessionSettings,
        view: &View,
    ) -> Result<SessionMetadata, Error> {
        let Some(opened) = &self.opened else {
            return Err(Error::argument(
                "fork: expected a session that holds its value; copy the row of this one's ulid",
            ));
        };
        settings.of(view).forked(opened, self.value.as_bytes())
    }

    /// Returns the part to send: the id as received, and a new state if one was written, or is due
    /// and allowed by `renews`.
    pub(crate) fn seal(
        &self,
        settings: &SessionSettings,
        view: &View,
        renews: bool,
    ) -> Result<Sealed, Error> {
        match &self.opened {
            Some(opened) if self.is_written() || (renews && opened.state().needs_renewal()) => {
                let (metadata, token) = settings.of(view).renewed(opened, self.value.as_bytes())?;
                let until = remembered(until(token.expires_at()), opened.state().started_at());
                Ok(Sealed {
                    metadata,
                    token: Some((token.id().to_string(), until)),
                })
            }
            _ => Ok(self.unchanged()),
        }
    }

    /// Returns the part to send if the state stays as it is.
    pub(crate) fn unchanged(&self) -> Sealed {
        Sealed {
            metadata: SessionMetadata::new(self.id(), None),
            token: None,
        }
    }

    pub(crate) fn is_written(&self) -> bool {
        self.written
    }

    /// Returns the opened token's id and generation; `None` if the server holds the value.
    pub(crate) fn seen(&self) -> Option<(String, u32)> {
        let state = self.opened.as_ref()?.state();
        Some((state.token_id().to_string(), state.generation()))
    }

    /// Continues with the latest state, as the ledger has it, and returns the metadata for the
    /// client.
    pub(crate) fn continue_from(
        &mut self,
        settings: &SessionSettings,
        view: &View,
        state: &str,
    ) -> Result<SessionMetadata, Error> {
        let sessions = settings.of(view);
        let sent = SessionMetadata::new(self.id(), Some(state.into()));
        let opened = sessions.open(&sent)?;
        let metadata = sessions.metadata_of(&opened, state);
        self.value = json(opened.payload())?.into();
        self.opened = Some(opened);
        Ok(metadata)
    }

    /// Returns the question about it: whether `state` is its latest one.
    pub(crate) fn token(&self, state: ClientValue<'_>) -> Token {
        let (Some(opened), Some(text)) = (&self.opened, state.text()) else {
            return by_id(&self.id, Check::Live);
        };
        let state = opened.state();
        // No state is older than the first one, so that nobody is ever given that one.
        let text = if state.generation() == 0 { "" } else { text };
        Token {
            item: Item::Session,
            id: self.ulid(),
            key_id: Some(self.id.key_id()),
            check: Some(Check::Latest {
                token: state.token_id().to_string(),
                generation: state.generation(),
                state: text.into(),
            }),
            issued_at: state.issued_at(),
            started_at: state.started_at(),
            until: until(state.expires_at()),
        }
    }
}

/// Returns the question about a session of which the id alone is known.
pub(crate) fn by_id(id: &SessionId, check: Check) -> Token {
    Token {
        key_id: Some(id.key_id()),
        ..Token::made(Item::Session, id.ulid(), id.created_at_ms(), check)
    }
}

/// Checks that a payload is JSON.
pub(crate) fn json(payload: &[u8]) -> Result<&str, Error> {
    const EXPECTED: Error = Error::Malformed("a payload that is JSON");
    let text = std::str::from_utf8(payload).map_err(|_| EXPECTED)?;
    serde_json::from_slice::<serde::de::IgnoredAny>(payload).map_err(|_| EXPECTED)?;
    Ok(text)
}

/// Shows neither the id nor the value.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.ulid())
    }
}
