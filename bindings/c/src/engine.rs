//! The guard's engine, by JSON documents: for an adapter on an SDK, in any language.

use std::ffi::c_char;

use sealwax_mcp::document;

use crate::call::{ErrorReport, Failure, call};
use crate::codec::Codec;
use crate::input;
use crate::output::{Buffer, Owner, Slot, free};
use crate::status::Status;

/// The rules of a server's guard: a codec and settings.
pub struct Guard(pub(crate) sealwax_mcp::Guard);

/// The state of a guard for one message, from its arrival until its answer is sent. Unlike other
/// objects it is mutable, so only one thread may use it at a time.
pub struct Exchange(pub(crate) Owner<sealwax_mcp::Exchange>);

/// Makes a guard.
///
/// `settings` and the documents of the functions below are JSON, as docs/engine.md specifies. Input
/// of a client never makes these functions fail; a failure is a mistake of the adapter.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for settings that contradict themselves.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_new(
    codec: *const Codec,
    settings: *const c_char,
    settings_len: usize,
    guard: *mut *mut Guard,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let codec = input::object("codec", codec)?;
            let settings = input::text("settings", settings, settings_len)?;
            let guard = Slot::new("guard", guard)?;
            guard.give(Guard(document::guard(codec.0.clone(), settings)?));
            Ok(())
        })
    }
}

/// Frees a guard; NULL is allowed. Its exchanges stay valid until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_free(guard: *mut Guard) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(guard) };
}

/// Begins the exchange of a message at an SDK's handlers, and returns the first step.
///
/// `arguments` are the request's, as JSON; NULL means absent. The exchange owns the step: it is
/// valid until the next call with that exchange, or until the exchange is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_message(
    guard: *const Guard,
    document: *const c_char,
    document_len: usize,
    arguments: *const c_char,
    arguments_len: usize,
    exchange: *mut *mut Exchange,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let guard = input::object("guard", guard)?;
            let document = readable(document, document_len)?;
            let arguments = input::optional_json(arguments, arguments_len)?;
            Owner::begin(Exchange, exchange, step, step_len, || {
                Ok(document::message(&guard.0, document, arguments))
            })
        })
    }
}

/// Begins the exchange of a message around HTTP or stdio, before the SDK sees it, and returns the
/// first step.
///
/// `initialize` is the `params` of an `initialize` request, as JSON; NULL means absent. The step is
/// returned as by sealwax_guard_message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_transport(
    guard: *const Guard,
    document: *const c_char,
    document_len: usize,
    initialize: *const c_char,
    initialize_len: usize,
    exchange: *mut *mut Exchange,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let guard = input::object("guard", guard)?;
            let document = readable(document, document_len)?;
            let initialize = input::optional_json(initialize, initialize_len)?;
            Owner::begin(Exchange, exchange, step, step_len, || {
                Ok(document::transport(&guard.0, document, initialize))
            })
        })
    }
}

/// Writes the entry of the log for a mistake that the adapter found by itself, a JSON document: in a
/// transport, in a function of the author, in what a handler gave.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_report(
    guard: *const Guard,
    document: *const c_char,
    document_len: usize,
    out: *mut c_char,
    cap: usize,
    len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let guard = input::object("guard", guard)?;
            let document = input::text("document", document, document_len)?;
            Buffer::text(out, cap, len)?.write(document::report(&guard.0, document)?.as_bytes())
        })
    }
}

/// Begins the exchange that signs a principal out everywhere, and returns the first step, as
/// sealwax_guard_message does: everything of the principal that began until now is refused.
/// `principal` is JSON, as docs/engine.md specifies; `retain_for` is for how many seconds the ledger
/// remembers it, at least the longest lifetime of anything that the service issues, now or later;
/// 0 is for 400 days, longer than anything lives. The last step is `done` if the ledger
/// recorded it; after `reply`, the principal is possibly not signed out.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a guard without a ledger, and for an invalid principal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_revoke(
    guard: *const Guard,
    principal: *const c_char,
    principal_len: usize,
    retain_for: u64,
    exchange: *mut *mut Exchange,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let guard = input::object("guard", guard)?;
            let principal = input::text("principal", principal, principal_len)?;
            let retain_for = (retain_for != 0).then_some(retain_for);
            Owner::begin(Exchange, exchange, step, step_len, || {
                document::revoke(&guard.0, principal, retain_for)
            })
        })
    }
}

