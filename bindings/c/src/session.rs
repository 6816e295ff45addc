//! Data-layer sessions, as JSON in the draft's shape.

use std::ffi::c_char;

use sealwax_core::{SessionMetadata, Sessions};

use crate::call::{ErrorReport, Failure, call};
use crate::identifier::{Identifier, give};
use crate::input;
use crate::output::{Buffer, Slot, free};
use crate::status::Status;
use crate::token::{Lifetime, Opened, ttl};
use crate::view::View;

/// A data-layer session, opened and fully checked: its id and its state.
pub struct Session(sealwax_core::OpenedSession);

/// Creates a session with a first state and returns its metadata, the JSON of
/// `_meta["io.modelcontextprotocol/session"]`: sessionId, expiresAt if it ends, and state.
/// sealwax_metadata_limit is its largest size.
///
/// A session ends after it was idle for its `lifetime` (24 hours if that is NULL), or at the
/// codec's session_max_age, whichever comes first.
///
/// Fails as sealwax_seal does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_create(
    view: *const View,
    lifetime: *const Lifetime,
    payload: *const u8,
    payload_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sessions = sessions(view, lifetime)?;
        let payload = input::slice("payload", payload, payload_len)?;
        Buffer::text(out, cap, len)?.write(sessions.create(payload)?.to_json().as_bytes())
    })
}

/// Creates a session whose state the server holds and returns its metadata: sessionId, and
/// expiresAt, its latest possible end. sealwax_metadata_limit is its largest size.
///
/// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_mint(
    view: *const View,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        Buffer::text(out, cap, len)?.write(view.0.sessions().mint()?.to_json().as_bytes())
    })
}

/// Opens the metadata that a client sent, as JSON: verifies the id, then opens the state bound to
/// it.
///
/// Fails with any refusal, and with SEALWAX_MALFORMED if the state is missing, because leaving it
/// out must not reset a session.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_open(
    view: *const View,
    metadata: *const c_char,
    metadata_len: usize,
    session: *mut *mut Session,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let metadata = input::untrusted(metadata, metadata_len)?;
        let session = Slot::new("session", session)?;
        let metadata = SessionMetadata::from_json(metadata)?;
        session.give(Session(view.0.sessions().open(&metadata)?));
        Ok(())
    })
}

/// Returns the payload of a session's state, always shorter than its metadata, and the facts of its
/// token. `opened` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_payload(
    session: *const Session,
    out: *mut u8,
    cap: usize,
    len: *mut usize,
    opened: *mut Opened,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let session = input::object("session", session)?;
        Buffer::new(out, cap, len)?.write(session.0.payload())?;
        if let Some(opened) = Slot::optional(opened) {
            opened.write(Opened::of(session.0.state()));
        }
        Ok(())
    })
}

/// Returns a session's id, SEALWAX_SESSION_ID_LEN characters, and its facts. `identifier` may be
/// NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_id(
    session: *const Session,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let id = input::object("session", session)?.0.id();
        Buffer::text(out, cap, len)?.write(id.as_str().as_bytes())?;
        give(identifier, Identifier::of_session_id(id, None));
        Ok(())
    })
}

/// Seals a new state for the same session and returns its metadata: keeps the id and the start, and
/// increments the generation.
///
/// Fails as sealwax_seal does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_renew(
    view: *const View,
    lifetime: *const Lifetime,
    session: *const Session,
    payload: *const u8,
    payload_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sessions = sessions(view, lifetime)?;
        let session = input::object("session", session)?;
        let payload = input::slice("payload", payload, payload_len)?;
        Buffer::text(out, cap, len)?
            .write(sessions.renew(&session.0, payload)?.to_json().as_bytes())
    })
}

/// Creates a session with the state of another, which continues independently, and returns its
/// metadata.
///
/// Fails as sealwax_seal does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_fork(
    view: *const View,
    lifetime: *const Lifetime,
    session: *const Session,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sessions = sessions(view, lifetime)?;
        let session = input::object("session", session)?;
        Buffer::text(out, cap, len)?.write(sessions.fork(&session.0)?.to_json().as_bytes())
    })
}

/// Verifies a session's id alone, as sessions/delete sends it, under the codec's session_max_age.
/// `identifier` may be NULL.
///
/// Fails as sealwax_verify_session_id does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_verify(
    view: *const View,
    session_id: *const c_char,
    session_id_len: usize,
    identifier: *mut Identifier,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let view = input::object("view", view)?;
        let text = input::untrusted(session_id, session_id_len)?;
        let id = view.0.sessions().verify(text)?;
        let max_age = view.0.codec().session_max_age();
        give(identifier, Identifier::of_session_id(&id, Some(max_age)));
        Ok(())
    })
}

/// Frees a session; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_session_free(session: *mut Session) {
    free(session);
}

/// # Safety
///
/// The rules of the header.
unsafe fn sessions<'a>(
    view: *const View,
    lifetime: *const Lifetime,
) -> Result<Sessions<'a>, Failure> {
    // SAFETY: the caller's promise is the same.
    let (view, ttl) = unsafe { (input::object("view", view)?, ttl(lifetime)?) };
    Ok(view.0.sessions().with_ttl(ttl))
}
