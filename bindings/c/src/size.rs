//! The largest sizes of results.
#![allow(dead_code, reason = "the constants are for the header")]

use crate::codec::Codec;

/// The size of a key's text.
pub const SEALWAX_KEY_TEXT_LEN: usize = 53;
/// The largest size of a ring's ids.
pub const SEALWAX_RING_IDS_MAX: usize = 64;
/// The size of a session id.
pub const SEALWAX_SESSION_ID_LEN: usize = 64;
/// The largest size of a handle.
pub const SEALWAX_HANDLE_MAX: usize = 75;
/// The largest size of an answer.
pub const SEALWAX_ANSWER_MAX: usize = 4096;
/// The largest size of a method's token fields.
pub const SEALWAX_TOKEN_FIELDS_MAX: usize = 256;
/// The largest size of a principal: three texts of 1,024 bytes, fully escaped.
pub const SEALWAX_PRINCIPAL_MAX: usize = 20480;
/// The largest size of a report on a text, in words or as JSON.
pub const SEALWAX_REPORT_MAX: usize = 512;

/// Returns the largest size of a token of this codec, computed from its payload limit: enough for
/// sealwax_seal and sealwax_renew. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_token_limit(codec: *const Codec) -> usize {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { codec.as_ref() }.map_or(0, |codec| codec.0.token_limit())
}

/// Returns the largest size of session metadata of this codec: enough for sealwax_session_create,
/// _renew and _fork. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_metadata_limit(codec: *const Codec) -> usize {
    // The names of the members take 44 bytes, the id 64, and the longest time 20.
    const BESIDE_THE_STATE: usize = 128;
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { codec.as_ref() }.map_or(0, |codec| BESIDE_THE_STATE + codec.0.token_limit())
}
