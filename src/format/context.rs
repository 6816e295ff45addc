//! The 32 bytes that name a request, the same from every language (SPEC.md, "Request context").

use sha2::{Digest as _, Sha256};

use super::error::Error;
use super::pae::pae;
use super::{canonical, text};

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
    let arguments = canonical::canonical(arguments, only)?;
    let mut digest = Sha256::new();
    pae(
        &[method.as_bytes(), target.as_bytes(), &arguments],
        |bytes| digest.update(bytes),
    );
    Ok(digest.finalize().into())
}
