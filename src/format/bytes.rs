//! Fixed-size pieces of byte strings that are known to be long enough.

/// Returns the first `N` bytes.
pub(crate) fn leading<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}
