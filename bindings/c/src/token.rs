//! Sealed tokens.

use std::ffi::c_char;
use std::ptr;
use std::time::Duration;

use sealwax_core::{Error, Kind, RequestContext, Ttl, kind::Untyped};

use crate::call::{ErrorReport, Failure, call};
use crate::input;
use crate::output::{Buffer, Slot};
use crate::status::Status;
use crate::view::View;

/// `state` of a data-layer session; needs a session id. The sealwax_session functions use it.
pub const SEALWAX_KIND_STATE: i32 = 0x01;
/// `requestState` of a multi-round-trip request; needs a context.
pub const SEALWAX_KIND_REQUEST_STATE: i32 = 0x02;
/// A self-contained session for a header that cannot be renewed (`Mcp-Session-Id`).
pub const SEALWAX_KIND_SESSION: i32 = 0x03;
/// A cursor; needs the list method as its label, such as "tools/list".
pub const SEALWAX_KIND_CURSOR: i32 = 0x04;
/// State in a self-contained handle; needs the handle's type as its label.
pub const SEALWAX_KIND_HANDLE_STATE: i32 = 0x05;
/// A custom token of the application; needs a label, and may have a session id and a context.
pub const SEALWAX_KIND_CUSTOM: i32 = 0x7f;

/// Returns the name of a kind, the same in every language, such as "request-state"; static. NULL
/// for an unknown kind.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_kind_name(kind: i32) -> *const c_char {
    let name = match kind {
        SEALWAX_KIND_STATE => c"state",
        SEALWAX_KIND_REQUEST_STATE => c"request-state",
        SEALWAX_KIND_SESSION => c"session",
        SEALWAX_KIND_CURSOR => c"cursor",
        SEALWAX_KIND_HANDLE_STATE => c"handle-state",
        SEALWAX_KIND_CUSTOM => c"custom",
        _ => return ptr::null(),
    };
    name.as_ptr()
}

/// The purpose of a sealed token and its bindings. Both sides must give the same fields; a token
/// with other fields is refused. NULL means absent; an empty session id or context is an error.
#[repr(C)]
pub struct Purpose {
    /// SEALWAX_KIND_STATE to SEALWAX_KIND_CUSTOM.
    pub kind: i32,
    /// The list method, the type of the self-contained handle, the name of a custom token; else NULL.
    pub label: *const c_char,
    /// The size of the label.
    pub label_len: usize,
    /// The text of the session id that the token belongs to; else NULL.
    pub session_id: *const c_char,
    /// The size of the session id.
    pub session_id_len: usize,
    /// The 32 bytes of the request context; else NULL.
    pub context: *const u8,
    /// The size of the context: 32 or 0.
    pub context_len: usize,
}

/// The lifetime of a sealed token. A function's `lifetime` of NULL is the kind's default: 600 s for
/// request state, 30 days for self-contained sessions, 24 hours for the rest.
#[repr(C)]
pub struct Lifetime {
    /// Seconds, 1 to 4,294,967,295; 0 with `no_expiry`.
    pub ttl: u64,
    /// Whether it has no expiry: it opens as long as its key is in the ring.
    pub no_expiry: bool,
}

/// A time that never comes.
pub const SEALWAX_NEVER: u64 = 0xffff_ffff_ffff_ffff;

/// The claims of a token, authentic and fully checked.
#[repr(C)]
pub struct Opened {
    /// The time of sealing, in Unix seconds.
    pub issued_at: u64,
    /// The end of its lifetime, in Unix seconds; SEALWAX_NEVER for no expiry.
    pub expires_at: u64,
    /// The start of its session, in Unix seconds: renewals keep it.
    pub started_at: u64,
    /// The number of renewals; it stops at its maximum.
    pub generation: u32,
    /// Whether an older key made it; seal it anew before that key is retired.
    pub needs_reseal: bool,
    /// Whether to seal it anew even without a change: half of its lifetime is over, or an older key
    /// made it.
    pub needs_renewal: bool,
    /// The id by which a ledger counts uses: the same for every spelling of the token.
    pub token_id: [u8; 16],
}

