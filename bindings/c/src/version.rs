//! The ABI and the release of this library.

use std::ffi::{CStr, c_char};

/// The ABI of this header. It changes when programs compiled against another could break.
pub const SEALWAX_ABI_VERSION: u32 = 1;

/// Returns the ABI of the loaded library: compare it with SEALWAX_ABI_VERSION before any other
/// call.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_abi_version() -> u32 {
    SEALWAX_ABI_VERSION
}

/// Returns the release, such as "0.1.0"; static.
#[unsafe(no_mangle)]
pub extern "C" fn sealwax_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version holds no NUL"),
        };
    VERSION.as_ptr()
}
