//! The dialogue with a Redis or a Valkey, for ledgers in it.

use std::ffi::c_char;

use sealwax_mcp::document;
use sealwax_mcp::ledger::redis;

use crate::call::{ErrorReport, call};
use crate::input;
use crate::output::{Owner, Slot, free};
use crate::status::Status;

/// What is known of a Redis between commands.
pub struct Redis(redis::Redis);

/// The dialogue about one command. Unlike other objects it is mutable, so only one thread may use it
/// at a time.
pub struct Dialogue(Owner<redis::Dialogue>);

/// Makes the state for a Redis or a Valkey. `waits` says whether the client can keep a connection of
/// its own for commands that a replica confirms.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_redis_new(
    waits: bool,
    redis: *mut *mut Redis,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            Slot::new("redis", redis)?.give(Redis(redis::Redis::new(waits)));
            Ok(())
        })
    }
}

/// Frees the state for a Redis; NULL is allowed. Its dialogues stay valid until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_redis_free(redis: *mut Redis) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(redis) };
}

/// Begins the dialogue about a command, and returns what is next, as docs/engine.md specifies. The
/// dialogue owns the text: it is valid until the next call with that dialogue, or until it is freed.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid command.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_redis_begin(
    redis: *const Redis,
    command: *const c_char,
    command_len: usize,
    dialogue: *mut *mut Dialogue,
    next: *mut *const c_char,
    next_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let redis = input::object("redis", redis)?;
            let command = input::text("command", command, command_len)?;
            Owner::begin(Dialogue, dialogue, next, next_len, || {
                document::dialogue(&redis.0, command)
            })
        })
    }
}

/// Reports the answer to what was sent, and returns what is next.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_dialogue_on(
    dialogue: *mut Dialogue,
    answer: *const c_char,
    answer_len: usize,
    next: *mut *const c_char,
    next_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let dialogue = input::object("dialogue", dialogue)?;
            let answer = input::text("answer", answer, answer_len)?;
            dialogue
                .0
                .text(next, next_len, |dialogue| {
                    document::answered(dialogue, answer)
                })
                .map(drop)
        })
    }
}

/// Frees a dialogue; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_dialogue_free(dialogue: *mut Dialogue) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(dialogue) };
}
