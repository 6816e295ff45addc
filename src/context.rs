//! The context of a `requestState`: 32 bytes that name its request, the same from every language
//! (SPEC.md, "Request context").

use std::fmt;

use crate::Error;
use crate::format::bytes::leading;
use crate::format::canonical::canonical;

/// The digest of a request's method, target and arguments.
///
/// ```
/// use sealwax::RequestContext;
///
/// let asked = RequestContext::new("tools/call", "delete_note", Some(r#"{"id": 7}"#))?;
/// let retried = RequestContext::new("tools/call", "delete_note", Some(r#"{"id":7.0}"#))?;
/// let another = RequestContext::new("tools/call", "delete_note", Some(r#"{"id": 8}"#))?;
/// assert_eq!(asked, retried);
/// assert_ne!(asked, another);
/// # Ok::<(), sealwax::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestContext([u8; Self::LEN]);

impl RequestContext {
    /// The length in bytes.
    pub const LEN: usize = 32;

    /// Computes the context of the request `method` on `target`: the `name` of `tools/call` and
    /// `prompts/get`, the `uri` of `resources/read`.
    ///
    /// `arguments` is the JSON text as received; absent or `null` differs from `{}`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a method or target that is empty or over 1,024 bytes, and for
    /// arguments that languages read differently: a number of magnitude 2⁵³ or more, a duplicate
    /// key in an object, a lone surrogate, more than 100 levels, a text, a number or a boolean
    /// instead of an object, or invalid JSON.
    pub fn new(method: &str, target: &str, arguments: Option<&str>) -> Result<Self, Error> {
        Self::digest(method, target, arguments, None)
    }

    /// Computes the context of a request from the named arguments: those that decide what the
    /// request does. The others may change from one round to the next, and are not checked.
    ///
    /// ```
    /// use sealwax::RequestContext;
    ///
    /// let of = |arguments| RequestContext::only("tools/call", "delete_note", Some(arguments), &["id"]);
    /// assert_eq!(of(r#"{"id":7,"trace":"a"}"#)?, of(r#"{"id":7}"#)?);
    /// assert_ne!(of(r#"{"id":7}"#)?, of(r#"{"id":8}"#)?);
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and [`Error::InvalidArgument`] if the arguments have none of the
    /// names: a misspelt name must not leave a token unbound.
    pub fn only(
        method: &str,
        target: &str,
        arguments: Option<&str>,
        names: &[&str],
    ) -> Result<Self, Error> {
        Self::digest(method, target, arguments, Some(names))
    }

    fn digest(
        method: &str,
        target: &str,
        arguments: Option<&str>,
        only: Option<&[&str]>,
    ) -> Result<Self, Error> {
        let arguments = arguments.unwrap_or_default();
        crate::format::context::digest(method, target, arguments, only).map(Self)
    }

    /// Reads the context that [`as_bytes`](Self::as_bytes) returned.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] if `bytes` is not 32 bytes long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != Self::LEN {
            let found = bytes.len();
            return Err(Error::argument(format!(
                "context: expected 32 bytes, found {found}"
            )));
        }
        Ok(Self(leading(bytes)))
    }

    /// Returns the 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

/// Returns a JSON object or array in its canonical form (RFC 8785), as a context binds it.
///
/// ```
/// let canonical = sealwax::canonical_json(r#"{"b": [1.0], "a": "\u0041"}"#)?;
/// assert_eq!(canonical, r#"{"a":"A","b":[1]}"#);
/// # Ok::<(), sealwax::Error>(())
/// ```
///
/// # Errors
///
/// As [`RequestContext::new`].
pub fn canonical_json(text: &str) -> Result<String, Error> {
    let canonical = canonical(text, None)?.into_owned();
    String::from_utf8(canonical).map_err(|_| Error::Malformed("UTF-8"))
}

impl fmt::Display for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.0.iter();
        bytes.try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestContext({self})")
    }
}
