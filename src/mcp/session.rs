//! The data-layer session of one request.

use alloc::string::String;
use core::fmt;

use super::context::hex;
use super::guard::SessionSettings;
use super::{Item, Presented, Sent};
use crate::{Error, OpenedSession, SessionId, SessionMetadata, View};

/// The data-layer session that a request came with, every check passed.
pub struct Session {
    id: SessionId,
    /// `None`: the server holds what belongs to it.
    opened: Option<OpenedSession>,
    value: String,
    written: bool,
}

impl Session {
    pub(super) fn open(
        settings: &SessionSettings,
        view: &View,
        id: Sent<'_>,
        state: Sent<'_>,
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
        if state == Sent::Other {
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

    /// The session id. With the state it continues the session, so it is not for logs.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// What logs and a server's store may know it by: 32 hex digits, the same for all its life.
    #[must_use]
    pub fn ulid(&self) -> String {
        hex(self.id.ulid())
    }

    /// How often it was written before this request; 0 where the server holds the value.
    #[must_use]
    pub fn generation(&self) -> u32 {
        let opened = self.opened.as_ref();
        opened.map_or(0, |opened| opened.state().generation())
    }

    /// The value as JSON, as it was last written; `None` where the server holds it.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.opened.as_ref().map(|_| self.value.as_str())
    }

    pub(super) fn write(&mut self, written: &str) -> Result<(), Error> {
        if self.opened.is_none() {
            return Err(Error::argument(
                "write: expected a session that holds its value; this one is the server's, by its ulid",
            ));
        }
        self.value = json(written.as_bytes())
            .map_err(|_| Error::argument("write: expected JSON"))?
            .into();
        self.written = true;
        Ok(())
    }

    pub(super) fn fork(
        &self,
        settings: &SessionSettings,
        view: &View,
    ) -> Result<SessionMetadata, Error> {
        if self.opened.is_none() {
            return Err(Error::argument(
                "fork: expected a session that holds its value; copy the row of this one's ulid",
            ));
        }
        settings.of(view).create(self.value.as_bytes())
    }

    /// What goes back: the id as it came, and a new state where one was written or is due.
    pub(super) fn leave(
        &self,
        settings: &SessionSettings,
        view: &View,
    ) -> Result<SessionMetadata, Error> {
        match &self.opened {
            Some(opened) if self.written || opened.state().needs_renewal() => {
                settings.of(view).renew(opened, self.value.as_bytes())
            }
            _ => Ok(SessionMetadata::new(self.id(), None)),
        }
    }

    pub(super) fn is_written(&self) -> bool {
        self.written
    }

    pub(super) fn presented(&self, view: &View) -> Presented {
        presented(view, &self.id)
    }
}

/// A session is known by its ulid, and can be had until its id has ended.
pub(super) fn presented(view: &View, id: &SessionId) -> Presented {
    let ends = id.ends_at_ms(view.codec().session_max_age());
    Presented::ulid(Item::Session, id.ulid(), Some(ends))
}

/// A payload that is JSON.
pub(super) fn json(payload: &[u8]) -> Result<&str, Error> {
    const EXPECTED: Error = Error::Malformed("a payload that is JSON");
    let text = core::str::from_utf8(payload).map_err(|_| EXPECTED)?;
    serde_json::from_slice::<serde::de::IgnoredAny>(payload).map_err(|_| EXPECTED)?;
    Ok(text)
}

/// Logs get neither the id nor the value.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({})", self.ulid())
    }
}
