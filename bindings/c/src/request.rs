//! The request that comes in, and the one answer to what is refused in it.

use std::ffi::c_char;

use sealwax_core::{Profile, RequestContext};

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Buffer, Slot};
use crate::status::{SEALWAX_OK, Status, sealwax_is_refusal};

/// Gives the 32 bytes that name a request: a method, its target (the `name` of tools/call and
/// prompts/get, the `uri` of resources/read) and its arguments as JSON, as they came.
///
/// Arguments that are NULL, empty or `null` are absent, which is not the same as `{}`. To bind to
/// a few of them, pass an object of those.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a method or target that is empty or over 1,024 bytes,
/// and for arguments that are not the same in every language: a number of magnitude 2^53 or more,
/// a key twice in an object, a lone surrogate, more than 100 levels, or no JSON at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_request_context(
    method: *const c_char,
    method_len: usize,
    target: *const c_char,
    target_len: usize,
    arguments: *const c_char,
    arguments_len: usize,
    context: *mut [u8; 32],
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let method = input::text("method", method, method_len)?;
            let target = input::text("target", target, target_len)?;
            let arguments = input::optional_text("arguments", arguments, arguments_len)?;
            let context = Slot::new("context", context)?;
            context.write(*RequestContext::new(method, target, arguments)?.as_bytes());
            Ok(())
        })
    }
}

/// Gives what to send to the client, as JSON: `{"error": ...}` with a JSON-RPC error object,
/// `{"httpStatus": ...}`, or `{"toolResult": ...}`.
///
/// `profile` is the part of the protocol: sep-1359, data-layer, data-layer-required,
/// request-state, cursor, mcp-session-id or handle. `status` is why a call failed. Every refusal
/// has the profile's one answer, so that nobody can use the server to learn which check failed,
/// and so has SEALWAX_OK, for what the server itself refuses; any other status is an internal
/// error. `session_id` is what the client sent, or NULL: it is echoed only where the profile does
/// so, and only if it is well formed.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for another profile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_answer(
    profile: *const c_char,
    profile_len: usize,
    status: Status,
    session_id: *const c_char,
    session_id_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let profile: Profile = input::text("profile", profile, profile_len)?.parse()?;
            let session_id = input::slice("session_id", session_id.cast(), session_id_len)?;
            let out = Buffer::text(out, cap, len)?;
            let answer = if status == SEALWAX_OK || sealwax_is_refusal(status) {
                profile.refusal(str::from_utf8(session_id).ok())
            } else {
                profile.internal_error()
            };
            out.write(answer.to_json().as_bytes())
        })
    }
}
