//! Writes results to the caller's memory, which is checked before anything is done.

use std::ffi::c_char;
use std::mem;
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};

use sealwax_core::Error;

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
    /// Hands an object over to the caller, until [`free`] takes it back.
    pub fn give(self, object: T) {
        self.write(Box::into_raw(Box::new(object)));
    }
}

/// The places for a text that the library keeps.
pub(crate) struct Text {
    text: Slot<*const c_char>,
    len: Slot<usize>,
}

impl Text {
    /// # Safety
    ///
    /// `text` and `len` are NULL or valid for writing.
    pub unsafe fn new(text: *mut *const c_char, len: *mut usize) -> Result<Self, Failure> {
        // SAFETY: the caller's promise is the same.
        let (text, len) = unsafe { (Slot::new("text", text)?, Slot::new("text_len", len)?) };
        Ok(Self { text, len })
    }

    /// Writes a text that is never freed.
    pub fn write(self, text: &'static str) {
        self.lend(place_of(Some(text)));
    }

    /// Writes where a text of an object is, which the caller may read until the object's next call.
    fn lend(self, (text, len): (*const c_char, usize)) {
        self.text.write(text);
        self.len.write(len);
    }
}

/// Returns where a text is, or NULL.
fn place_of(text: Option<&str>) -> (*const c_char, usize) {
    text.map_or((ptr::null(), 0), |text| (text.as_ptr().cast(), text.len()))
}

/// An object that changes, and the last text that it returned: the caller may read it until the next
/// call.
pub(crate) struct Owner<T>(Mutex<(T, Option<String>)>);

impl<T> Owner<T> {
    pub fn new(object: T) -> Self {
        Self(Mutex::new((object, None)))
    }

    /// Runs the body of a call.
    pub fn with(&self, body: impl FnOnce(&mut T) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        body(&mut held.0)
    }

    /// Runs the body of a call that returns a text. Returns the text before: the caller drops it, for it may be what
    /// `body` borrows, and what the arguments of a function borrow must not be freed before it returns.
    ///
    /// # Safety
    ///
    /// `text` and `len` are NULL or valid for writing.
    pub unsafe fn text<S: Into<Option<String>>>(
        &self,
        text: *mut *const c_char,
        len: *mut usize,
        body: impl FnOnce(&mut T) -> Result<S, Error>,
    ) -> Result<Option<String>, Failure> {
        // SAFETY: the caller's promise is the same.
        let output = unsafe { Text::new(text, len) }?;
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let next = body(&mut held.0)?.into();
        let before = mem::replace(&mut held.1, next);
        output.lend(place_of(held.1.as_deref()));
        Ok(before)
    }

    /// Runs the body of a call that makes the object and its first text; `wrap` gives it its C type.
    ///
    /// # Safety
    ///
    /// As [`text`](Self::text), and so is `place`.
    pub unsafe fn begin<O, S: Into<Option<String>>>(
        wrap: fn(Self) -> O,
        place: *mut *mut O,
        text: *mut *const c_char,
        len: *mut usize,
        body: impl FnOnce() -> Result<(T, S), Error>,
    ) -> Result<(), Failure> {
        // SAFETY: the caller's promise is the same.
        let (slot, output) = unsafe { (Slot::new("object", place)?, Text::new(text, len)?) };
        let (object, first) = body()?;
        let first = first.into();
        // Moving the text's owner does not move the text.
        let place = place_of(first.as_deref());
        // It takes memory, so it comes before anything is written.
        slot.give(wrap(Self(Mutex::new((object, first)))));
        output.lend(place);
        Ok(())
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
