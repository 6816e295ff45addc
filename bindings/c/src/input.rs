//! Reads the arguments of a C caller.

use std::ffi::c_char;
use std::slice;
use std::time::Duration;

use sealwax_core::Error;

use crate::call::Failure;

/// Reads an array: (NULL, 0) is empty.
///
/// # Safety
///
/// `data` is NULL, or valid for reading `len` items for as long as `'a`.
pub(crate) unsafe fn slice<'a, T>(
    name: &'static str,
    data: *const T,
    len: usize,
) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Failure::Null(name));
    }
    if len > isize::MAX.unsigned_abs() / size_of::<T>() {
        return Err(Failure::TooLong(name));
    }
    // SAFETY: not NULL and of a possible length, so the caller guarantees it.
    Ok(unsafe { slice::from_raw_parts(data, len) })
}

/// Reads a text: (NULL, 0) is empty.
///
/// # Safety
///
/// As [`slice`].
pub(crate) unsafe fn text<'a>(
    name: &'static str,
    data: *const c_char,
    len: usize,
) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise is the same.
    let bytes = unsafe { slice(name, data.cast(), len) }?;
    str::from_utf8(bytes).map_err(|_| Failure::NotUtf8(name))
}

/// Reads an optional text: (NULL, 0) is absent; a pointer with the size 0 is empty.
///
/// # Safety
///
/// As [`slice`].
pub(crate) unsafe fn optional_text<'a>(
    name: &'static str,
    data: *const c_char,
    len: usize,
) -> Result<Option<&'a str>, Failure> {
    // SAFETY: the caller's promise is the same.
    let text = unsafe { text(name, data, len) }?;
    Ok((!data.is_null()).then_some(text))
}

/// Reads a required object or struct.
///
/// # Safety
///
/// `object` is NULL, or valid for reading for as long as `'a`.
pub(crate) unsafe fn object<'a, T>(name: &'static str, object: *const T) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise is the same.
    unsafe { object.as_ref() }.ok_or(Failure::Null(name))
}

/// Reads seconds: NULL is absent.
///
/// # Safety
///
/// `seconds` is NULL or valid for reading.
pub(crate) unsafe fn seconds(seconds: *const u64) -> Option<Duration> {
    // SAFETY: the caller's promise is the same.
    unsafe { seconds.as_ref() }
        .copied()
        .map(Duration::from_secs)
}

/// Reads a text that a client sent: invalid UTF-8 is the client's fault, and a refusal.
///
/// # Safety
///
/// As [`slice`].
pub(crate) unsafe fn untrusted<'a>(data: *const c_char, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise is the same.
    match unsafe { text("token", data, len) } {
        Err(Failure::NotUtf8(_)) => Err(Error::Malformed("UTF-8").into()),
        other => other,
    }
}
