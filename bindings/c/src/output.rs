//! Writes results to the caller's memory, which is checked before anything is done.

use std::ffi::c_char;
use std::ptr::{self, NonNull};

use crate::call::Failure;

/// A buffer of the caller.
pub(crate) struct Buffer {
    data: *mut u8,
    cap: usize,
    len: NonNull<usize>,
}

impl Buffer {
    /// # Safety
    ///
    /// `data` is NULL or valid for writing `cap` bytes; `len` is NULL or valid for writing.
    pub unsafe fn new(data: *mut u8, cap: usize, len: *mut usize) -> Result<Self, Failure> {
        if data.is_null() && cap > 0 {
            return Err(Failure::Null("out"));
        }
        let len = NonNull::new(len).ok_or(Failure::Null("len"))?;
        Ok(Self { data, cap, len })
    }

    /// # Safety
    ///
    /// As [`new`](Self::new).
    pub unsafe fn text(data: *mut c_char, cap: usize, len: *mut usize) -> Result<Self, Failure> {
        // SAFETY: the caller's promise is the same.
        unsafe { Self::new(data.cast(), cap, len) }
    }

    /// Writes all of `bytes`, or only their number.
    pub fn write(self, bytes: &[u8]) -> Result<(), Failure> {
        // SAFETY: `new` was promised that `len` is valid.
        unsafe { self.len.write(bytes.len()) };
        if bytes.len() > self.cap {
            return Err(Failure::BufferTooSmall {
                needed: bytes.len(),
                found: self.cap,
            });
        }
        if !bytes.is_empty() {
            // SAFETY: `new` guarantees space for `cap` bytes, which these do not exceed, and memory
            // that this library allocated cannot overlap with the caller's buffer.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.data, bytes.len()) };
        }
        Ok(())
    }
}

/// A place of the caller for one value.
pub(crate) struct Slot<T>(NonNull<T>);

impl<T> Slot<T> {
    /// # Safety
    ///
    /// `place` is NULL or valid for writing.
    pub unsafe fn new(name: &'static str, place: *mut T) -> Result<Self, Failure> {
        NonNull::new(place).map(Self).ok_or(Failure::Null(name))
    }

    /// Returns a place that may be left out.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new).
    pub unsafe fn optional(place: *mut T) -> Option<Self> {
        NonNull::new(place).map(Self)
    }

    pub fn write(self, value: T) {
        // SAFETY: `new` was promised that the place is valid.
        unsafe { self.0.write(value) };
    }
}

impl<T> Slot<*mut T> {
    /// Hands an object over to the caller, until [`free`] takes it back; returns where it is.
    pub fn give(self, object: T) -> *mut T {
        let place = Box::into_raw(Box::new(object));
        self.write(place);
        place
    }
}

/// Frees an object that [`Slot::give`] handed over.
///
/// # Safety
///
/// `object` is NULL, or came from [`Slot::give`] and is not used again.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: `Slot::give` made it with `Box::into_raw`.
        drop(unsafe { Box::from_raw(object) });
    }
}
