//! What a text is, as far as it can be told without a key: for logs and for operators.

use crate::format::text::at_most;
use crate::format::{handle, sealed, session_id};
use crate::token::TokenId;
use crate::{Error, Key, KeyId, Kind};

/// The most bytes that are looked at of a text off the wire which has no limit of its own.
pub(crate) const WIRE_LIMIT: usize = 2 << 20;

/// What a text claims to be. Nothing of it is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Inspected {
    /// A sealed token.
    Token {
        /// Its kind.
        kind: Kind,
        /// The key that it says made it.
        key_id: KeyId,
        /// Its id, the same as of the token when it opens.
        token_id: TokenId,
    },
    /// A session id.
    SessionId {
        /// The key that it says made it.
        key_id: KeyId,
        /// When it says it was made, in Unix milliseconds.
        created_at_ms: u64,
    },
    /// A handle, which names no key.
    Handle {
        /// Its type.
        handle_type: alloc::string::String,
        /// When it says it was made, in Unix milliseconds.
        created_at_ms: u64,
    },
    /// A key text, its checksum right: a secret.
    Key {
        /// The key's id.
        key_id: KeyId,
    },
}

/// Reads what `text` is: a sealed token, a session id, a handle or a key text.
///
/// # Errors
///
/// [`Error::TooLarge`] over 2 MiB; [`Error::Malformed`], [`Error::Unsupported`] or
/// [`Error::InvalidKey`] where it is none of these.
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
    if text.starts_with("swk") {
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
        });
    }
    let (handle_type, ulid) = handle::header(text)
        .map_err(|_| Error::Malformed("a sealed token, a session id, a handle or a key text"))?;
    Ok(Inspected::Handle {
        handle_type: handle_type.into(),
        created_at_ms: ulid.created_at_ms(),
    })
}
