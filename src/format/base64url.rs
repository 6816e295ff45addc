//! base64url without padding, in its canonical spelling, by one of two libraries.
//!
//! `base64` is the default; `base64-simd` (feature `simd`) takes a quarter of its time (benches/).

#[cfg(not(feature = "simd"))]
use base64::prelude::{BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD, Engine as _};
#[cfg(feature = "simd")]
use base64_simd::{AsOut as _, URL_SAFE_NO_PAD};

/// Appends; a text with enough capacity is not reallocated, so no copy is left behind.
pub(crate) fn append(bytes: &[u8], text: &mut String) {
    #[cfg(feature = "simd")]
    URL_SAFE_NO_PAD.encode_append(bytes, text);
    #[cfg(not(feature = "simd"))]
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    #[cfg(feature = "simd")]
    return URL_SAFE_NO_PAD.decode_to_vec(text).ok();
    #[cfg(not(feature = "simd"))]
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Decodes a text into exactly as many bytes; returns whether it is valid.
#[cfg(feature = "simd")]
pub(crate) fn decode_into(text: &str, bytes: &mut [u8]) -> bool {
    let text = text.as_bytes();
    URL_SAFE_NO_PAD
        .decoded_length(text)
        .is_ok_and(|found| found == bytes.len())
        && URL_SAFE_NO_PAD.decode(text, bytes.as_out()).is_ok()
}

#[cfg(not(feature = "simd"))]
pub(crate) fn decode_into(text: &str, bytes: &mut [u8]) -> bool {
    let expected = bytes.len();
    URL_SAFE_NO_PAD
        .decode_slice(text, bytes)
        .is_ok_and(|found| found == expected)
}
