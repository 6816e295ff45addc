//! Which ABI and which release this library is.

use std::ffi::{CStr, c_char};

/// The ABI of this header. It changes when a program compiled against another could break.
pub const SEALWAX_ABI_VERSION: u32 = 1;

/// The ABI of the library that was loaded: compare it with SEALWAX_ABI_VERSION before anything
/// else.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_abi_version() -> u32 {
    SEALWAX_ABI_VERSION
}

/// The release, such as "0.1.0"; static.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version holds no NUL"),
        };
    VERSION.as_ptr()
}
