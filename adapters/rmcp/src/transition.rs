//! A `requestState` from before the guard, which another codec made.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sealwax_mcp::{Failed, Foreign};

use crate::Context;
use crate::accept::BoxError;
use crate::refusal::said;

/// A `requestState` that is no sealed token, and its request.
#[derive(Debug)]
#[non_exhaustive]
pub struct Transitional<'a> {
    /// The text that the client sent.
    pub token: &'a str,
    /// The method.
    pub method: &'a str,
    /// The tool, the prompt or the resource.
    pub target: Option<&'a str>,
    /// The arguments as JSON.
    pub arguments: Option<&'a str>,
    /// The request's context.
    pub context: &'a Context,
}

/// Verifies such a token, and returns the text that was sealed; `None` refuses it.
pub(crate) type Open = dyn Fn(&Transitional<'_>) -> Result<Option<String>, BoxError> + Send + Sync;

/// Asks the author's opener.
pub(crate) fn opened(
    open: Option<&Open>,
    token: &Transitional<'_>,
) -> Result<Option<Foreign>, Failed> {
    let Some(open) = open else {
        // The engine asks only a guard that has one.
        return Ok(None);
    };
    let payload = match catch_unwind(AssertUnwindSafe(|| open(token))) {
        Ok(Ok(payload)) => payload,
        Ok(Err(error)) => return Err(Failed(format!("transition: {}", said(error)))),
        Err(_) => return Err(Failed("transition: the function panicked".into())),
    };
    Ok(payload.map(|payload| Foreign {
        payload,
        issued_at: None,
    }))
}

/// Returns the opener of [`GuardBuilder::transition`](crate::GuardBuilder::transition) for the tokens of rmcp's
/// [`RequestStateCodec`](rmcp::model::RequestStateCodec). `associated_data` returns what they are bound to, as the
/// server's handlers computed it.
///
/// ```
/// # use sealwax::{Codec, Key, KeyRing};
/// use rmcp::model::RequestStateCodec;
/// use sealwax_rmcp::{Guard, anonymous, opener_of};
/// use std::time::{Duration, UNIX_EPOCH};
///
/// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
/// let before = RequestStateCodec::try_new(b"the key that the server had until now").unwrap();
/// let open = opener_of(before, |request| request.method.as_bytes().to_vec());
/// let until = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let guard = Guard::builder(codec, anonymous).transition(until, open).build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[cfg(feature = "request-state")]
pub fn opener_of(
    codec: rmcp::model::RequestStateCodec,
    associated_data: impl Fn(&Transitional<'_>) -> Vec<u8> + Send + Sync + 'static,
) -> impl Fn(&Transitional<'_>) -> Result<Option<String>, BoxError> + Send + Sync + 'static {
    move |request| {
        let opened = codec.open_with(request.token, &associated_data(request));
        Ok(opened
            .ok()
            .and_then(|payload| String::from_utf8(payload).ok()))
    }
}
