//! The ledger: what a store does with a command of a guard, and a store in memory.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use sealwax_core::ledger;
use sealwax_core::mcp::document;

use crate::call::{ErrorReport, call};
use crate::engine::Told;
use crate::input;
use crate::output::{Buffer, Slot, free};
use crate::status::Status;

/// A ledger in the memory of one process. Every thread may use it, one at a time.
pub struct Memory(Mutex<Current>);

struct Current {
    memory: ledger::Memory,
    /// The last reply that was given.
    reply: String,
}

/// Gives a text that a store needs, which stays valid for ever: the Lua scripts `open`, `admit`, `commit` and
/// `revoke` for Redis and Valkey; for SQLite `sqlite-connect`, `sqlite-normal`, `sqlite-create`, `sqlite-begin`,
/// `sqlite-now`, `sqlite-read`, `sqlite-write`, `sqlite-delete` and `sqlite-sweep` (LEDGER.md).
///
/// Fails with SEALWAX_INVALID_ARGUMENT for another name.
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
            let told = Told::new(text, text_len)?;
            told.give(ledger::text(name)?);
            Ok(())
        })
    }
}

/// Judges a command in a transaction of a store's: `now` is the store's own clock in Unix seconds, `values` a
/// JSON array of the values of the command's keys, null where there is none. Gives a JSON object: `reply`, and
/// the `writes` that belong to the same transaction (LEDGER.md).
///
/// Fails with SEALWAX_INVALID_ARGUMENT for what is no command, and for other values than of its keys.
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
            let out = Buffer::text(out, cap, len)?;
            out.write(document::judge(command, now, values)?.as_bytes())
        })
    }
}

/// Tells whether a Redis or Valkey is fit to be a ledger, by its answer to `INFO`: a JSON object of two arrays of
/// texts, `refused` and `warned`. One with something in `refused` must not be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_ledger_fitness(
    info: *const c_char,
    info_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let info = input::text("info", info, info_len)?;
            let out = Buffer::text(out, cap, len)?;
            out.write(document::fitness(info).as_bytes())
        })
    }
}

/// Makes a ledger in memory that takes about so many bytes, and remembers from `now` on, in Unix seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_memory_new(
    room: usize,
    now: u64,
    memory: *mut *mut Memory,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            Slot::new("memory", memory)?.give(Memory(Mutex::new(Current {
                memory: ledger::Memory::new(room, now),
                reply: String::new(),
            })));
            Ok(())
        })
    }
}

/// Does a command, at `now` in Unix seconds. The reply, a JSON array of texts, lies in the ledger: it is good
/// until the next call with that ledger.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for what is no command.
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
            let told = Told::new(reply, reply_len)?;
            let mut current = memory.0.lock().unwrap_or_else(PoisonError::into_inner);
            current.reply = document::run(&mut current.memory, command, now)?;
            told.give(&current.reply);
            Ok(())
        })
    }
}

/// Frees a ledger in memory; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_memory_free(memory: *mut Memory) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(memory) };
}
