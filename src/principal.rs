//! Who a token is for.

use alloc::string::String;

use crate::format::holder::{self, Tag};
use crate::format::text;
use crate::{Error, Key};

/// Who is authenticated: issuer, client and subject, or expressly nobody.
///
/// Take the parts from a verified credential, by one rule in every replica: of a JWT, `iss`,
/// `client_id` or `azp`, and `sub`. There is no default: a server without authentication says
/// [`anonymous`](Self::anonymous), and then whoever holds a token can use it.
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal(Option<Named>);

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Named {
    issuer: Option<String>,
    client: Option<String>,
    subject: Option<String>,
}

impl Principal {
    /// A user, by the subject of the credential.
    #[must_use]
    pub fn subject(subject: impl Into<String>) -> Self {
        Self::default_parts().with(|parts| parts.subject = Some(subject.into()))
    }

    /// A client that acts for no user.
    #[must_use]
    pub fn client(client: impl Into<String>) -> Self {
        Self::default_parts().with_client(client)
    }

    /// Nobody in particular: whoever holds the token can use it.
    #[must_use]
    pub fn anonymous() -> Self {
        Self(None)
    }

    /// The parts by name, for callers whose parts may be absent; an empty part is refused.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] without a client or a subject (an issuer alone would make one
    /// user of all its users), for an empty part, or for one over 1,024 bytes.
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

    /// The principal of a verified JWT, or of what introspection tells: `iss` and `sub`, which
    /// must be there, and `client_id`, or else `azp`, if it is. One rule, for the same user must be
    /// the same at every replica.
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
    /// [`Error::InvalidArgument`] where `iss` or `sub` is missing, and for a part that is empty or
    /// over 1,024 bytes.
    pub fn from_claims(claims: &JwtClaims<'_>) -> Result<Self, Error> {
        if claims.iss.is_none() || claims.sub.is_none() {
            return Err(Error::argument("claims: expected iss and sub"));
        }
        Self::from_parts(claims.iss, claims.client_id.or(claims.azp), claims.sub)
    }

    /// Issuer, client and subject; `None` of an anonymous principal.
    #[must_use]
    pub fn parts(&self) -> Option<PrincipalParts<'_>> {
        let parts = self.0.as_ref()?;
        Some(PrincipalParts {
            issuer: parts.issuer.as_deref(),
            client: parts.client.as_deref(),
            subject: parts.subject.as_deref(),
        })
    }

    /// The same principal, as this issuer names it.
    #[must_use]
    pub fn with_issuer(self, issuer: impl Into<String>) -> Self {
        self.with(|parts| parts.issuer = Some(issuer.into()))
    }

    /// The same principal, through this client.
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

    pub(crate) fn check(&self) -> Result<(), Error> {
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
                "principal: expected a subject or a client, or anonymous by name",
            ));
        }
        Ok(())
    }

    /// The tag that stands for this principal under `key`.
    pub(crate) fn tag(&self, key: &Key) -> Tag {
        let Some(parts) = &self.0 else {
            return holder::anonymous_tag(key);
        };
        let [issuer, client, subject] = [&parts.issuer, &parts.client, &parts.subject]
            .map(|part| part.as_deref().unwrap_or_default());
        holder::tag(key, issuer, client, subject)
    }
}

/// The parts of a [`Principal`], those that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PrincipalParts<'a> {
    /// Who vouches for the others.
    pub issuer: Option<&'a str>,
    /// The client.
    pub client: Option<&'a str>,
    /// The user.
    pub subject: Option<&'a str>,
}

/// What a verified credential says of its holder: the claims that [`Principal::from_claims`] goes by
/// (RFC 9068 §2.2; RFC 7662 §2.2; OpenID Connect Core §2). The caller has verified the credential's
/// signature, audience and expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JwtClaims<'a> {
    /// Who issued it.
    pub iss: Option<&'a str>,
    /// The user, or the client itself where it acts for none.
    pub sub: Option<&'a str>,
    /// The client.
    pub client_id: Option<&'a str>,
    /// The client, as OpenID Connect calls it.
    pub azp: Option<&'a str>,
}
