//! Session ids, minted or verified.

use std::fmt;
use std::time::Duration;

use crate::format::session_id;
use crate::format::ulid::Ulid;
use crate::{Error, KeyId, View};

/// A session id that this service issued to this principal: minted, or verified.
///
/// 64 characters, fit for an HTTP header. It identifies a session; possession of it is not
/// authentication.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionId {
    text: String,
    ulid: Ulid,
    key_id: KeyId,
    needs_reseal: bool,
}

impl View {
    /// Mints a session id.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn mint_session_id(&self) -> Result<SessionId, Error> {
        self.mint_session_id_at(self.codec().clock().now_ms)
    }

    pub(crate) fn mint_session_id_at(&self, now_ms: u64) -> Result<SessionId, Error> {
        let ulid = Ulid::new(now_ms, self.codec().draw()?);
        Ok(SessionId {
            text: session_id::mint(self.principal_keys(), ulid),
            ulid,
            key_id: self.principal_keys().sealing().0.id(),
            needs_reseal: false,
        })
    }

    /// Verifies a session id. With `max_age`, an id made longer ago has expired.
    ///
    /// # Errors
    ///
    /// Every refusal of [`Error`] but [`Error::WrongPurpose`], in the order of SPEC.md, "Opening".
    pub fn verify_session_id(
        &self,
        text: &str,
        max_age: Option<Duration>,
    ) -> Result<SessionId, Error> {
        let max_age = max_age.map(|age| age.as_secs());
        let clock = self.codec().clock();
        let (ulid, key_id, at) = session_id::verify(self.principal_keys(), text, &clock, max_age)?;
        Ok(SessionId {
            text: text.into(),
            ulid,
            key_id,
            needs_reseal: at > 0,
        })
    }
}

impl SessionId {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the time of making, in Unix milliseconds.
    #[must_use]
    pub fn created_at_ms(&self) -> u64 {
        self.ulid.created_at_ms()
    }

    /// Returns the end under `max_age`, in Unix milliseconds.
    #[must_use]
    pub fn ends_at_ms(&self, max_age: Duration) -> u64 {
        self.ulid.ends_ms(max_age.as_secs())
    }

    /// Returns the 16 bytes that make it unique: the name for logs and stores, because unlike the
    /// text it does not continue the session.
    #[must_use]
    pub fn ulid(&self) -> &[u8; 16] {
        &self.ulid.0
    }

    /// Returns the id of the key that made it.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// Returns whether an older key made it. The id never changes while the session lives, so that
    /// key is needed until the session ends.
    #[must_use]
    pub fn needs_reseal(&self) -> bool {
        self.needs_reseal
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Shows the ulid, which is safe to log: it does not continue the session.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({:032x})", u128::from_be_bytes(self.ulid.0))
    }
}
