//! Handles, minted or verified.

use std::fmt;
use std::time::Duration;

use crate::format::handle;
use crate::format::ulid::Ulid;
use crate::{Error, RequestContext, View};

/// A handle that this service issued to this principal: minted, or verified.
///
/// The type, an underscore and 42 characters. One wrong, missing or swapped character makes it
/// invalid, so a model that misremembers it gets an error, never another user's data.
#[derive(Clone, PartialEq, Eq)]
pub struct Handle {
    text: String,
    ulid: Ulid,
    needs_reseal: bool,
}

impl View {
    /// Mints a handle of type `handle_type`: a small letter, then up to 31 small letters or digits.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an invalid type, or one of `sess`, `sw1`, `swk1` and `yes`;
    /// [`Error::EntropyUnavailable`].
    pub fn mint_handle(&self, handle_type: &str) -> Result<Handle, Error> {
        handle::check_type(handle_type)?;
        self.mint(handle_type, None)
    }

    fn mint(&self, handle_type: &str, bound: handle::Bound<'_>) -> Result<Handle, Error> {
        let codec = self.codec();
        let ulid = Ulid::new(codec.clock().now_ms, codec.draw()?);
        Ok(Handle {
            text: handle::mint(self.principal_keys(), handle_type, ulid, bound),
            ulid,
            needs_reseal: false,
        })
    }

    /// Returns the short handle of a number of the principal's, such as the key of a row among the principal's own:
    /// `basket_7_` and 8 characters. It is the same each time, and has no end.
    ///
    /// ```
    /// # use sealwax::{Codec, Error, Key, KeyRing, Principal};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let view = codec.view(&Principal::subject("alice"))?;
    /// let handle = view.mint_short_handle("basket", 7)?;
    /// assert_eq!(view.verify_short_handle("basket", &handle), Ok(7));
    /// let bob = codec.view(&Principal::subject("bob"))?;
    /// assert_eq!(bob.verify_short_handle("basket", &handle), Err(Error::Unauthentic));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an invalid type.
    pub fn mint_short_handle(&self, handle_type: &str, number: u32) -> Result<String, Error> {
        handle::check_type(handle_type)?;
        Ok(handle::mint_short(
            self.principal_keys(),
            handle_type,
            number,
        ))
    }

    /// Verifies a short handle, and returns its number.
    ///
    /// # Errors
    ///
    /// As [`verify_handle`](Self::verify_handle).
    pub fn verify_short_handle(&self, handle_type: &str, text: &str) -> Result<u32, Error> {
        handle::check_type(handle_type)?;
        handle::verify_short(self.principal_keys(), handle_type, text)
    }

    /// Mints a consent: `yes_` and 42 characters, which its holder sends with the one request that it is bound to (SPEC.md,
    /// "Handle").
    ///
    /// ```
    /// # use sealwax::{Codec, Error, Key, KeyRing, Principal, RequestContext};
    /// # use std::time::Duration;
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let view = codec.view(&Principal::subject("alice"))?;
    /// let asked = RequestContext::new("tools/call", "delete_note", Some(r#"{"id": 7}"#))?;
    /// let consent = view.mint_consent(&asked)?;
    /// let within = Duration::from_secs(600);
    /// assert!(view.verify_consent(&asked, consent.as_str(), within).is_ok());
    /// let other = RequestContext::new("tools/call", "delete_note", Some(r#"{"id": 8}"#))?;
    /// assert_eq!(view.verify_consent(&other, consent.as_str(), within), Err(Error::Unauthentic));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EntropyUnavailable`].
    pub fn mint_consent(&self, request: &RequestContext) -> Result<Handle, Error> {
        self.mint(handle::CONSENT, Some(request.as_bytes()))
    }

    /// Verifies a consent; one that was made more than `max_age` ago has expired.
    ///
    /// # Errors
    ///
    /// As [`verify_handle`](Self::verify_handle).
    pub fn verify_consent(
        &self,
        request: &RequestContext,
        text: &str,
        max_age: Duration,
    ) -> Result<Handle, Error> {
        self.verify(
            handle::CONSENT,
            text,
            Some(max_age),
            Some(request.as_bytes()),
        )
    }

    /// Verifies a handle of type `handle_type`. With `max_age`, a handle made longer ago has
    /// expired.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an invalid type; then every refusal of [`Error`] but
    /// [`Error::UnknownKey`] and [`Error::PrincipalMismatch`], which cannot be told from
    /// [`Error::Unauthentic`] for a handle, in the order of SPEC.md, "Opening".
    pub fn verify_handle(
        &self,
        handle_type: &str,
        text: &str,
        max_age: Option<Duration>,
    ) -> Result<Handle, Error> {
        handle::check_type(handle_type)?;
        self.verify(handle_type, text, max_age, None)
    }

    fn verify(
        &self,
        handle_type: &str,
        text: &str,
        max_age: Option<Duration>,
        bound: handle::Bound<'_>,
    ) -> Result<Handle, Error> {
        let max_age = max_age.map(|age| age.as_secs());
        let clock = self.codec().clock();
        let (ulid, at) = handle::verify(
            self.principal_keys(),
            handle_type,
            text,
            &clock,
            max_age,
            bound,
        )?;
        Ok(Handle {
            text: text.into(),
            ulid,
            needs_reseal: at > 0,
        })
    }
}

impl Handle {
    /// Checks a type, as minting does: a small letter, then up to 31 small letters or digits.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an invalid type, or one of `sess`, `sw1`, `swk1` and `yes`.
    pub fn check_type(handle_type: &str) -> Result<(), Error> {
        handle::check_type(handle_type)
    }

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

    /// Returns the 16 bytes that make it unique: the key of its row in a server's store.
    #[must_use]
    pub fn ulid(&self) -> &[u8; 16] {
        &self.ulid.0
    }

    /// Returns whether an older key made it; retiring that key ends the handle.
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

/// Shows the ulid, which is safe to log: it is not the handle.
impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({:032x})", u128::from_be_bytes(self.ulid.0))
    }
}
