//! Key rings.

use std::ffi::c_char;
use std::ptr;

use sealwax_core::{KeyRing, Variables};

use crate::call::{ErrorReport, Failure, call};
use crate::input;
use crate::key::Key;
use crate::output::{Buffer, Slot, free};
use crate::status::Status;

/// 1 to 16 keys in order: the first seals, all of them open.
///
/// To rotate, give every replica a key before it seals, and keep it until the tokens it sealed have
/// expired: [old, new] everywhere, then [new, old], then [new].
pub struct Ring(pub(crate) KeyRing);

/// Reads a ring: key texts separated by commas or white space. `#` and what follows in its line is a
/// comment.
///
/// Fails with SEALWAX_INVALID_KEY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_parse(
    text: *const c_char,
    text_len: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let text = input::text("text", text, text_len)?;
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(text.parse()?));
        Ok(())
    })
}

/// Reads the ring in a file, such as a mounted secret. To follow its changes, read it every few seconds
/// and call sealwax_codec_set_keys; if it cannot be read, go on with the keys that there are.
///
/// Fails with SEALWAX_INVALID_KEY if the file cannot be read, or holds no valid ring.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_read(
    path: *const c_char,
    path_len: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let path = input::text("path", path, path_len)?;
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(KeyRing::read(path)?));
        Ok(())
    })
}

/// Makes the ring of a file that the caller read: of its bytes, at most 65,537, or, with a `why` of a size, of nothing: then it
/// could not be read. For a host whose files C does not see.
///
/// Fails as sealwax_ring_read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_of_file(
    path: *const c_char,
    path_len: usize,
    data: *const u8,
    data_len: usize,
    why: *const c_char,
    why_len: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let path = input::text("path", path, path_len)?;
        let data = input::slice("data", data, data_len)?;
        let read = match input::text("why", why, why_len)? {
            "" => Ok(data),
            why => Err(why),
        };
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(KeyRing::of_file(path, read)?));
        Ok(())
    })
}

/// Reads the ring from the environment: from the file that SEALWAX_KEYS_FILE names, from SEALWAX_KEYS, or, as
/// sealwax_key_derive does, from SEALWAX_SECRET and SEALWAX_SECRET_FALLBACKS.
///
/// Fails with SEALWAX_INVALID_KEY, also if more than one has the keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_from_env(
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(KeyRing::from_env()?));
        Ok(())
    })
}

/// Reads the ring from variables that the caller passes, as `environ` has them: each `NAME=value` and a NUL. For a host
/// whose environment C does not see. `*ring` is NULL if SEALWAX_KEYS_FILE names a file, which the caller reads.
///
/// Fails as sealwax_ring_from_env.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_from_variables(
    variables: *const c_char,
    variables_len: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let variables = input::text("variables", variables, variables_len)?;
        let ring = Slot::new("ring", ring)?;
        match Variables::read(variables).ring()? {
            Some(found) => {
                ring.give(Ring(found));
            }
            None => ring.write(ptr::null_mut()),
        }
        Ok(())
    })
}

/// Makes a ring of the keys of `count` rings, in order. The caller keeps the rings.
///
/// Fails with SEALWAX_INVALID_KEY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_join(
    rings: *const *const Ring,
    count: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let rings = input::slice("rings", rings, count)?
            .iter()
            .map(|ring| input::object("rings", *ring).map(|ring| ring.0.clone()))
            .collect::<Result<Vec<_>, Failure>>()?;
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(KeyRing::new(rings)?));
        Ok(())
    })
}

/// Makes a ring of `count` keys, the sealing one first. The caller keeps the keys.
///
/// Fails with SEALWAX_INVALID_KEY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_new(
    keys: *const *const Key,
    count: usize,
    ring: *mut *mut Ring,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let keys = input::slice("keys", keys, count)?
            .iter()
            .map(|key| input::object("keys", *key).map(|key| key.0.clone()))
            .collect::<Result<Vec<_>, Failure>>()?;
        let ring = Slot::new("ring", ring)?;
        ring.give(Ring(KeyRing::new(keys)?));
        Ok(())
    })
}

/// Returns the ids of the keys in order, 4 bytes each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_ids(
    ring: *const Ring,
    out: *mut u8,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let ring = input::object("ring", ring)?;
        let out = Buffer::new(out, cap, len)?;
        let ids: Vec<u8> = ring.0.ids().flat_map(|id| *id.as_bytes()).collect();
        out.write(&ids)
    })
}

/// Frees a ring; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ring_free(ring: *mut Ring) {
    free(ring);
}
