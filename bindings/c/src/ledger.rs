//! The ledger: the effect of a guard's commands on a store, and a store in memory.

use std::ffi::c_char;

use sealwax_mcp::document;
use sealwax_mcp::ledger;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Buffer, Owner, Slot, Text, free};
use crate::status::Status;

/// A ledger in the memory of one process. Unlike other objects it is mutable, and lends its replies, so only one
/// thread may use it at a time.
pub struct Memory(Owner<ledger::Memory>);

/// Returns a script or statement for a store, valid for ever: the Lua scripts `open`, `admit`,
/// `commit` and `revoke` for Redis and Valkey; for SQLite `sqlite-connect`, `sqlite-normal`,
/// `sqlite-create`, `sqlite-begin`, `sqlite-now`, `sqlite-read`, `sqlite-write`, `sqlite-delete`
/// and `sqlite-sweep` (LEDGER.md).
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an unknown name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ledger_text(
    name: *const c_char,
    name_len: usize,
    text: *mut *const c_char,
    text_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let name = input::text("name", name, name_len)?;
            Text::new(text, text_len)?.write(ledger::text(name)?);
            Ok(())
        })
    }
}

/// Judges a command in a store's transaction: `now` is the store's own clock in Unix seconds,
/// `values` a JSON array of the values of the command's keys, null for a missing one. Returns a
/// JSON object: `reply`, and the `writes` to do in the same transaction (LEDGER.md).
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid command, and unless there is one value for
/// each key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ledger_judge(
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
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let command = input::text("command", command, command_len)?;
            let values = input::text("values", values, values_len)?;
            Buffer::text(out, cap, len)?.write(document::judge(command, now, values)?.as_bytes())
        })
    }
}

/// Makes a ledger in memory of about `capacity` bytes, which remembers from `now` on, in Unix seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_memory_new(
    capacity: usize,
    now: u64,
    memory: *mut *mut Memory,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let made = ledger::Memory::new(capacity, now);
            Slot::new("memory", memory)?.give(Memory(Owner::new(made)));
            Ok(())
        })
    }
}

/// Runs a command at `now`, in Unix seconds. The ledger owns the reply, a JSON array of strings: it
/// is valid until the next call with that ledger.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid command.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_memory_run(
    memory: *mut Memory,
    command: *const c_char,
    command_len: usize,
    now: u64,
    reply: *mut *const c_char,
    reply_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let memory = input::object("memory", memory)?;
            let command = input::text("command", command, command_len)?;
            memory
                .0
                .text(reply, reply_len, |memory| {
                    document::run(memory, command, now)
                })
                .map(drop)
        })
    }
}

/// Frees a ledger in memory; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_memory_free(memory: *mut Memory) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(memory) };
}
