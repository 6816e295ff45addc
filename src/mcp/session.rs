//! The data-layer session of one request.

use alloc::string::{String, ToString as _};
use core::fmt;

use super::asking::{Ask, Token};
use super::context::{hex, until};
use super::guard::SessionSettings;
use super::{Item, Presented, Sent};
use crate::format::clock::earlier;
use crate::{Error, OpenedSession, SessionId, SessionMetadata, View};

/// The data-layer session that a request came with, every check passed.
pub struct Session {
    id: SessionId,
    /// `None`: the server holds what belongs to it.
    opened: Option<OpenedSession>,
    value: String,
    written: Written,
}

/// How a session's value was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Written {
    #[default]
    Not,
    /// By functions of the author's that can be applied again, to somebody else's write.
    Again,
    /// As a whole.
    Once,
}

/// What a session leaves with.
pub(super) struct Left {
    pub metadata: SessionMetadata,
    /// The new state, if one was sealed: its token, and from when on nothing of it opens.
    pub token: Option<(String, Option<u64>)>,
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
                written: Written::Not,
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
            written: Written::Not,
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

    pub(super) fn write(&mut self, written: &str, how: Written) -> Result<(), Error> {
        if self.opened.is_none() {
            return Err(Error::argument(
                "write: expected a session that holds its value; this one is the server's, by its ulid",
            ));
        }
        self.value = json(written.as_bytes())
            .map_err(|_| Error::argument("write: expected JSON"))?
            .into();
        self.written = match self.written {
            Written::Once => Written::Once,
            Written::Not | Written::Again => how,
        };
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

    /// What goes back: the id as it came, and a new state where one was written or, if it may, is due.
    pub(super) fn leave(
        &self,
        settings: &SessionSettings,
        view: &View,
        renews: bool,
    ) -> Result<Left, Error> {
        match &self.opened {
            Some(opened) if self.is_written() || (renews && opened.state().needs_renewal()) => {
                let (metadata, token) = settings.of(view).renewed(opened, self.value.as_bytes())?;
                let ends = earlier(token.expires_at(), Some(absolute_end(opened, view)));
                Ok(Left {
                    metadata,
                    token: Some((token.id().to_string(), until(ends))),
                })
            }
            _ => Ok(self.unchanged()),
        }
    }

    /// What goes back where nothing takes the place of what came.
    pub(super) fn unchanged(&self) -> Left {
        Left {
            metadata: SessionMetadata::new(self.id(), None),
            token: None,
        }
    }

    pub(super) fn is_written(&self) -> bool {
        self.written != Written::Not
    }

    /// Whether what was written can be made again of another value.
    pub(super) fn is_updated(&self) -> bool {
        self.written == Written::Again
    }

    /// The token that was opened, and its generation; none where the server holds the value.
    pub(super) fn seen(&self) -> Option<(String, u32)> {
        let state = self.opened.as_ref()?.state();
        Some((state.token_id().to_string(), state.generation()))
    }

    /// Goes on with the latest state, which the ledger has, and gives what a client is told of it.
    pub(super) fn adopt(
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

    /// What is asked of it: that `state` is its latest one.
    pub(super) fn asked(&self, view: &View, state: Sent<'_>) -> Token {
        let created = self.id.created_at_ms();
        let (Some(opened), Some(text)) = (&self.opened, state.text()) else {
            return Token::made(presented(view, &self.id), created, Ask::Live);
        };
        let state = opened.state();
        let ends = earlier(state.expires_at(), Some(absolute_end(opened, view)));
        Token {
            presented: presented(view, &self.id),
            ask: Ask::Head {
                token: state.token_id().to_string(),
                generation: state.generation(),
                state: text.into(),
                until: until(ends),
            },
            issued_at: state.issued_at(),
            started_at: state.started_at(),
        }
    }
}

fn absolute_end(opened: &OpenedSession, view: &View) -> u64 {
    let max_age = view.codec().session_max_age().as_secs();
    opened.state().started_at().saturating_add(max_age)
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
