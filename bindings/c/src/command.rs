//! The command `sealwax`, for the programs that are it in other languages.

use std::ffi::c_char;

use sealwax_cli::{Run, document};
use sealwax_core::System;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Owner, free};
use crate::status::Status;

/// One run of the command. Unlike other objects it is mutable, so only one thread may use it at a time.
pub struct Command(Owner<Run>);

/// Begins a run of the command `sealwax`, and returns what to do next, both as cli/src/document.rs specifies: it may change
/// in any release. The run owns the text: it is valid until the next call with that run, or until it is freed.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for another document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_command_begin(
    request: *const c_char,
    request_len: usize,
    command: *mut *mut Command,
    next: *mut *const c_char,
    next_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let request = input::text("request", request, request_len)?;
            Owner::begin(Command, command, next, next_len, || {
                let run = document::begin(request)?;
                let next = document::step(&run.step(&System));
                Ok((run, next))
            })
        })
    }
}

/// Reports the answer to the last step, and returns what to do next.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for another document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_command_on(
    command: *mut Command,
    answer: *const c_char,
    answer_len: usize,
    next: *mut *const c_char,
    next_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let command = input::object("command", command)?;
            let answer = input::text("answer", answer, answer_len)?;
            command
                .0
                .text(next, next_len, |run| {
                    run.answer(document::answer(answer)?);
                    Ok(document::step(&run.step(&System)))
                })
                .map(drop)
        })
    }
}

/// Frees a run; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_command_free(command: *mut Command) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(command) };
}
