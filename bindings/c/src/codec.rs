//! The codec of a server.

use std::ffi::c_char;

use sealwax_core::CodecBuilder;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::key_ring::Ring;
use crate::output::{Slot, free};
use crate::status::Status;

/// Seals and opens the tokens of one service: a key ring, an audience and limits.
pub struct Codec(pub(crate) sealwax_core::Codec);

/// The limits of a codec; NULL stands for the default.
#[repr(C)]
pub struct Limits {
    /// The limit of a payload in bytes: 4,096 by default, 1 MiB at most.
    pub payload: *const u64,
    /// The seconds by which another replica's clock may be ahead: 60 by default, 300 at most.
    pub clock_tolerance: *const u64,
    /// The maximum age of a data-layer session in seconds, over all its renewals: 30 days by
    /// default.
    pub session_max_age: *const u64,
}

/// Makes a codec.
///
/// `audience` names the service, best by its public address: tokens of one service never open at
/// another, even under shared keys. Every replica needs the same one. `limits` may be NULL. The
/// caller keeps the ring.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an audience that is empty or over 1,024 bytes, or a
/// limit out of its range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_codec_new(
    ring: *const Ring,
    audience: *const c_char,
    audience_len: usize,
    limits: *const Limits,
    codec: *mut *mut Codec,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let ring = input::object("ring", ring)?;
        let audience = input::text("audience", audience, audience_len)?;
        let codec = Slot::new("codec", codec)?;
        let builder = builder(ring, audience, limits);
        codec.give(Codec(builder.build()?));
        Ok(())
    })
}

/// Replaces the keys of a codec, in one step for all threads, and for the guards that were made of it.
/// Writes to `changed`, unless it is NULL, whether the ring differs from the one before; an equal one
/// changes nothing.
///
/// A view keeps the keys that it was made with, and so does an exchange in progress: make new views.
/// The old keys are wiped from memory when the last view of them is freed. The caller keeps the ring.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_codec_set_keys(
    codec: *const Codec,
    ring: *const Ring,
    changed: *mut bool,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let codec = input::object("codec", codec)?;
        let ring = input::object("ring", ring)?;
        let changed = Slot::optional(changed);
        let found = codec.0.set_keys(ring.0.clone());
        if let Some(changed) = changed {
            changed.write(found);
        }
        Ok(())
    })
}

/// Returns the builder of a codec with these limits.
///
/// # Safety
///
/// `limits` is NULL, or it and what it points to are valid for reading.
pub(crate) unsafe fn builder(ring: &Ring, audience: &str, limits: *const Limits) -> CodecBuilder {
    let mut builder = sealwax_core::Codec::builder(ring.0.clone(), audience);
    // SAFETY: the caller's promise is the same.
    unsafe {
        if let Some(limits) = limits.as_ref() {
            if let Some(bytes) = limits.payload.as_ref() {
                builder = builder.payload_limit(usize::try_from(*bytes).unwrap_or(usize::MAX));
            }
            if let Some(clock_tolerance) = input::seconds(limits.clock_tolerance) {
                builder = builder.clock_tolerance(clock_tolerance);
            }
            if let Some(max_age) = input::seconds(limits.session_max_age) {
                builder = builder.session_max_age(max_age);
            }
        }
    }
    builder
}

/// Frees a codec; NULL is allowed. Its views stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_codec_free(codec: *mut Codec) {
    free(codec);
}
