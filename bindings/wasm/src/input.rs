//! Reads values from JavaScript: numbers, and strings and bytes of any length.

use sealwax::Error;
use wasm_bindgen::prelude::*;

use crate::error::Result;

/// One more than the largest text or payload that the core accepts.
pub const MOST: u32 = (2 << 20) + 1;

#[wasm_bindgen(raw_module = "./input.js")]
extern "C" {
    /// `pkg/src/input.ts`
    #[wasm_bindgen(js_name = encodeInto)]
    fn encode_into(text: &Text, memory: &mut [u8]) -> u32;
    #[wasm_bindgen(js_name = copyInto)]
    fn copy_into(bytes: &Bytes, memory: &mut [u8]);
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = String, typescript_type = "string")]
    pub type Text;
    #[wasm_bindgen(method, getter)]
    pub fn length(this: &Text) -> u32;
    #[wasm_bindgen(method)]
    fn slice(this: &Text, start: u32, end: u32) -> String;

    #[wasm_bindgen(js_name = Uint8Array, typescript_type = "Uint8Array")]
    pub type Bytes;
    #[wasm_bindgen(method, getter)]
    fn length(this: &Bytes) -> u32;
}

/// Reads a text, cut where the core refuses it as too large: WebAssembly memory never shrinks, so a
/// client must not make it grow.
pub fn cut(text: &Text) -> String {
    // ASCII, as every token is, takes one call and no guess at its size. The glue would copy it
    // character by character: 2.3 µs for the token of 1 KiB, instead of 0.1.
    let length = text.length().min(MOST);
    let mut ascii = vec![0; length as usize];
    if encode_into(text, &mut ascii) == length
        && let Ok(ascii) = String::from_utf8(ascii)
    {
        return ascii;
    }
    text.slice(0, MOST)
}

/// Passes a received text to the core.
pub fn text<T>(
    text: &Text,
    read: impl FnOnce(&str) -> core::result::Result<T, Error>,
) -> Result<T> {
    read(&cut(text)).map_err(|error| as_found(error, text.length()).into())
}

/// Passes a payload to the core.
pub fn bytes<T>(
    bytes: &Bytes,
    read: impl FnOnce(&[u8]) -> core::result::Result<T, Error>,
) -> Result<T> {
    let length = bytes.length();
    let mut cut = vec![0; length.min(MOST) as usize];
    copy_into(bytes, &mut cut);
    read(&cut).map_err(|error| as_found(error, length).into())
}

/// Reports a cut value by its whole length.
pub fn as_found(error: Error, length: u32) -> Error {
    match error {
        Error::TooLarge { what, limit, .. } if length > MOST => Error::TooLarge {
            what,
            found: length as usize,
            limit,
        },
        error => error,
    }
}

/// Reads a number that TypeScript has checked to be whole and not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole, not negative and below 2^53"
)]
pub fn whole(number: f64) -> u64 {
    number as u64
}

/// Reads a size; one beyond this memory becomes the largest, which the core refuses.
pub fn size(number: f64) -> usize {
    usize::try_from(whole(number)).unwrap_or(usize::MAX)
}

/// Reads seconds.
pub fn seconds(number: f64) -> std::time::Duration {
    std::time::Duration::from_secs(whole(number))
}
