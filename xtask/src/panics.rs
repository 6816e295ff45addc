//! Removes the messages of panics.
//!
//! A panic in this module is a trap, and its message is lost: the target has no standard error. So
//! the functions that compose messages become the trap itself, and wasm-opt removes the code that
//! only they call: 11 kB. If a release of Rust renames them, the module exceeds the size budget
//! that a test of the package checks.

/// Functions of the standard library that never return, by their name or its start.
const DIVERGING: [&str; 10] = [
    "alloc::alloc::handle_alloc_error",
    "alloc::raw_vec::capacity_overflow",
    "alloc::raw_vec::handle_error",
    "core::option::expect_failed",
    "core::option::unwrap_failed",
    "core::panicking::",
    "core::result::unwrap_failed",
    "core::slice::copy_from_slice_impl::len_mismatch_fail",
    "core::slice::index::slice_index_fail",
    "core::str::slice_error_fail",
];

/// The replacement for a function's body.
#[derive(Clone, Copy, PartialEq)]
pub enum Instead {
    Trap,
    /// Shows nothing, and succeeds.
    Show,
}

impl Instead {
    pub fn of(name: &str) -> Option<Self> {
        if diverges(name) {
            return Some(Self::Trap);
        }
        // A panic's arguments name tables with functions that would show them. None of our messages
        // uses `{:?}`.
        name.contains("fmt::Debug>::fmt").then_some(Self::Show)
    }

    /// Returns the instructions of the body; nothing after them is reached.
    pub fn code(self) -> &'static [u8] {
        const UNREACHABLE: u8 = 0x00;
        const I32_CONST: u8 = 0x41;
        const RETURN: u8 = 0x0f;
        match self {
            Self::Trap => &[UNREACHABLE],
            // Returns a `Result` that is `Ok`.
            Self::Show => &[I32_CONST, 0, RETURN],
        }
    }
}

/// Matches names such as `core[c5930c85a12de822]::panicking::panic_fmt`, with the crate's hash.
fn diverges(name: &str) -> bool {
    let Some((krate, rest)) = name.split_once("::") else {
        return false;
    };
    let krate = krate.split('[').next().unwrap_or(krate);
    DIVERGING
        .iter()
        .any(|diverging| format!("{krate}::{rest}").starts_with(diverging))
}
