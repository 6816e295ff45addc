//! Identifies a text without a key.

use std::ffi::c_char;

use sealwax_core::report::Report;
use sealwax_core::{Error, Inspected};

use crate::call::{ErrorReport, Failure, call};
use crate::input;
use crate::key_ring::Ring;
use crate::output::{Buffer, Slot};
use crate::status::Status;

/// A sealed token.
pub const SEALWAX_IS_TOKEN: i32 = 1;
/// A session id.
pub const SEALWAX_IS_SESSION_ID: i32 = 2;
/// A handle.
pub const SEALWAX_IS_HANDLE: i32 = 3;
/// A key text with a correct checksum: a secret.
pub const SEALWAX_IS_KEY: i32 = 4;

/// The unverified claims of a text.
#[repr(C)]
#[derive(Default)]
pub struct Inspection {
    /// SEALWAX_IS_TOKEN to SEALWAX_IS_KEY.
    pub what: i32,
    /// For a token: its kind.
    pub kind: i32,
    /// For a session id or a handle: its claimed time of making, in Unix milliseconds.
    pub created_at_ms: u64,
    /// The id of the key that claims to have made it, or of the key itself; zeros for a handle.
    pub key_id: [u8; 4],
    /// For a token: its id, the same as that of the opened token.
    pub token_id: [u8; 16],
    /// The size of the type.
    pub handle_type_len: u32,
    /// For a handle: its type.
    pub handle_type: [u8; 32],
}

/// Identifies a text: a sealed token, a session id, a handle or a key text.
///
/// Fails with SEALWAX_TOO_LARGE over 2 MiB, and with SEALWAX_MALFORMED, SEALWAX_UNSUPPORTED or
/// SEALWAX_INVALID_KEY if it is none of these.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_inspect(
    text: *const c_char,
    text_len: usize,
    inspection: *mut Inspection,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let text = input::untrusted(text, text_len)?;
        let inspection = Slot::new("inspection", inspection)?;
        inspection.write(Inspection::of(sealwax_core::inspect(text)?)?);
        Ok(())
    })
}

/// Identifies a text in words for people: lines as `sealwax inspect` prints them, without a newline
/// at the end.
///
/// `ring`, which may be NULL, tells whether it has the text's key; `now` is for the age, in Unix
/// seconds. The words may change in any release. Fails as sealwax_inspect does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_report_words(
    text: *const c_char,
    text_len: usize,
    ring: *const Ring,
    now: u64,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let report = report(text, text_len, ring)?;
        Buffer::text(out, cap, len)?.write(report.words(now).as_bytes())
    })
}

/// Identifies a text as JSON: `what` ("token", "session-id", "handle" or "key") and `length`, and
/// where there is one `kind`, `handle_type`, `key_id`, `in_ring`, `token_id` and `created_at_ms`.
///
/// `ring` may be NULL: `in_ring` is null then. Fails as sealwax_inspect does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_report_json(
    text: *const c_char,
    text_len: usize,
    ring: *const Ring,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let report = report(text, text_len, ring)?;
        Buffer::text(out, cap, len)?.write(report.json().as_bytes())
    })
}

/// # Safety
///
/// As [`input::text`]; `ring` is NULL or valid for reading.
unsafe fn report(text: *const c_char, len: usize, ring: *const Ring) -> Result<Report, Failure> {
    // SAFETY: the caller's promise is the same.
    let (text, ring) = unsafe { (input::untrusted(text, len)?, ring.as_ref()) };
    Ok(Report::of(text, ring.map(|ring| &ring.0))?)
}

impl Inspection {
    fn of(inspected: Inspected) -> Result<Self, Error> {
        Ok(match inspected {
            Inspected::Token {
                kind,
                key_id,
                token_id,
            } => Self {
                what: SEALWAX_IS_TOKEN,
                kind: kind as i32,
                key_id: *key_id.as_bytes(),
                token_id: *token_id.as_bytes(),
                ..Self::default()
            },
            Inspected::SessionId {
                key_id,
                created_at_ms,
                ..
            } => Self {
                what: SEALWAX_IS_SESSION_ID,
                key_id: *key_id.as_bytes(),
                created_at_ms,
                ..Self::default()
            },
            Inspected::Handle {
                handle_type,
                created_at_ms,
                ..
            } => {
                let mut inspection = Self {
                    what: SEALWAX_IS_HANDLE,
                    created_at_ms,
                    ..Self::default()
                };
                for (to, from) in inspection.handle_type.iter_mut().zip(handle_type.bytes()) {
                    *to = from;
                    inspection.handle_type_len += 1;
                }
                inspection
            }
            Inspected::Key { key_id } => Self {
                what: SEALWAX_IS_KEY,
                key_id: *key_id.as_bytes(),
                ..Self::default()
            },
            _ => return Err(Error::Unsupported("the kind of the text")),
        })
    }
}
