//! Any JSON. It is read and written here alone: each type that serde_json reads, and each writer, is code of its own, which
//! counts in the WebAssembly module.

use serde_json::Value;

/// Reads any JSON.
#[inline(never)]
pub(crate) fn read(json: &str) -> Option<Value> {
    serde_json::from_slice(json.as_bytes()).ok()
}

/// Writes it without white space.
#[inline(never)]
pub(crate) fn written(value: &Value) -> String {
    // Texts, numbers, and lists and objects of them always serialize.
    serde_json::to_string(value).unwrap_or_default()
}
