//! The request, its caller, and the answer to a refusal.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use sealwax_core::{Error, JwtClaims, Principal, RequestContext};
use sealwax_mcp::{Profile, TokenFields};
use serde::Deserialize;
use serde_json::json;

use crate::call::{ErrorReport, Failure, call};
use crate::input;
use crate::output::{Buffer, Slot};
use crate::status::{SEALWAX_OK, Status, sealwax_is_refusal};

/// Computes the 32 bytes that name a request, from a method, its target (the `name` of tools/call
/// and prompts/get, the `uri` of resources/read) and its arguments as JSON, as received.
///
/// Arguments that are NULL, empty or `null` are absent, which differs from `{}`.
/// sealwax_request_context_only binds to a few of them.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a method or target that is empty or over 1,024 bytes,
/// and for arguments that languages read differently: a number of magnitude 2^53 or more, a
/// duplicate key in an object, a lone surrogate, more than 100 levels, or invalid JSON.
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
    call(error, || {
        let method = input::text("method", method, method_len)?;
        let target = input::text("target", target, target_len)?;
        let arguments = input::optional_text("arguments", arguments, arguments_len)?;
        let context = Slot::new("context", context)?;
        context.write(*RequestContext::new(method, target, arguments)?.as_bytes());
        Ok(())
    })
}

/// Computes the 32 bytes that name a request, from some of its arguments: those that decide what
/// the request does.
///
/// `names` are `names_count` texts with a NUL at the end. The other arguments may change from one
/// round to the next, and are not checked.
///
/// Fails as sealwax_request_context does, and with SEALWAX_INVALID_ARGUMENT if the arguments have
/// none of the names: a misspelt name must not leave a token unbound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_request_context_only(
    method: *const c_char,
    method_len: usize,
    target: *const c_char,
    target_len: usize,
    arguments: *const c_char,
    arguments_len: usize,
    names: *const *const c_char,
    names_count: usize,
    context: *mut [u8; 32],
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let method = input::text("method", method, method_len)?;
        let target = input::text("target", target, target_len)?;
        let arguments = input::optional_text("arguments", arguments, arguments_len)?;
        let mut read = Vec::with_capacity(names_count.min(16));
        for name in input::slice("names", names, names_count)? {
            if name.is_null() {
                return Err(Failure::Null("names"));
            }
            let name = CStr::from_ptr(*name).to_str();
            read.push(name.map_err(|_| Failure::NotUtf8("names"))?);
        }
        let context = Slot::new("context", context)?;
        let named = RequestContext::only(method, target, arguments, &read)?;
        context.write(*named.as_bytes());
        Ok(())
    })
}

/// Returns the members of a method's messages that carry a token, as JSON, or `null` if there are
/// none:
/// `{"kind": "cursor", "param": "cursor", "result": "nextCursor", "target": null,
/// "needsCaller": false}`.
///
/// `param` is the member of `params` in which the token returns, `result` the member of the result
/// in which it is sent, `target` the member of `params` that names the target of a request.
/// `needsCaller`: its handler may make a token, and does not run without a caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_token_fields(
    method: *const c_char,
    method_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let method = input::untrusted(method, method_len)?;
        let out = Buffer::text(out, cap, len)?;
        let fields = TokenFields::for_method(method).map(|fields| {
            json!({
                "kind": fields.kind.name(),
                "param": fields.param,
                "result": fields.result,
                "target": fields.target,
                "needsCaller": fields.needs_caller(),
            })
        });
        out.write(json!(fields).to_string().as_bytes())
    })
}

/// Returns the principal of a verified JWT or of an introspection response, as JSON:
/// `{"issuer": ..., "client": ..., "subject": ...}`, the client `null` if there is none.
///
/// `claims` is the JSON of the claims: `iss` and `sub`, which are required, and `client_id`, or
/// else `azp`, if present. Every replica must use this one rule, so that a user is the same at
/// each.
///
/// Fails with SEALWAX_INVALID_ARGUMENT if `iss` or `sub` is missing, for a part that is not a
/// string, is empty or over 1,024 bytes, and for anything but a JSON object without duplicate keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_principal_from_claims(
    claims: *const c_char,
    claims_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let claims = input::text("claims", claims, claims_len)?;
        let out = Buffer::text(out, cap, len)?;
        // Serde reads an array as well.
        if !claims.trim_start().starts_with('{') {
            return Err(Error::argument("claims: expected a JSON object").into());
        }
        let read: Credential = serde_json::from_str(claims).map_err(unread)?;
        let principal = Principal::from_claims(&JwtClaims {
            iss: read.iss.as_deref(),
            sub: read.sub.as_deref(),
            client_id: read.client_id.as_deref(),
            azp: read.azp.as_deref(),
        })?;
        let named = principal.parts().unwrap_or_default();
        let parts =
            json!({"issuer": named.issuer, "client": named.client, "subject": named.subject});
        out.write(parts.to_string().as_bytes())
    })
}

/// Says where, and not what: the reader's own words quote a text, and that may be a bearer token.
fn unread(error: serde_json::Error) -> Error {
    let (line, column) = (error.line(), error.column());
    Error::InvalidArgument(
        format!(
            "claims: expected a JSON object, with iss, sub, client_id and azp as texts and at most \
             once; found another thing at line {line}, column {column}"
        )
        .into(),
    )
}

/// The claims to read; a duplicate is an error.
#[derive(Deserialize)]
struct Credential<'a> {
    #[serde(borrow)]
    iss: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sub: Option<Cow<'a, str>>,
    #[serde(borrow)]
    client_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    azp: Option<Cow<'a, str>>,
}

/// Returns the answer for the client, as JSON: `{"error": ...}` with a JSON-RPC error object,
/// `{"httpStatus": ...}`, or `{"toolResult": ...}`.
///
/// `profile` is the part of the protocol: sep-1359, data-layer, data-layer-required, request-state,
/// cursor, mcp-session-id or handle. `status` is that of the failed call. Every refusal gets the
/// profile's one answer, so that the server does not reveal which check failed. So does SEALWAX_OK,
/// for refusals by the server itself. Any other status gets an internal error. `session_id` is the
/// one that the client sent, or NULL: it is echoed only if the profile does so and it is well
/// formed.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an unknown profile.
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
