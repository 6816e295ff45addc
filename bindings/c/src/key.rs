//! Keys.

use std::ffi::c_char;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Buffer, Slot, free};
use crate::status::Status;

/// A secret and the keys derived from it. It is wiped when the last object that shares it is freed.
pub struct Key(pub(crate) sealwax_core::Key);

/// Generates a key from the system's randomness.
///
/// Fails with SEALWAX_ENTROPY_UNAVAILABLE.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_generate(
    key: *mut *mut Key,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let key = Slot::new("key", key)?;
        key.give(Key(sealwax_core::Key::generate()?));
        Ok(())
    })
}

/// Derives a key from a secret that is there: a generated text of 32 characters and more, such as 64
/// hexadecimal digits. It is never decoded. Never a passphrase.
///
/// Fails with SEALWAX_INVALID_KEY for fewer characters, white space, one character repeated, and the text of a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_derive(
    secret: *const c_char,
    secret_len: usize,
    key: *mut *mut Key,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let secret = input::text("secret", secret, secret_len)?;
        let key = Slot::new("key", key)?;
        key.give(Key(sealwax_core::Key::derive(secret)?));
        Ok(())
    })
}

/// Imports an existing secret: 32 random bytes or more, never a passphrase.
///
/// Fails with SEALWAX_INVALID_KEY for fewer bytes, and for bytes that are all equal or printable ASCII
/// alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_from_secret(
    secret: *const u8,
    secret_len: usize,
    key: *mut *mut Key,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let secret = input::slice("secret", secret, secret_len)?;
        let key = Slot::new("key", key)?;
        key.give(Key(sealwax_core::Key::from_secret(secret)?));
        Ok(())
    })
}

/// Reads a key text; the checksum tells a mistyped key from a wrong one.
///
/// Fails with SEALWAX_INVALID_KEY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_parse(
    text: *const c_char,
    text_len: usize,
    key: *mut *mut Key,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let text = input::text("text", text, text_len)?;
        let key = Slot::new("key", key)?;
        key.give(Key(text.parse()?));
        Ok(())
    })
}

/// Returns the 4 bytes of the key's public id, which is readable in its tokens and session ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_id(
    key: *const Key,
    id: *mut [u8; 4],
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let key = input::object("key", key)?;
        Slot::new("id", id)?.write(*key.0.id().as_bytes());
        Ok(())
    })
}

/// Returns the key's text, SEALWAX_KEY_TEXT_LEN characters: a secret, which the caller must wipe.
///
/// A secret of more than 32 bytes has no text: `*len` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_to_text(
    key: *const Key,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let key = input::object("key", key)?;
        let out = Buffer::text(out, cap, len)?;
        let text = key.0.to_text();
        out.write(text.as_ref().map_or(&[], |text| text.as_bytes()))
    })
}

/// Frees a key; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_key_free(key: *mut Key) {
    free(key);
}
