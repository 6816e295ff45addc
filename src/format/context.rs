//! The 32 bytes that name a request, the same from every language (SPEC.md, "Request context").

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use super::error::Error;
use super::pae::pae;
use super::{canonical, json, text};

/// Computes SHA-256 over method, target and the canonical form of the arguments, or of those in
/// `only`.
pub(crate) fn digest(
    method: &str,
    target: &str,
    arguments: &str,
    only: Option<&[&str]>,
) -> Result<[u8; 32], Error> {
    text::require("method", method)?;
    text::require("target", target)?;
    // Most clients send compact JSON, which is already canonical.
    let arguments = match only {
        None if canonical::is_canonical(arguments) => Cow::Borrowed(arguments.as_bytes()),
        _ => Cow::Owned(json::canonical(arguments, only)?),
    };
    let mut digest = Sha256::new();
    pae(
        &[method.as_bytes(), target.as_bytes(), &arguments],
        |bytes| digest.update(bytes),
    );
    Ok(digest.finalize().into())
}
