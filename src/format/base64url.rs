//! base64url without padding, in its one spelling, by one of two libraries.
//!
//! `base64` is the default; `base64-simd` (feature `simd`) takes a quarter of its time (benches/).

use alloc::string::String;
use alloc::vec::Vec;

#[cfg(feature = "simd")]
pub(crate) fn append(bytes: &[u8], text: &mut String) {
    base64_simd::URL_SAFE_NO_PAD.encode_append(bytes, text);
}

#[cfg(feature = "simd")]
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).ok()
}

#[cfg(not(feature = "simd"))]
pub(crate) fn append(bytes: &[u8], text: &mut String) {
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
    BASE64_URL_SAFE_NO_PAD.encode_string(bytes, text);
}

#[cfg(not(feature = "simd"))]
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
    BASE64_URL_SAFE_NO_PAD.decode(text).ok()
}
