//! The ledger: the effect of a guard's commands on a store with transactions.

use std::ffi::c_char;

use sealwax_mcp::document;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::Buffer;
use crate::status::Status;

/// Evaluates a command in a store's transaction: `now` is the store's own clock in Unix seconds,
/// `values` a JSON array of the values of the command's keys, null for a missing one. Returns a
/// JSON object: `reply`, and the `writes` to do in the same transaction (LEDGER.md).
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid command, and unless there is one value for
/// each key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ledger_evaluate(
    command: *const c_char,
    command_len: usize,
    now: u64,
    values: *const c_char,
    values_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let command = input::text("command", command, command_len)?;
        let values = input::text("values", values, values_len)?;
        Buffer::text(out, cap, len)?.write(document::evaluate(command, now, values)?.as_bytes())
    })
}
