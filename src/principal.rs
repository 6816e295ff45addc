//! The principal of a token.

use crate::format::principal_keys::{self, Tag};
use crate::format::text;
use crate::{Error, Key};

/// An authenticated caller: issuer, client and subject, or explicitly anonymous.
///
/// Take the parts from a verified credential, by the same rule in every replica: from a JWT, `iss`,
/// `client_id` or `azp`, and `sub`. There is no default: a server without authentication uses
/// [`anonymous`](Self::anonymous), and then anyone who holds a token can use it.
///
/// ```
/// use sealwax::Principal;
///
/// let alice = Principal::subject("alice")
///     .with_issuer("https://idp.example.com")
///     .with_client("cli-7");
/// let service = Principal::client("svc-42");
/// assert_ne!(alice, service);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Principal(Option<Named>);

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Named {
    issuer: Option<String>,
    client: Option<String>,
    subject: Option<String>,
}

impl Principal {
    /// Returns a user, by the subject of the credential.
    #[must_use]
    pub fn subject(subject: impl Into<String>) -> Self {
        Self::default_parts().with(|parts| parts.subject = Some(subject.into()))
    }

    /// Returns a client that acts for no user.
    #[must_use]
    pub fn client(client: impl Into<String>) -> Self {
        Self::default_parts().with_client(client)
    }

    /// Returns the anonymous principal: anyone who holds the token can use it.
    #[must_use]
    pub fn anonymous() -> Self {
        Self(None)
    }

    /// Returns the principal of these parts, for callers whose parts may be absent.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a client or a subject (all users of an issuer would share
    /// one principal), for an empty part, or for one over 1,024 bytes.
    pub fn from_parts(
        issuer: Option<&str>,
        client: Option<&str>,
        subject: Option<&str>,
    ) -> Result<Self, Error> {
        let principal = Self(Some(Named {
            issuer: issuer.map(Into::into),
            client: client.map(Into::into),
            subject: subject.map(Into::into),
        }));
        principal.check()?;
        Ok(principal)
    }

    /// Returns the principal of a verified JWT or of an introspection response: `iss` and `sub`,
    /// which are required, and `client_id`, or else `azp`, if present. Every replica must use this
    /// one rule, so that a user is the same at each.
    ///
    /// ```
    /// use sealwax::{JwtClaims, Principal};
    ///
    /// let claims = JwtClaims {
    ///     iss: Some("https://idp.example.com"),
    ///     sub: Some("alice"),
    ///     azp: Some("cli-7"),
    ///     ..JwtClaims::default()
    /// };
    /// let alice = Principal::subject("alice")
    ///     .with_issuer("https://idp.example.com")
    ///     .with_client("cli-7");
    /// assert_eq!(Principal::from_claims(&claims)?, alice);
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if `iss` or `sub` is missing, and for a part that is empty or
    /// over 1,024 bytes.
    pub fn from_claims(claims: &JwtClaims<'_>) -> Result<Self, Error> {
        if claims.iss.is_none() || claims.sub.is_none() {
            return Err(Error::argument(
                "claims: expected iss and sub, found one or neither",
            ));
        }
        Self::from_parts(claims.iss, claims.client_id.or(claims.azp), claims.sub)
    }

    /// Returns issuer, client and subject; `None` for an anonymous principal.
    #[must_use]
    pub fn parts(&self) -> Option<PrincipalParts<'_>> {
        let parts = self.0.as_ref()?;
        Some(PrincipalParts {
            issuer: parts.issuer.as_deref(),
            client: parts.client.as_deref(),
            subject: parts.subject.as_deref(),
        })
    }

    /// Sets the issuer.
    #[must_use]
    pub fn with_issuer(self, issuer: impl Into<String>) -> Self {
        self.with(|parts| parts.issuer = Some(issuer.into()))
    }

    /// Sets the client.
    #[must_use]
    pub fn with_client(self, client: impl Into<String>) -> Self {
        self.with(|parts| parts.client = Some(client.into()))
    }

    fn default_parts() -> Self {
        Self(Some(Named::default()))
    }

    /// Anonymous with a part is a contradiction; the empty subject makes `check` refuse it.
    fn with(self, set: impl FnOnce(&mut Named)) -> Self {
        let mut parts = self.0.unwrap_or(Named {
            subject: Some(String::new()),
            ..Named::default()
        });
        set(&mut parts);
        Self(Some(parts))
    }

    /// Checks that it names a client or a subject, or is expressly anonymous.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for an issuer alone, and for a part that is empty or over 1,024
    /// bytes.
    pub fn check(&self) -> Result<(), Error> {
        let Some(parts) = &self.0 else { return Ok(()) };
        let named = [
            ("issuer", &parts.issuer),
            ("client", &parts.client),
            ("subject", &parts.subject),
        ];
        for (field, part) in named {
            if let Some(part) = part {
                text::require(field, part)?;
            }
        }
        if parts.client.is_none() && parts.subject.is_none() {
            return Err(Error::argument(
                "principal: expected a subject or a client; for anonymous, say so by name",
            ));
        }
        Ok(())
    }

    /// Computes the tag of this principal under `key`.
    pub(crate) fn tag(&self, key: &Key) -> Tag {
        let Some(parts) = &self.0 else {
            return principal_keys::anonymous_tag(key);
        };
        let [issuer, client, subject] = [&parts.issuer, &parts.client, &parts.subject]
            .map(|part| part.as_deref().unwrap_or_default());
        principal_keys::tag(key, issuer, client, subject)
    }
}

/// The parts of a [`Principal`] that are present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrincipalParts<'a> {
    /// The issuer of the credential.
    pub issuer: Option<&'a str>,
    /// The client.
    pub client: Option<&'a str>,
    /// The user.
    pub subject: Option<&'a str>,
}

/// The claims of a verified credential, for [`Principal::from_claims`] (RFC 9068 §2.2; RFC 7662
/// §2.2; OpenID Connect Core §2). The caller has verified the credential's signature, audience and
/// expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JwtClaims<'a> {
    /// The issuer.
    pub iss: Option<&'a str>,
    /// The user, or the client if it acts for no user.
    pub sub: Option<&'a str>,
    /// The client.
    pub client_id: Option<&'a str>,
    /// The client, under its name in OpenID Connect.
    pub azp: Option<&'a str>,
}
