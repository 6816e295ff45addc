//! Wipes what `zeroize` alone does not: the stack, where a value that is moved leaves copies of itself, and payloads,
//! quickly.

use std::hint::black_box;
use std::mem;

/// Runs what works with keys, and then overwrites the stack that it used.
pub(crate) fn stack_after<T>(run: impl FnOnce() -> T) -> T {
    let outcome = below(run);
    overwrite();
    outcome
}

/// Has a frame of its own, which begins where that of [`overwrite`] does.
#[inline(never)]
fn below<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Unoptimised functions use more: `tests/wiped.rs` shows that it is enough. Optimised, 2 KiB are.
const DEEP: usize = if cfg!(debug_assertions) {
    16 << 10
} else {
    4 << 10
};

#[inline(never)]
fn overwrite() {
    // By reference, for a value would be copied; mutable, for a constant would stand elsewhere.
    black_box(&mut [0_u8; DEEP]);
}

/// A buffer that is wiped when dropped, with its spare capacity.
///
/// `zeroize` would write byte by byte, which takes as long as to decrypt them.
pub(crate) struct Wiped(Vec<u8>);

impl Wiped {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Leaves out the bytes from `len` on, which are wiped with the others.
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    /// Returns the bytes from `start` on; whoever takes them is to wipe them.
    pub fn take_from(mut self, start: usize) -> Vec<u8> {
        self.0.drain(..start);
        mem::take(&mut self.0)
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.clear();
        self.0.resize(self.0.capacity(), 0);
        black_box(&mut self.0);
    }
}
