//! Session ids and handles: signed identifiers that carry no payload.

use std::ffi::c_char;
use std::ptr;
use std::time::Duration;

use sealwax_core::{Handle, SessionId};

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Buffer, Slot};
use crate::status::Status;
use crate::token::SEALWAX_NEVER;
use crate::view::View;

/// The facts of a session id or a handle, minted or verified.
#[repr(C)]
pub struct Identifier {
    /// The time of making, in Unix milliseconds.
    pub created_at_ms: u64,
    /// The end under the given max_age, in Unix milliseconds; SEALWAX_NEVER without one.
    pub ends_at_ms: u64,
    /// The bytes that make it unique: the name for logs and stores, because unlike the text it does
    /// not continue a session.
    pub ulid: [u8; 16],
    /// Whether an older key made it; retiring that key ends it.
    pub needs_reseal: bool,
}

/// Mints a session id: SEALWAX_SESSION_ID_LEN characters, fit for an HTTP header.
///
/// `identifier` may be NULL. Fails with SEALWAX_ENTROPY_UNAVAILABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_mint_session_id(
    view: *const View,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let out = Buffer::text(out, cap, len)?;
        let id = view.0.mint_session_id()?;
        out.write(id.as_str().as_bytes())?;
        give(identifier, Identifier::of_session_id(&id, None));
        Ok(())
    })
}

/// Verifies a session id. With `max_age`, in seconds, an id made longer ago has expired; NULL is no
/// limit.
///
/// Possession of the id is not authentication. `identifier` may be NULL. Fails with any refusal but
/// SEALWAX_WRONG_PURPOSE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_verify_session_id(
    view: *const View,
    session_id: *const c_char,
    session_id_len: usize,
    max_age: *const u64,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let text = input::untrusted(session_id, session_id_len)?;
        let max_age = input::seconds(max_age);
        let id = view.0.verify_session_id(text, max_age)?;
        give(identifier, Identifier::of_session_id(&id, max_age));
        Ok(())
    })
}

/// Mints a handle, SEALWAX_HANDLE_MAX characters at most: its type, an underscore and 42
/// characters. A type is a small letter, then up to 31 small letters or digits.
///
/// `identifier` may be NULL. Fails with SEALWAX_INVALID_ARGUMENT for an invalid type, or one of
/// "sess", "sw1", "swk1" and "yes", and with SEALWAX_ENTROPY_UNAVAILABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_mint_handle(
    view: *const View,
    handle_type: *const c_char,
    handle_type_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    let (kind, kind_len, ends) = (handle_type, handle_type_len, ptr::null());
    sealwax_new_handle(view, kind, kind_len, ends, out, cap, len, identifier, error)
}

/// Mints a handle that lives for `max_age` seconds (NULL: as long as its key), and returns its end.
/// Pass the same `max_age` to sealwax_verify_handle.
///
/// Fails as sealwax_mint_handle does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_new_handle(
    view: *const View,
    handle_type: *const c_char,
    handle_type_len: usize,
    max_age: *const u64,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let handle_type = input::text("handle_type", handle_type, handle_type_len)?;
        let max_age = input::seconds(max_age);
        let out = Buffer::text(out, cap, len)?;
        let handle = view.0.mint_handle(handle_type)?;
        out.write(handle.as_str().as_bytes())?;
        give(identifier, Identifier::of_handle(&handle, max_age));
        Ok(())
    })
}

/// Checks a type of handles, as minting does: for options that are given once and used later.
///
/// Fails with SEALWAX_INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_check_handle_type(
    handle_type: *const c_char,
    handle_type_len: usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        Handle::check_type(input::text("handle_type", handle_type, handle_type_len)?)?;
        Ok(())
    })
}

/// Verifies a handle. With `max_age`, in seconds, a handle made longer ago has expired; NULL is no
/// limit.
///
/// `identifier` may be NULL. Fails with any refusal but SEALWAX_UNKNOWN_KEY and
/// SEALWAX_PRINCIPAL_MISMATCH, which cannot be told from SEALWAX_UNAUTHENTIC for a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_verify_handle(
    view: *const View,
    handle_type: *const c_char,
    handle_type_len: usize,
    handle: *const c_char,
    handle_len: usize,
    max_age: *const u64,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let handle_type = input::text("handle_type", handle_type, handle_type_len)?;
        let text = input::untrusted(handle, handle_len)?;
        let max_age = input::seconds(max_age);
        let handle = view.0.verify_handle(handle_type, text, max_age)?;
        give(identifier, Identifier::of_handle(&handle, max_age));
        Ok(())
    })
}

/// # Safety
///
/// `place` is NULL or valid for writing.
pub(crate) unsafe fn give(place: *mut Identifier, identifier: Identifier) {
    // SAFETY: the caller's promise is the same.
    if let Some(slot) = unsafe { Slot::optional(place) } {
        slot.write(identifier);
    }
}

impl Identifier {
    pub(crate) fn of_session_id(id: &SessionId, max_age: Option<Duration>) -> Self {
        Self {
            created_at_ms: id.created_at_ms(),
            ends_at_ms: max_age.map_or(SEALWAX_NEVER, |max_age| id.ends_at_ms(max_age)),
            ulid: *id.ulid(),
            needs_reseal: id.needs_reseal(),
        }
    }

    fn of_handle(handle: &Handle, max_age: Option<Duration>) -> Self {
        Self {
            created_at_ms: handle.created_at_ms(),
            ends_at_ms: max_age.map_or(SEALWAX_NEVER, |max_age| handle.ends_at_ms(max_age)),
            ulid: *handle.ulid(),
            needs_reseal: handle.needs_reseal(),
        }
    }
}
