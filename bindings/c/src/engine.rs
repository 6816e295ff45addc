//! The guard's engine, by JSON documents: for an adapter on an SDK, in any language.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use sealwax_core::mcp::{self, document};

use crate::call::{ErrorReport, Failure, call};
use crate::codec::Codec;
use crate::input;
use crate::output::{Slot, free};
use crate::status::Status;

/// The rules of a server's guard: a codec and settings.
pub struct Guard(pub(crate) mcp::Guard);

/// What a guard knows of one message, from when it comes to when its answer leaves. Unlike every other
/// object it changes, so it serves one thread at a time.
pub struct Exchange(Mutex<Current>);

struct Current {
    exchange: mcp::Exchange,
    /// The last document that was given.
    step: String,
}

/// Makes a guard.
///
/// `settings` and the documents of the functions below are JSON, in the form of docs/engine.md. What a client
/// sent never makes these functions fail; what fails is the adapter's own mistake.
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

/// Frees a guard; NULL is fine. Its exchanges live on until they are freed too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_free(guard: *mut Guard) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(guard) };
}

/// Begins the exchange of a message at an SDK's handlers, and tells the first step.
///
/// `arguments` are the request's, as JSON; NULL is absent. The step lies in the exchange: it is good until
/// the next call with that exchange, or until the exchange is freed.
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
            let arguments = optional(arguments, arguments_len)?;
            let begun = Begun::new(exchange, step, step_len)?;
            begun.give(document::message(&guard.0, document, arguments));
            Ok(())
        })
    }
}

/// Begins the exchange of a message around HTTP or stdio, before the SDK sees it, and tells the first step.
///
/// `initialize` are the params of such a request, as JSON; NULL is absent. The step is as
/// sealwax_guard_message has it.
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
            let initialize = optional(initialize, initialize_len)?;
            let begun = Begun::new(exchange, step, step_len)?;
            begun.give(document::transport(&guard.0, document, initialize));
            Ok(())
        })
    }
}

/// Begins the exchange that refuses whatever of a principal began until now, and tells the first step, as
/// sealwax_guard_message does. `principal` is JSON in the form of docs/engine.md; `lives` is the longest life of
/// anything that the service gives out, in seconds, and 0 for ever. It ends with the step `done`, or with `reply`
/// where it is not known that anybody was signed out.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a guard without a ledger, and for what is no principal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_revoke(
    guard: *const Guard,
    principal: *const c_char,
    principal_len: usize,
    lives: u64,
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
            let begun = Begun::new(exchange, step, step_len)?;
            let lives = (lives != 0).then_some(lives);
            begun.give(document::revoke(&guard.0, principal, lives)?);
            Ok(())
        })
    }
}

/// Takes what came of the last step, and tells the next one.
///
/// `value` is JSON that some events come with; NULL is absent.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for an event that does not follow the last step; the exchange is as
/// it was.
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
            let value = optional(value, value_len)?;
            let told = Told::new(step, step_len)?;
            let mut current = exchange.0.lock().unwrap_or_else(PoisonError::into_inner);
            current.step = document::on(&mut current.exchange, event, value)?;
            told.give(&current.step);
            Ok(())
        })
    }
}

/// Begins an exchange for what a handler does with a handle, and tells its first step. It is freed by itself.
///
/// `value` is what the handle shall hold, as JSON; NULL is absent.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for a document that is no act.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_act(
    exchange: *const Exchange,
    act: *const c_char,
    act_len: usize,
    value: *const c_char,
    value_len: usize,
    acting: *mut *mut Exchange,
    step: *mut *const c_char,
    step_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let act = readable(act, act_len)?;
            let value = optional(value, value_len)?;
            let begun = Begun::new(acting, step, step_len)?;
            let current = exchange.0.lock().unwrap_or_else(PoisonError::into_inner);
            begun.give(document::act(&current.exchange, act, value)?);
            Ok(())
        })
    }
}

/// Writes the value of the request's session, as JSON: it leaves with the result.
///
/// Fails with SEALWAX_INVALID_ARGUMENT where there is nothing to write to, or the handler is over.
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
            let mut current = exchange.0.lock().unwrap_or_else(PoisonError::into_inner);
            current.exchange.write(value)?;
            Ok(())
        })
    }
}

/// Writes what functions of the author's made of the session's value, as JSON. If somebody else wrote in the
/// meantime, the step `update` asks for what they make of that.
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
            let mut current = exchange.0.lock().unwrap_or_else(PoisonError::into_inner);
            current.exchange.update(value)?;
            Ok(())
        })
    }
}

/// Makes a new session that begins with what was written, else with what came, and gives its metadata, as a
/// step is given.
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
            let told = Told::new(metadata, metadata_len)?;
            let mut current = exchange.0.lock().unwrap_or_else(PoisonError::into_inner);
            current.step = document::fork(&current.exchange)?;
            told.give(&current.step);
            Ok(())
        })
    }
}

/// Frees an exchange, whatever its step: so it is cancelled; NULL is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_free(exchange: *mut Exchange) {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { free(exchange) };
}

/// A document: what is not UTF-8 is read as a document that is none.
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

/// JSON that may be absent: what is not UTF-8 is read as JSON that is none.
///
/// # Safety
///
/// The rules of the header.
unsafe fn optional<'a>(data: *const c_char, len: usize) -> Result<Option<&'a str>, Failure> {
    // SAFETY: the caller's promise is the same.
    match unsafe { input::optional_text("value", data, len) } {
        Err(Failure::NotUtf8(_)) => Ok(Some("?")),
        other => other,
    }
}

/// Places for an exchange and its first step.
struct Begun {
    exchange: Slot<*mut Exchange>,
    told: Told,
}

impl Begun {
    /// # Safety
    ///
    /// The rules of the header.
    unsafe fn new(
        exchange: *mut *mut Exchange,
        step: *mut *const c_char,
        step_len: *mut usize,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller's promise is the same.
        unsafe {
            Ok(Self {
                exchange: Slot::new("exchange", exchange)?,
                told: Told::new(step, step_len)?,
            })
        }
    }

    fn give(self, (exchange, step): (mcp::Exchange, String)) {
        // What a text points to does not move with it.
        self.told.give(&step);
        self.exchange
            .give(Exchange(Mutex::new(Current { exchange, step })));
    }
}

/// Places for a text that lies in an exchange.
pub(crate) struct Told {
    text: Slot<*const c_char>,
    len: Slot<usize>,
}

impl Told {
    /// # Safety
    ///
    /// The rules of the header.
    pub unsafe fn new(text: *mut *const c_char, len: *mut usize) -> Result<Self, Failure> {
        // SAFETY: the caller's promise is the same.
        unsafe {
            Ok(Self {
                text: Slot::new("step", text)?,
                len: Slot::new("step_len", len)?,
            })
        }
    }

    pub fn give(self, text: &str) {
        self.text.write(text.as_ptr().cast());
        self.len.write(text.len());
    }
}
