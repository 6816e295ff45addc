//! Session ids: signed, bound to a principal, the same for as long as the session lives
//! (SPEC.md, "Session id").

use alloc::string::String;
use core::fmt;
use core::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq as _;

use crate::bytes::leading;
use crate::codec::{Codec, View};
use crate::key::KeyId;
use crate::principal::Tag;
use crate::ulid::Ulid;
use crate::{Error, Key};

pub(crate) const PREFIX: &str = "sess_";
/// The most characters that are looked at, of an id or a handle.
pub(crate) const LIMIT: usize = 1024;

const KEY_ID_LEN: usize = 4;
const PTAG_LEN: usize = 8;
const MAC_LEN: usize = 16;
const SIGNED_LEN: usize = KEY_ID_LEN + Ulid::LEN + PTAG_LEN;
const LEN: usize = SIGNED_LEN + MAC_LEN;

/// A session id that this service issued to the principal at hand: minted, or verified.
///
/// 64 characters, fit for an HTTP header. It identifies a session and proves nothing about who
/// presents it: possession is not authentication.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionId {
    text: String,
    ulid: Ulid,
    needs_reseal: bool,
}

impl View {
    /// A new session id.
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn mint_session_id(&self) -> Result<SessionId, Error> {
        self.mint_session_id_at(self.codec().clock().now_ms)
    }

    pub(crate) fn mint_session_id_at(&self, now_ms: u64) -> Result<SessionId, Error> {
        let codec = self.codec();
        let ulid = Ulid::mint(codec, now_ms)?;
        let key = codec.ring().first();

        let mut bytes = [0; LEN];
        let (signed, mac) = bytes.split_at_mut(SIGNED_LEN);
        signed[..KEY_ID_LEN].copy_from_slice(&key.id().0);
        signed[KEY_ID_LEN..][..Ulid::LEN].copy_from_slice(&ulid.0);
        signed[KEY_ID_LEN + Ulid::LEN..].copy_from_slice(&ptag(key, ulid, &self.tags()[0]));
        mac.copy_from_slice(&signature(key, codec, signed));

        let mut text = String::from(PREFIX);
        URL_SAFE_NO_PAD.encode_string(bytes, &mut text);
        Ok(SessionId {
            text,
            ulid,
            needs_reseal: false,
        })
    }

    /// Verifies a session id that came back. With `max_age`, one that was made longer ago has
    /// expired.
    ///
    /// # Errors
    ///
    /// Every refusal of [`Error`] but [`Error::WrongPurpose`], in the order of SPEC.md, "Opening".
    pub fn verify_session_id(
        &self,
        text: &str,
        max_age: Option<Duration>,
    ) -> Result<SessionId, Error> {
        if text.len() > LIMIT {
            return Err(Error::TooLarge {
                what: "session id",
                found: text.len(),
                limit: LIMIT,
            });
        }
        let codec = self.codec();
        let bytes = decode(text)?;
        let (key_id, ulid) = parse(&bytes);
        let at = codec.ring().position(key_id)?;
        let key = &codec.ring().keys()[at];
        let (signed, mac) = bytes.split_at(SIGNED_LEN);
        if !bool::from(mac.ct_eq(&signature(key, codec, signed))) {
            return Err(Error::Unauthentic);
        }
        let expected = ptag(key, ulid, &self.tags()[at]);
        if !bool::from(signed[KEY_ID_LEN + Ulid::LEN..].ct_eq(&expected)) {
            return Err(Error::PrincipalMismatch);
        }
        ulid.check_time(codec, max_age.map(|age| age.as_secs()))?;
        Ok(SessionId {
            text: text.into(),
            ulid,
            needs_reseal: at > 0,
        })
    }
}

impl SessionId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// When it was made, in Unix milliseconds.
    #[must_use]
    pub fn created_at_ms(&self) -> u64 {
        self.ulid.created_at_ms()
    }

    /// When it ends under `max_age`, in Unix milliseconds.
    #[must_use]
    pub fn ends_at_ms(&self, max_age: Duration) -> u64 {
        self.ulid.ends_ms(max_age.as_secs())
    }

    /// The 16 bytes that make it unique: what logs and a server's store may know it by, for
    /// unlike the text they let nobody continue the session.
    #[must_use]
    pub fn ulid(&self) -> &[u8; 16] {
        &self.ulid.0
    }

    /// Whether an older key made it. The id itself never changes while the session lives; this
    /// tells how long that key is still needed.
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

/// Logs get the ulid, which lets nobody continue the session.
impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SessionId({})",
            data_encoding::HEXLOWER.encode(self.ulid())
        )
    }
}

/// Reads what is readable without the key: the key's id and the time of making.
pub(crate) fn header(text: &str) -> Result<(KeyId, Ulid), Error> {
    decode(text).map(|bytes| parse(&bytes))
}

fn decode(text: &str) -> Result<[u8; LEN], Error> {
    const EXPECTED: Error = Error::Malformed("a session id: sess_ and 59 characters of base64url");
    let body = text.strip_prefix(PREFIX).ok_or(EXPECTED)?;
    let mut bytes = [0; LEN];
    match URL_SAFE_NO_PAD.decode_slice(body, &mut bytes) {
        Ok(LEN) => Ok(bytes),
        _ => Err(EXPECTED),
    }
}

fn parse(bytes: &[u8; LEN]) -> (KeyId, Ulid) {
    (KeyId(leading(bytes)), Ulid(leading(&bytes[KEY_ID_LEN..])))
}

fn ptag(key: &Key, ulid: Ulid, tag: &Tag) -> [u8; PTAG_LEN] {
    leading(&key.principal_mac(&[b"session", &ulid.0, tag]))
}

fn signature(key: &Key, codec: &Codec, signed: &[u8]) -> [u8; MAC_LEN] {
    leading(&key.id_mac(&[b"session", codec.audience().as_bytes(), signed]))
}