/// The claims of a freshly sealed token.
#[repr(C)]
pub struct Sealed {
    /// The time of sealing, in Unix seconds.
    pub issued_at: u64,
    /// The end of its lifetime, in Unix seconds; SEALWAX_NEVER for no expiry.
    pub expires_at: u64,
    /// The id by which a ledger counts uses.
    pub token_id: [u8; 16],
}

/// Checks a lifetime in seconds, as sealing does: for options that are given once and used later.
///
/// Fails with SEALWAX_INVALID_ARGUMENT unless it is 1 to 4,294,967,295.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_check_ttl(ttl: u64, error: *mut ErrorReport) -> Status {
    call(error, || {
        sealwax_core::check_ttl(Duration::from_secs(ttl))?;
        Ok(())
    })
}

/// Seals a payload with a new start and generation 0.
///
/// The token is ASCII, fit for JSON, headers and URLs; sealwax_token_limit is its largest size.
/// `lifetime` may be NULL.
///
/// Fails with SEALWAX_INVALID_ARGUMENT, SEALWAX_TOO_LARGE, SEALWAX_ENTROPY_UNAVAILABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_seal(
    view: *const View,
    purpose: *const Purpose,
    lifetime: *const Lifetime,
    payload: *const u8,
    payload_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sealer = sealer(view, purpose, lifetime)?;
        let payload = input::slice("payload", payload, payload_len)?;
        Buffer::text(out, cap, len)?.write(sealer.seal(payload)?.as_str().as_bytes())
    })
}

/// Seals a payload as the successor of an opened token: keeps the start, so that a maximum age
/// holds, and increments the generation, so that a stale token can be detected.
///
/// Fails as sealwax_seal does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_renew(
    view: *const View,
    purpose: *const Purpose,
    lifetime: *const Lifetime,
    opened: *const Opened,
    payload: *const u8,
    payload_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sealer = sealer(view, purpose, lifetime)?;
        let (start, generation) = origin(opened).ok_or(Failure::Null("opened"))?;
        let payload = input::slice("payload", payload, payload_len)?;
        let out = Buffer::text(out, cap, len)?;
        let token = sealer.renew_from(start, generation, payload)?;
        out.write(token.as_str().as_bytes())
    })
}

/// Seals a payload, as sealwax_seal does, or as sealwax_renew if `before` is not NULL, and returns
/// the token's id and end, which a ledger of used tokens needs.
///
/// `lifetime` and `before` may be NULL. Fails as sealwax_seal does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_seal_token(
    view: *const View,
    purpose: *const Purpose,
    lifetime: *const Lifetime,
    before: *const Opened,
    payload: *const u8,
    payload_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    sealed: *mut Sealed,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let sealer = sealer(view, purpose, lifetime)?;
        let payload = input::slice("payload", payload, payload_len)?;
        let (out, slot) = (Buffer::text(out, cap, len)?, Slot::new("sealed", sealed)?);
        let token = match origin(before) {
            Some((start, generation)) => sealer.renew_from(start, generation, payload)?,
            None => sealer.seal(payload)?,
        };
        out.write(token.as_str().as_bytes())?;
        slot.write(Sealed {
            issued_at: token.issued_at(),
            expires_at: token.expires_at().unwrap_or(SEALWAX_NEVER),
            token_id: *token.id().as_bytes(),
        });
        Ok(())
    })
}

