//! Sealed and opened tokens, by their kind. They are different types, so that no one reads an
//! unopened token, or takes a state for a cursor.

use std::fmt;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::format::sealed::{Claims, Contents, TOKEN_ID_LEN};
use crate::{Error, KeyId};

/// A freshly sealed token of kind `K`: ASCII, fit for JSON, headers and URLs.
///
/// With the feature `serde` it serializes as its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Token<K> {
    sealed: Sealed,
    kind: PhantomData<K>,
}

/// The part without a type parameter.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub text: String,
    pub claims: Claims,
    pub id: TokenId,
}

impl<K> Token<K> {
    pub(crate) fn new(sealed: Sealed) -> Self {
        let kind = PhantomData;
        Self { sealed, kind }
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.sealed.text
    }

    /// Returns the text as an owned string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.sealed.text
    }

    /// Returns the token's id, the same as that of the opened token.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.sealed.id
    }

    /// Returns the time of sealing, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.sealed.claims.issued_at
    }

    /// Returns the end of its lifetime, in Unix seconds; `None` for no expiry.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.sealed.claims.expires_at()
    }
}

impl<K> AsRef<str> for Token<K> {
    fn as_ref(&self) -> &str {
        &self.sealed.text
    }
}

impl<K> From<Token<K>> for String {
    fn from(token: Token<K>) -> Self {
        token.sealed.text
    }
}

#[cfg(feature = "serde")]
impl<K> serde::Serialize for Token<K> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.sealed.text)
    }
}

impl<K> fmt::Display for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sealed.text)
    }
}

/// Shows the length only: the text of a token is a credential.
impl<K> fmt::Debug for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} characters)", self.sealed.text.len())
    }
}

/// The contents of a token of kind `K`, authentic and fully checked.
pub struct Opened<K> {
    contents: Contents,
    needs_renewal: bool,
    kind: PhantomData<K>,
}

impl<K> Opened<K> {
    pub(crate) fn new(contents: Contents, now: u64) -> Self {
        Self {
            needs_renewal: contents.needs_reseal || is_half_over(&contents.claims, now),
            contents,
            kind: PhantomData,
        }
    }

    /// Returns the payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        self.contents.payload()
    }

    /// Returns the payload as an owned vector.
    #[must_use]
    pub fn into_payload(self) -> Vec<u8> {
        self.contents.into_payload()
    }

    /// Reads the payload as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] if it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(self.payload())
            .map_err(|_| Error::Malformed("a payload that is JSON of the type asked for"))
    }

    /// Returns the time of sealing, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.contents.claims.issued_at
    }

    /// Returns the end of its lifetime, in Unix seconds; `None` for no expiry.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.contents.claims.expires_at()
    }

    /// Returns the start of its session, in Unix seconds: renewals keep it.
    #[must_use]
    pub fn started_at(&self) -> u64 {
        self.contents.claims.started_at()
    }

    /// Returns the number of renewals; it stops at its maximum.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.contents.claims.generation
    }

    /// Returns the token's id: a ledger of used tokens counts by it.
    #[must_use]
    pub fn token_id(&self) -> TokenId {
        TokenId(self.contents.token_id)
    }

    /// Returns the id of the key that made it: nobody needs a key of which no token comes any more.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.contents.key_id
    }

    /// Returns whether an older key made it; seal it anew before that key is retired.
    #[must_use]
    pub fn needs_reseal(&self) -> bool {
        self.contents.needs_reseal
    }

    /// Returns whether to seal it anew even without a change: half of its lifetime is over, or an
    /// older key made it.
    #[must_use]
    pub fn needs_renewal(&self) -> bool {
        self.needs_renewal
    }
}

impl<K> fmt::Debug for Opened<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("token_id", &self.token_id())
            .field("claims", &self.contents.claims)
            .field("needs_reseal", &self.needs_reseal())
            .finish_non_exhaustive()
    }
}

/// Returns `false` for a token without expiry.
fn is_half_over(claims: &Claims, now: u64) -> bool {
    let over = now.saturating_sub(claims.issued_at);
    claims.ttl != 0 && over >= u64::from(claims.ttl).div_ceil(2)
}

/// The id of a sealed token: 16 of its decoded bytes, so that another spelling of the text has the
/// same id; shown as hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub(crate) [u8; TOKEN_ID_LEN]);

impl TokenId {
    /// Returns the bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; TOKEN_ID_LEN] {
        &self.0
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}
