//! Sealed tokens by their kind: fresh from sealing, untrusted, and opened. They are different types,
//! so that nobody reads what was not opened, or takes a state for a cursor.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;

use crate::Error;
use crate::sealed::{Claims, Contents, TOKEN_ID_LEN};

/// The kinds of sealed tokens as types: the `K` of [`Sealer`](crate::Sealer), [`Token`] and [`Opened`].
pub mod kind {
    /// State of a data-layer session.
    #[derive(Clone, Copy, Debug)]
    pub enum State {}
    /// `requestState` of a multi-round-trip request.
    #[derive(Clone, Copy, Debug)]
    pub enum RequestState {}
    /// A self-contained session.
    #[derive(Clone, Copy, Debug)]
    pub enum Session {}
    /// A cursor of a list method.
    #[derive(Clone, Copy, Debug)]
    pub enum Cursor {}
    /// State in a handle.
    #[derive(Clone, Copy, Debug)]
    pub enum HandleState {}
    /// The application's own.
    #[derive(Clone, Copy, Debug)]
    pub enum Custom {}
    /// A kind known only at run time: for bindings and tools.
    #[derive(Clone, Copy, Debug)]
    pub enum Untyped {}
}

/// A sealed token of kind `K`, fresh from sealing: ASCII, fit for JSON, headers and URLs.
pub struct Token<K> {
    text: String,
    claims: Claims,
    id: TokenId,
    kind: PhantomData<K>,
}

impl<K> Token<K> {
    pub(crate) fn new(text: String, claims: Claims, token_id: [u8; TOKEN_ID_LEN]) -> Self {
        Self {
            text,
            claims,
            id: TokenId(token_id),
            kind: PhantomData,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text, to keep.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// What a ledger of spent tokens will count by.
    #[must_use]
    pub fn id(&self) -> TokenId {
        self.id
    }

    /// When it was sealed, in Unix seconds.
    #[must_use]
    pub fn issued_at(&self) -> u64 {
        self.claims.issued_at
    }

    /// When its own lifetime ends, in Unix seconds; `None` for no expiry.
    #[must_use]
    pub fn expires_at(&self) -> Option<u64> {
        self.claims.expires_at()
    }
}

impl<K> fmt::Display for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A token is worth what it carries, so logs get its length only.
impl<K> fmt::Debug for Token<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({} characters)", self.text.len())
    }
}

/// A text that claims to be a token of kind `K`. Only opening makes it more.
#[derive(Debug)]
pub struct Untrusted<'t, K> {
    text: &'t str,
    kind: PhantomData<K>,
}

impl<'t, K> Untrusted<'t, K> {
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }
}

impl<'t, K> From<&'t str> for Untrusted<'t, K> {
    fn from(text: &'t str) -> Self {
        Self {
            text,
            kind: PhantomData,
        }
    }
}

impl<'t, K> From<&'t String> for Untrusted<'t, K> {
    fn from(text: &'t String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'t, K> From<&'t Token<K>> for Untrusted<'t, K> {
    fn from(token: &'t Token<K>) -> Self {
        Self::from(token.as_str())
    }
}

/// What an authentic token of kind `K` held, every check passed.
pub struct Opened<K> {
    contents: Contents,
    kind: PhantomData<K>,
}

impl<K> Opened<K> {
    pub(crate) fn new(contents: Contents) -> Self {
        Self {
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
        self.contents.needs_renewal
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
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenId({self})")
    }
}