/// Reports the outcome of the last step, and returns the next one.
///
/// `value` is the JSON that belongs to some events; NULL means absent.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an event that does not match the last step; the exchange
/// is unchanged then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_on(
    exchange: *mut Exchange,
    event: *const c_char,
    event_len: usize,
    value: *const c_char,
    value_len: usize,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let event = readable(event, event_len)?;
            let value = input::optional_json(value, value_len)?;
            exchange
                .0
                .text(step, step_len, |exchange| {
                    document::on(exchange, event, value)
                })
                .map(drop)
        })
    }
}

/// Begins an exchange for what a handler does with a handle, and returns its first step. It is freed
/// separately.
///
/// `value` is the state to seal into the handle, as JSON; NULL means absent.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an invalid document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_handle(
    exchange: *const Exchange,
    operation: *const c_char,
    operation_len: usize,
    value: *const c_char,
    value_len: usize,
    handling: *mut *mut Exchange,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let operation = readable(operation, operation_len)?;
            let value = input::optional_json(value, value_len)?;
            exchange.0.with(|exchange| {
                Owner::begin(Exchange, handling, step, step_len, || {
                    document::handle(exchange, operation, value)
                })
            })
        })
    }
}

/// Seals the next `requestState`, a value as JSON, for the request and its caller. Returns the token,
/// which the exchange owns like a step: the `requestState` of a result with `resultType`
/// `input_required`.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a method without `requestState`, before and after its
/// handler, and for invalid JSON; else as sealing does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_seal_state(
    exchange: *mut Exchange,
    value: *const c_char,
    value_len: usize,
    token: *mut *const c_char,
    token_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let value = input::text("value", value, value_len)?;
            exchange
                .0
                .text(token, token_len, |exchange| exchange.seal_state(value))
                .map(drop)
        })
    }
}

/// Writes the value of the request's session, as JSON: it is sent with the result.
///
/// Fails with SEALWAX_INVALID_ARGUMENT without a session to write to, and after the handler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_write(
    exchange: *mut Exchange,
    value: *const c_char,
    value_len: usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let value = input::text("value", value, value_len)?;
            exchange.0.with(|exchange| Ok(exchange.write(value)?))
        })
    }
}

/// Writes the session's value, computed by functions of the author, as JSON. If another request
/// wrote in the meantime, the step `update` asks to apply the functions to that value.
///
/// Fails as sealwax_exchange_write does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_update(
    exchange: *mut Exchange,
    value: *const c_char,
    value_len: usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let value = input::text("value", value, value_len)?;
            exchange.0.with(|exchange| Ok(exchange.update(value)?))
        })
    }
}

/// Forks the session: the new one starts with the written value, or else the opened one. Returns
/// its metadata, which the exchange owns like a step.
///
/// Fails as sealwax_exchange_write and sealwax_session_create do.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_fork(
    exchange: *mut Exchange,
    metadata: *mut *const c_char,
    metadata_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            exchange
                .0
                .text(metadata, metadata_len, document::fork)
                .map(drop)
        })
    }
}

/// Returns what happened to tokens since the last step that was a document, as a JSON array, which the
/// exchange owns like a step: where the settings have `events`, after SEALWAX_NEXT_DELIVER and
/// SEALWAX_NEXT_RESPOND with a text. Documents hold their events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_events(
    exchange: *mut Exchange,
    events: *mut *const c_char,
    events_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            exchange
                .0
                .text(events, events_len, |exchange| {
                    Ok(document::events(exchange))
                })
                .map(drop)
        })
    }
}

/// Frees an exchange at any step, which cancels it; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_free(exchange: *mut Exchange) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(exchange) };
}

/// Reads a document; anything but UTF-8 counts as an invalid document.
///
/// # Safety
///
/// The rules of the header.
unsafe fn readable<'a>(data: *const c_char, len: usize) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise is the same.
    match unsafe { input::text("document", data, len) } {
        Err(Failure::NotUtf8(_)) => Ok(""),
        other => other,
    }
}
