//! The principal of a request: the author's function, and ready-made ones.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::{Error, JwtClaims, Principal};
use serde_json::Value;

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
/// # Errors
///
/// [`Error::InvalidArgument`] without claims, `iss` or `sub`. The request is refused; it is never anonymous.
pub fn from_claims(context: &RequestContext<RoleServer>) -> Result<Principal, Error> {
    let claims = context
        .extensions
        .get::<http::request::Parts>()
        .and_then(|parts| parts.extensions.get::<VerifiedClaims>());
    let Some(VerifiedClaims(claims)) = claims else {
        return Err(Error::InvalidArgument(
            "expected sealwax_rmcp::VerifiedClaims in the HTTP request's extensions, put there by \
             what authenticates it"
                .into(),
        ));
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
    Principal::from_claims(&claims).map_err(|_| EXPECTED)
}

/// Returns the anonymous principal: everybody who has a token can use it.
#[must_use]
pub fn anonymous(_: &RequestContext<RoleServer>) -> Option<Principal> {
    Some(Principal::anonymous())
}

/// The return type of a function for the principal: a [`Principal`], or an `Option` or `Result` of one.
pub trait IntoPrincipal {
    /// Returns the principal.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if there is none.
    fn into_principal(self) -> Result<Principal, Error>;
}

impl IntoPrincipal for Principal {
    fn into_principal(self) -> Result<Principal, Error> {
        Ok(self)
    }
}

impl IntoPrincipal for Option<Principal> {
    fn into_principal(self) -> Result<Principal, Error> {
        self.ok_or(Error::InvalidArgument(
            "principal: the function returned none; for anonymous callers return Principal::anonymous()"
                .into(),
        ))
    }
}

/// The error's text may contain the rejected credential. It goes neither to the log nor to
/// [`on_refused`](crate::GuardBuilder::on_refused), unless it is a constant such as those of [`from_claims`].
impl<E: Any> IntoPrincipal for Result<Principal, E> {
    fn into_principal(self) -> Result<Principal, Error> {
        self.map_err(|error| {
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
