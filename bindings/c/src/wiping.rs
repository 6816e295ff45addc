//! What a WebAssembly module frees is wiped: its memory is never given back, and a payload, or a document with one, passes
//! through many buffers. bindings/wasm has it too.

use std::alloc::{GlobalAlloc, Layout};
use std::hint::black_box;

/// An allocator, and that.
pub struct Wiping<A>(pub A);

// SAFETY: each call is the inner allocator's; memory is written to only before it is freed. What grows is allocated anew,
// by `GlobalAlloc`, and freed here.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Wiping<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn dealloc(&self, bytes: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same, and nobody reads these bytes any more.
        unsafe {
            bytes.write_bytes(0, layout.size());
            // Otherwise the compiler leaves out what is written right before `free`.
            self.0.dealloc(black_box(bytes), layout);
        }
    }
}
