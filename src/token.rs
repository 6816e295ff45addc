//! Sealed tokens by their kind: fresh from sealing, and opened. They are different types, so that
//! nobody reads what was not opened, or takes a state for a cursor.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::DeserializeOwned;

use crate::Error;
use crate::format::sealed::{Claims, Contents, TOKEN_ID_LEN};

/// A sealed token of kind `K`, fresh from sealing: ASCII, fit for JSON, headers and URLs.
///
/// With the feature `serde` it is written as its text.
#[derive(Clone, PartialEq, Eq)]
pub struct Token<K> {
    sealed: Sealed,
    kind: PhantomData<K>,
}

/// The same for every kind.
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

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.sealed.text
    }

    /// The text, to keep.
    #[must_use]
    pub fn into_string(self) -> String {
        self.sealed.text
    }

    /// What a ledger of spent tokens will count by.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.sealed.id
    }

    /// When it was sealed, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.sealed.claims.issued_at
    }

    /// When its own lifetime ends, in Unix seconds; `None` for no expiry.
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

/// A token is worth what it carries, so logs get its length only.
impl<K> fmt::Debug for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} characters)", self.sealed.text.len())
    }
}

/// What an authentic token of kind `K` held, every check passed.
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

    /// The payload.
    #[must_use]
    pub fn payload(&self) -> &[u8] {
        &self.contents.payload
    }

    /// The payload, to keep.
    #[must_use]
    pub fn into_payload(self) -> Vec<u8> {
        self.contents.payload
    }

    /// The payload as JSON.
    ///
    /// # Errors
    ///
    /// [`Error::Malformed`] where it is not the JSON of a `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(self.payload())
            .map_err(|_| Error::Malformed("a payload that is JSON of the type asked for"))
    }

    /// When it was sealed, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.contents.claims.issued_at
    }

    /// When its own lifetime ends, in Unix seconds; `None` for no expiry.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.contents.claims.expires_at()
    }

    /// When its session began, in Unix seconds: kept across renewals.
    #[must_use]
    pub fn started_at(&self) -> u64 {
        self.contents.claims.started_at()
    }

    /// How often it was renewed; stops at its maximum.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.contents.claims.generation
    }

    /// What a ledger of spent tokens counts by.
    #[must_use]
    pub fn token_id(&self) -> TokenId {
        TokenId(self.contents.token_id)
    }

    /// Whether an older key made it, so that it should be sealed anew before that key goes.
    #[must_use]
    pub fn needs_reseal(&self) -> bool {
        self.contents.needs_reseal
    }

    /// Whether it is time to seal it anew though nothing was written: half of its life is over, or
    /// an older key made it.
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

/// Never, of what never expires.
fn is_half_over(claims: &Claims, now: u64) -> bool {
    let over = now.saturating_sub(claims.issued_at);
    claims.ttl != 0 && over >= u64::from(claims.ttl).div_ceil(2)
}

/// The identity of a sealed token: 16 bytes taken from what it decodes to, so that no other
/// spelling of it can pass for another token; shown as hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId(pub(crate) [u8; TOKEN_ID_LEN]);

impl TokenId {
    /// The bytes.
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