/// Opens a presented token and returns its payload, which is always shorter than the token.
///
/// With `max_age`, in seconds, a token whose session began longer ago has expired, over all its
/// renewals; NULL is no limit. `opened` may be NULL.
///
/// Fails with any refusal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_open(
    view: *const View,
    purpose: *const Purpose,
    max_age: *const u64,
    token: *const c_char,
    token_len: usize,
    out: *mut u8,
    cap: usize,
    len: *mut usize,
    opened: *mut Opened,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let mut sealer = sealer(view, purpose, ptr::null())?;
        if let Some(max_age) = input::seconds(max_age) {
            sealer = sealer.max_age(max_age);
        }
        let token = input::untrusted(token, token_len)?;
        let out = Buffer::new(out, cap, len)?;
        let contents = sealer.open(token)?;
        out.write(contents.payload())?;
        if let Some(opened) = Slot::optional(opened) {
            opened.write(Opened::of(&contents));
        }
        Ok(())
    })
}

impl Opened {
    pub(crate) fn of<K>(opened: &sealwax_core::Opened<K>) -> Self {
        Self {
            issued_at: opened.issued_at(),
            expires_at: opened.expires_at().unwrap_or(SEALWAX_NEVER),
            started_at: opened.started_at(),
            generation: opened.generation(),
            needs_reseal: opened.needs_reseal(),
            needs_renewal: opened.needs_renewal(),
            token_id: *opened.token_id().as_bytes(),
        }
    }
}

/// Reads the start and the generation of an opened token, and nothing beside them: a caller that keeps these two may
/// leave the rest as the memory was, where a `bool` can be any byte.
///
/// # Safety
///
/// `opened` is NULL, or these members are valid for reading.
unsafe fn origin(opened: *const Opened) -> Option<(u64, u32)> {
    // SAFETY: the caller's promise is the same.
    (!opened.is_null()).then(|| unsafe { ((*opened).started_at, (*opened).generation) })
}

/// Reads the lifetime that the caller chose.
///
/// # Safety
///
/// `lifetime` is NULL or valid for reading.
pub(crate) unsafe fn ttl(lifetime: *const Lifetime) -> Result<Ttl, Failure> {
    // SAFETY: the caller's promise is the same.
    match unsafe { lifetime.as_ref() } {
        None => Ok(Ttl::Default),
        Some(Lifetime {
            ttl,
            no_expiry: false,
        }) => Ok(Ttl::Given(Duration::from_secs(*ttl))),
        Some(Lifetime { ttl: 0, .. }) => Ok(Ttl::None),
        Some(_) => Err(Failure::Contradiction(
            "lifetime: expected a ttl or no expiry, found both",
        )),
    }
}

/// # Safety
///
/// The rules of the header.
unsafe fn sealer<'a>(
    view: *const View,
    purpose: *const Purpose,
    lifetime: *const Lifetime,
) -> Result<sealwax_core::Sealer<'a, Untyped>, Failure> {
    // SAFETY: the caller's promise is the same.
    let (view, purpose, ttl) = unsafe {
        (
            input::object("view", view)?,
            input::object("purpose", purpose)?,
            ttl(lifetime)?,
        )
    };
    // SAFETY: the caller's promise is the same.
    let (label, session_id, context) = unsafe {
        (
            input::text("label", purpose.label, purpose.label_len)?,
            input::optional_text("session_id", purpose.session_id, purpose.session_id_len)?,
            input::slice("context", purpose.context, purpose.context_len)?,
        )
    };
    if !purpose.context.is_null() {
        RequestContext::from_bytes(context)?;
    }
    let mut purpose = sealwax_core::Purpose {
        label,
        context,
        ..sealwax_core::Purpose::of(kind(purpose.kind)?)
    };
    if let Some(session_id) = session_id {
        purpose = purpose.bound_to_session(session_id)?;
    }
    Ok(view.0.sealer(purpose).with_ttl(ttl))
}

fn kind(number: i32) -> Result<Kind, Error> {
    Kind::ALL
        .into_iter()
        .find(|kind| *kind as i32 == number)
        .ok_or_else(|| Error::InvalidArgument(format!("kind: {number} is none").into()))
}
