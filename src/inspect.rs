//! Identifies a text without a key: for logs and for operators.

use crate::format::text::at_most;
use crate::format::{handle, sealed, session_id};
use crate::token::TokenId;
use crate::{Error, Key, KeyId, Kind};

/// The limit, in bytes, of a wire text that has no limit of its own.
pub(crate) const WIRE_LIMIT: usize = 2 << 20;

/// The unverified claims of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inspected {
    /// A sealed token.
    Token {
        /// Its kind.
        kind: Kind,
        /// The id of the key that claims to have made it.
        key_id: KeyId,
        /// Its id, the same as that of the opened token.
        token_id: TokenId,
    },
    /// A session id.
    SessionId {
        /// The id of the key that claims to have made it.
        key_id: KeyId,
        /// Its claimed time of making, in Unix milliseconds.
        created_at_ms: u64,
        /// The 16 bytes by which logs, rows and a ledger know it.
        ulid: [u8; 16],
    },
    /// A handle, which names no key.
    Handle {
        /// Its type.
        handle_type: String,
        /// Its claimed time of making, in Unix milliseconds.
        created_at_ms: u64,
        /// The 16 bytes by which logs, rows and a ledger know it.
        ulid: [u8; 16],
    },
    /// A key text with a correct checksum: a secret.
    Key {
        /// The key's id.
        key_id: KeyId,
    },
}

/// Identifies `text`: a sealed token, a session id, a handle or a key text.
///
/// # Errors
///
/// [`Error::TooLarge`] over 2 MiB; [`Error::Malformed`], [`Error::Unsupported`] or
/// [`Error::InvalidKey`] if it is none of these.
///
/// ```
/// use sealwax::{Inspected, Key};
///
/// let key = Key::generate()?;
/// let seen = sealwax::inspect(&key.to_text().unwrap())?;
/// assert_eq!(seen, Inspected::Key { key_id: key.id() });
/// # Ok::<(), sealwax::Error>(())
/// ```
pub fn inspect(text: &str) -> Result<Inspected, Error> {
    at_most("text", text.len(), WIRE_LIMIT)?;
    // A handle's type may begin so too.
    if text.starts_with("swk") && handle::header(text).is_err() {
        let key: Key = text.parse()?;
        return Ok(Inspected::Key { key_id: key.id() });
    }
    if sealed::is_sealed(text) {
        let (kind, key_id, token_id) = sealed::header(text)?;
        return Ok(Inspected::Token {
            kind,
            key_id,
            token_id: TokenId(token_id),
        });
    }
    if text.starts_with(session_id::PREFIX) {
        let (key_id, ulid) = session_id::header(text)?;
        return Ok(Inspected::SessionId {
            key_id,
            created_at_ms: ulid.created_at_ms(),
            ulid: ulid.0,
        });
    }
    let (handle_type, ulid) = handle::header(text)
        .map_err(|_| Error::Malformed("a sealed token, a session id, a handle or a key text"))?;
    Ok(Inspected::Handle {
        handle_type: handle_type.into(),
        created_at_ms: ulid.created_at_ms(),
        ulid: ulid.0,
    })
}
