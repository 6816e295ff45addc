//! What the portable module has beside the C library: its memory for the host, and the host's cipher
//! (`portable.md`).

use std::alloc::{Layout, alloc, dealloc};

/// Enough for every struct of the header.
const ALIGN: usize = 16;

/// A size of 0 takes a byte, for there is an address to return.
fn layout(len: usize) -> Option<Layout> {
    Layout::from_size_align(len.max(1), ALIGN).ok()
}

// Calls of the constructors by name make this a reactor: the linker then wraps no export in them.
unsafe extern "C" {
    fn __wasm_call_ctors();
}

/// Prepares a new instance, before any other function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _initialize() {
    // SAFETY: the host calls it once, and first.
    unsafe { __wasm_call_ctors() };
    #[cfg(sealwax_host_cipher)]
    sealwax_core::set_host_cipher(&cipher::Host);
}

/// Returns `len` bytes at a multiple of 16, or NULL if there is no memory for them.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_alloc(len: usize) -> *mut u8 {
    match layout(len) {
        // SAFETY: the size is not 0.
        Some(layout) => unsafe { alloc(layout) },
        None => std::ptr::null_mut(),
    }
}

/// Frees, and so wipes, what `sealwax_alloc` returned for the same `len`; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_free(bytes: *mut u8, len: usize) {
    let Some(layout) = layout(len).filter(|_| !bytes.is_null()) else {
        return;
    };
    // SAFETY: the host gives what it was given.
    unsafe { dealloc(bytes, layout) };
}

#[cfg(sealwax_host_cipher)]
mod cipher {
    use sealwax_core::HostCipher;

    #[link(wasm_import_module = "sealwax_host")]
    unsafe extern "C" {
        fn seal(
            key: *const u8,
            nonce: *const u8,
            ad: *const u8,
            ad_len: usize,
            body: *mut u8,
            body_len: usize,
            tag: *mut u8,
        ) -> i32;
        fn open(
            key: *const u8,
            nonce: *const u8,
            ad: *const u8,
            ad_len: usize,
            body: *mut u8,
            body_len: usize,
            tag: *const u8,
        ) -> i32;
    }

    pub(super) struct Host;

    impl HostCipher for Host {
        fn seal(
            &self,
            key: &[u8; 32],
            nonce: &[u8; 12],
            ad: &[u8],
            body: &mut [u8],
        ) -> Option<[u8; 16]> {
            let mut tag = [0; 16];
            // SAFETY: the host reads and writes within these buffers.
            let status = unsafe {
                let (body, body_len) = (body.as_mut_ptr(), body.len());
                let (key, nonce, tag) = (key.as_ptr(), nonce.as_ptr(), tag.as_mut_ptr());
                seal(key, nonce, ad.as_ptr(), ad.len(), body, body_len, tag)
            };
            (status == 0).then_some(tag)
        }

        fn open(
            &self,
            key: &[u8; 32],
            nonce: &[u8; 12],
            ad: &[u8],
            body: &mut [u8],
            tag: &[u8; 16],
        ) -> bool {
            // SAFETY: as above.
            let status = unsafe {
                let (body, body_len) = (body.as_mut_ptr(), body.len());
                let (key, nonce, tag) = (key.as_ptr(), nonce.as_ptr(), tag.as_ptr());
                open(key, nonce, ad.as_ptr(), ad.len(), body, body_len, tag)
            };
            status == 0
        }
    }
}
