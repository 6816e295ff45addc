//! The principal of a request: the author's function, and ready-made ones.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use http::header::AUTHORIZATION;
use http::request::Parts;
use rmcp::model::Extensions;
use sealwax::{Error, JwtClaims, Principal};
use serde_json::Value;

use crate::Context;

/// The claims of a verified access token, or of its introspection.
///
/// rmcp does not authenticate requests. Your authentication, a layer of axum or tower, puts the claims into the HTTP
/// request's extensions, where [`from_claims`] finds them.
///
/// ```
/// use sealwax_rmcp::VerifiedClaims;
///
/// let mut request = http::Request::new(());
/// let verified = serde_json::json!({ "iss": "https://idp.example.com", "sub": "alice" });
/// request.extensions_mut().insert(VerifiedClaims(verified));
/// ```
#[derive(Clone)]
#[expect(clippy::exhaustive_structs, reason = "a plain wrapper")]
pub struct VerifiedClaims(pub Value);

/// Claims are personal data, so logs get none.
impl fmt::Debug for VerifiedClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VerifiedClaims")
    }
}

/// Returns the principal of the [`VerifiedClaims`] in the HTTP request's extensions, by the rule of
/// [`Principal::from_claims`]: `iss` and `sub`, and `client_id`, or else `azp`, if there is one.
///
/// Without claims there is none: the request is refused as unauthenticated, and never anonymous.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for claims without `iss` or `sub`.
pub fn from_claims(context: &Context) -> Result<Option<Principal>, Error> {
    let Some(VerifiedClaims(claims)) = claims(context) else {
        return Ok(None);
    };
    const EXPECTED: Error = Error::InvalidArgument(Cow::Borrowed(
        "claims: expected iss and sub, and client_id or azp if there is one, as texts of 1 to 1,024 \
         bytes",
    ));
    let part = |name| match claims.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(part)) => Ok(Some(part.as_str())),
        Some(_) => Err(EXPECTED),
    };
    let claims = JwtClaims {
        iss: part("iss")?,
        sub: part("sub")?,
        client_id: part("client_id")?,
        azp: part("azp")?,
    };
    let found = Principal::from_claims(&claims);
    found.map(Some).map_err(|_| EXPECTED)
}

fn claims(context: &Context) -> Option<&VerifiedClaims> {
    parts(&context.extensions)?.extensions.get()
}

/// Returns the HTTP request of a message; `None` of one on stdio.
pub(crate) fn parts(extensions: &Extensions) -> Option<&Parts> {
    extensions.get()
}

/// Returns what of a request tells that somebody is signed in. rmcp has no type for that, so these are the signs that an
/// adapter can see: [`VerifiedClaims`], and the header of an access token.
pub(crate) fn signed_in(context: &Context) -> Option<&'static str> {
    if claims(context).is_some() {
        return Some("VerifiedClaims");
    }
    let headers = &parts(&context.extensions)?.headers;
    let has_token = headers.contains_key(AUTHORIZATION);
    has_token.then_some("an Authorization header")
}

/// Returns the anonymous principal: everybody who has a token can use it.
#[must_use]
pub fn anonymous(_: &Context) -> Option<Principal> {
    Some(Principal::anonymous())
}

/// The return type of a function for the principal: a [`Principal`], an `Option` or a `Result` of one, or both.
pub trait IntoPrincipal {
    /// Returns the principal; `None` if the caller is not authenticated.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if it could not be found out.
    fn into_principal(self) -> Result<Option<Principal>, Error>;
}

impl IntoPrincipal for Principal {
    fn into_principal(self) -> Result<Option<Principal>, Error> {
        Ok(Some(self))
    }
}

impl IntoPrincipal for Option<Principal> {
    fn into_principal(self) -> Result<Option<Principal>, Error> {
        Ok(self)
    }
}

/// The error's text may contain the rejected credential. It goes neither to the log nor to
/// [`on_refused`](crate::GuardBuilder::on_refused), unless it is a constant such as those of [`from_claims`].
impl<P: Into<Option<Principal>>, E: Any> IntoPrincipal for Result<P, E> {
    fn into_principal(self) -> Result<Option<Principal>, Error> {
        self.map(Into::into).map_err(|error| {
            let constant = match (&error as &dyn Any).downcast_ref() {
                Some(Error::InvalidArgument(Cow::Borrowed(text))) => Some(text),
                _ => None,
            };
            let why =
                constant.unwrap_or(&"the function returned an error, whose text is not shown");
            Error::InvalidArgument(format!("principal: {why}").into())
        })
    }
}
