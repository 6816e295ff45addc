//! Handles: short signed identifiers that a language model carries from call to call
//! (SPEC.md, "Handle").

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use data_encoding::Encoding;
use data_encoding_macro::new_encoding;
use subtle::ConstantTimeEq as _;

use crate::bytes::leading;
use crate::codec::{Codec, View};
use crate::principal::Tag;
use crate::session_id::LIMIT;
use crate::ulid::Ulid;
use crate::{Error, Key};

/// Crockford's alphabet, in lower case alone: no i, l, o, u to misread, and one spelling.
const BASE32: Encoding = new_encoding! {
    symbols: "0123456789abcdefghjkmnpqrstvwxyz",
};

const MAC_LEN: usize = 10;
const LEN: usize = Ulid::LEN + MAC_LEN;
const MAX_TYPE_LEN: usize = 32;
/// The prefixes of our other texts.
const RESERVED_TYPES: [&str; 3] = ["sess", "sw1", "swk1"];

/// A handle that this service issued to the principal at hand: minted, or verified.
///
/// The type, an underscore and 42 characters. One wrong, missing or swapped character fails, so
/// a model that misremembers it gets an error, never somebody else's basket.
#[derive(Clone, PartialEq, Eq)]
pub struct Handle {
    text: String,
    ulid: Ulid,
    needs_reseal: bool,
}

impl View {
    /// A new handle of type `handle_type`: a small letter, then up to 31 small letters or digits.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for another type, or one of `sess`, `sw1` and `swk1`;
    /// [`Error::EntropyUnavailable`].
    pub fn mint_handle(&self, handle_type: &str) -> Result<Handle, Error> {
        check_type(handle_type)?;
        let codec = self.codec();
        let ulid = Ulid::mint(codec, codec.clock().now_ms)?;
        let mut bytes = [0; LEN];
        bytes[..Ulid::LEN].copy_from_slice(&ulid.0);
        bytes[Ulid::LEN..].copy_from_slice(&signature(
            codec.ring().first(),
            codec,
            handle_type,
            &self.tags()[0],
            ulid,
        ));
        Ok(Handle {
            text: format!("{handle_type}_{}", BASE32.encode(&bytes)),
            ulid,
            needs_reseal: false,
        })
    }

    /// Verifies a handle of type `handle_type` that came back. With `max_age`, one that was made
    /// longer ago has expired.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a type that is none; then every refusal of [`Error`] but
    /// [`Error::UnknownKey`] and [`Error::PrincipalMismatch`], which a handle cannot tell from
    /// [`Error::Unauthentic`], in the order of SPEC.md, "Opening".
    pub fn verify_handle(
        &self,
        handle_type: &str,
        text: &str,
        max_age: Option<Duration>,
    ) -> Result<Handle, Error> {
        check_type(handle_type)?;
        if text.len() > LIMIT {
            return Err(Error::TooLarge {
                what: "handle",
                found: text.len(),
                limit: LIMIT,
            });
        }
        let (found, ulid, mac) = decode(text)?;
        if found != handle_type {
            return Err(Error::WrongPurpose {
                expected: format!("a handle of type {handle_type}"),
                found: format!("one of type {found}"),
            });
        }
        let codec = self.codec();
        let keys = codec.ring().keys().iter().zip(self.tags());
        let at = keys
            .map(|(key, tag)| signature(key, codec, handle_type, tag, ulid))
            .position(|expected| mac.ct_eq(&expected).into())
            .ok_or(Error::Unauthentic)?;
        ulid.check_time(codec, max_age.map(|age| age.as_secs()))?;
        Ok(Handle {
            text: text.into(),
            ulid,
            needs_reseal: at > 0,
        })
    }
}

impl Handle {
    /// Checks a type, as minting will: a small letter, then up to 31 small letters or digits.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for another, or one of `sess`, `sw1` and `swk1`.
    pub fn check_type(handle_type: &str) -> Result<(), Error> {
        check_type(handle_type)
    }

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

    /// The 16 bytes that make it unique: the key of its row in a server's store.
    #[must_use]
    pub fn ulid(&self) -> &[u8; 16] {
        &self.ulid.0
    }

    /// Whether an older key made it, so that it ends when that key goes.
    #[must_use]
    pub fn needs_reseal(&self) -> bool {
        self.needs_reseal
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Logs get the ulid, which is no handle.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({})", data_encoding::HEXLOWER.encode(self.ulid()))
    }
}

/// Checks the caller's type.
pub(crate) fn check_type(handle_type: &str) -> Result<(), Error> {
    if is_type(handle_type) {
        return Ok(());
    }
    Err(Error::argument(
        "handle type: expected a small letter, then up to 31 small letters or digits; \
         sess, sw1 and swk1 are taken",
    ))
}

/// Reads what is readable without a key: the type and the time of making.
pub(crate) fn header(text: &str) -> Result<(&str, Ulid), Error> {
    decode(text).map(|(handle_type, ulid, _)| (handle_type, ulid))
}

fn decode(text: &str) -> Result<(&str, Ulid, [u8; MAC_LEN]), Error> {
    const EXPECTED: Error = Error::Malformed(
        "a handle: its type, an underscore and 42 characters of base32 in lower case",
    );
    let (handle_type, body) = text.split_once('_').ok_or(EXPECTED)?;
    if !is_type(handle_type) {
        return Err(EXPECTED);
    }
    match BASE32.decode(body.as_bytes()) {
        Ok(bytes) if bytes.len() == LEN => Ok((
            handle_type,
            Ulid(leading(&bytes)),
            leading(&bytes[Ulid::LEN..]),
        )),
        _ => Err(EXPECTED),
    }
}

fn is_type(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        && text.len() <= MAX_TYPE_LEN
        && !RESERVED_TYPES.contains(&text)
}

fn signature(key: &Key, codec: &Codec, handle_type: &str, tag: &Tag, ulid: Ulid) -> [u8; MAC_LEN] {
    leading(&key.id_mac(&[
        b"handle",
        codec.audience().as_bytes(),
        handle_type.as_bytes(),
        tag,
        &ulid.0,
    ]))
}
