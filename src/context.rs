//! The request that a `requestState` belongs to, as 32 bytes that are the same from every
//! language (SPEC.md, "Request context").

use core::fmt;

use crate::Error;
use crate::format::bytes::leading;

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

    /// The context of the request `method` on `target`: the `name` of `tools/call` and
    /// `prompts/get`, the `uri` of `resources/read`.
    ///
    /// `arguments` is their JSON text, as it came; absent or `null` is not the same as `{}`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a method or target that is empty or over 1,024 bytes, and
    /// for arguments that are not the same in every language: a number of magnitude 2⁵³ or more,
    /// a key twice in an object, a lone surrogate, more than 100 levels, a text, a number or a
    /// boolean instead of an object, or no JSON at all.
    #[cfg(feature = "jcs")]
    pub fn new(method: &str, target: &str, arguments: Option<&str>) -> Result<Self, Error> {
        Self::digest(method, target, arguments, None)
    }

    /// The context of a request by the named ones of its arguments: those that decide what is
    /// done. The others may differ from one round to the next, and are not judged.
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
    /// As [`new`](Self::new), and [`Error::InvalidArgument`] where the arguments have none of the
    /// names: a misspelt one must not leave a token unbound.
    #[cfg(feature = "jcs")]
    pub fn only(
        method: &str,
        target: &str,
        arguments: Option<&str>,
        names: &[&str],
    ) -> Result<Self, Error> {
        Self::digest(method, target, arguments, Some(names))
    }

    #[cfg(feature = "jcs")]
    fn digest(
        method: &str,
        target: &str,
        arguments: Option<&str>,
        only: Option<&[&str]>,
    ) -> Result<Self, Error> {
        let arguments = arguments.unwrap_or_default();
        crate::format::context::digest(method, target, arguments, only).map(Self)
    }

    /// The context as [`as_bytes`](Self::as_bytes) gave it.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for another length than 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != Self::LEN {
            return Err(Error::argument("context: expected 32 bytes"));
        }
        Ok(Self(leading(bytes)))
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
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
