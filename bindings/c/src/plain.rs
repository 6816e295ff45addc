//! The two calls that every request has, without documents.

use std::ffi::c_char;
use std::time::Duration;

use sealwax_core::Principal;
use sealwax_mcp::document::{self, Members, Next};
use sealwax_mcp::{Failed, Message};

use crate::call::{ErrorReport, Failure, call};
use crate::engine::{Exchange, Guard};
use crate::input;
use crate::output::{Owner, Slot};
use crate::status::Status;

/// The text is a step, as a document.
pub const SEALWAX_NEXT_STEP: i32 = 0;
/// `deliver`: the text takes the place of the token that the request brought; NULL if it brought
/// none. Report a result that has the member which the method's token fields name.
pub const SEALWAX_NEXT_DELIVER: i32 = 1;
/// `respond`: the text is the token for that member of the result; NULL leaves the result as it is.
pub const SEALWAX_NEXT_RESPOND: i32 = 2;

/// The message is a notification.
pub const SEALWAX_NOTIFICATION: u32 = 1;
/// The message is of revision 2026-07-28 or later.
pub const SEALWAX_MODERN: u32 = 2;

/// The caller of a request: anonymous alone, or the parts of a principal, of which NULL means absent.
#[repr(C)]
pub struct Caller {
    /// The issuer of the client and the subject.
    pub issuer: *const c_char,
    /// The size of the issuer.
    pub issuer_len: usize,
    /// The client.
    pub client: *const c_char,
    /// The size of the client.
    pub client_len: usize,
    /// The subject.
    pub subject: *const c_char,
    /// The size of the subject.
    pub subject_len: usize,
    /// Whether it is nobody in particular.
    pub anonymous: bool,
}

impl Caller {
    /// Returns the principal; a wrong one is answered, as one in a document is.
    ///
    /// # Safety
    ///
    /// The pointers are NULL, or valid for reading as many bytes as their sizes say.
    unsafe fn principal(&self) -> Result<Result<Principal, Failed>, Failure> {
        // SAFETY: the caller's promise is the same.
        let (issuer, client, subject) = unsafe {
            (
                input::optional_text("issuer", self.issuer, self.issuer_len)?,
                input::optional_text("client", self.client, self.client_len)?,
                input::optional_text("subject", self.subject, self.subject_len)?,
            )
        };
        Ok(match (issuer, client, subject, self.anonymous) {
            (None, None, None, true) => Ok(Principal::anonymous()),
            (_, _, _, true) => {
                return Err(Failure::Contradiction(
                    "caller: expected the parts of a principal or anonymous alone, found both",
                ));
            }
            (issuer, client, subject, false) => Principal::from_parts(issuer, client, subject)
                .map_err(|error| Failed(error.to_string())),
        })
    }
}

/// Begins the exchange of a message at an SDK's handlers, as sealwax_guard_message does, without a
/// document: for a message without the metadata of a session. Returns one of SEALWAX_NEXT_STEP,
/// SEALWAX_NEXT_DELIVER and SEALWAX_NEXT_RESPOND at `next`, and its text, which the exchange owns
/// like a step.
///
/// `target`, `arguments` (as JSON), `token`, `caller` and `within_ms` may be NULL: the message has none,
/// or it is not known. What a client sent and is no text is passed as bytes that are not UTF-8, such
/// as "\xff". `flags` are SEALWAX_NOTIFICATION and SEALWAX_MODERN, added.
///
/// Input of a client never makes it fail. Fails with SEALWAX_INVALID_ARGUMENT for a caller who is
/// anonymous and has a name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_request(
    guard: *const Guard,
    method: *const c_char,
    method_len: usize,
    target: *const c_char,
    target_len: usize,
    arguments: *const c_char,
    arguments_len: usize,
    token: *const c_char,
    token_len: usize,
    caller: *const Caller,
    within_ms: *const u64,
    flags: u32,
    exchange: *mut *mut Exchange,
    next: *mut i32,
    text: *mut *const c_char,
    text_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let guard = input::object("guard", guard)?;
            let caller = caller.as_ref().map(|caller| caller.principal());
            let is = |flag| flags & flag != 0;
            let message = Message {
                method: input::client_value("method", method, method_len)?
                    .text()
                    .unwrap_or_default(),
                target: input::client_value("target", target, target_len)?.text(),
                arguments: input::optional_json(arguments, arguments_len)?,
                notification: is(SEALWAX_NOTIFICATION),
                modern: is(SEALWAX_MODERN),
                token: input::client_value("token", token, token_len)?,
                principal: caller.transpose()?,
                within: within_ms.as_ref().copied().map(Duration::from_millis),
                ..Message::default()
            };
            let next = Slot::new("next", next)?;
            let mut kind = SEALWAX_NEXT_STEP;
            Owner::begin(Exchange, exchange, text, text_len, || {
                let (exchange, found) = document::request(&guard.0, message);
                Ok((exchange, text_of(found, &mut kind)))
            })?;
            next.write(kind);
            Ok(())
        })
    }
}

/// Reports the result of a delivered message by the members that `deliver` asks for, and returns what
/// is next, as sealwax_guard_request does.
///
/// `result_type`, `cache_scope` and `token`, the member that the method's token fields name, are NULL
/// if absent or null. Anything but a text is passed as bytes that are not UTF-8, such as "\xff".
/// `has_ttl` tells whether there is a `ttlMs`.
///
/// Fails as sealwax_exchange_on does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_exchange_result(
    exchange: *mut Exchange,
    result_type: *const c_char,
    result_type_len: usize,
    cache_scope: *const c_char,
    cache_scope_len: usize,
    token: *const c_char,
    token_len: usize,
    has_ttl: bool,
    next: *mut i32,
    text: *mut *const c_char,
    text_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe {
        call(error, || {
            let exchange = input::object("exchange", exchange)?;
            let members = Members {
                result_type: input::client_value("result_type", result_type, result_type_len)?,
                cache_scope: input::client_value("cache_scope", cache_scope, cache_scope_len)?,
                has_ttl,
                token: input::client_value("token", token, token_len)?,
            };
            let next = Slot::new("next", next)?;
            let mut kind = SEALWAX_NEXT_STEP;
            let _before = exchange.0.text(text, text_len, |exchange| {
                Ok(text_of(document::result(exchange, members)?, &mut kind))
            })?;
            next.write(kind);
            Ok(())
        })
    }
}

/// Returns whether the exchange of some messages may begin late, once something leaves for them or
/// their handler uses a handle: of notifications, and of requests that bring no token and whose
/// token fields need no caller. It never changes; false for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_guard_defers(guard: *const Guard) -> bool {
    // SAFETY: the caller keeps to the rules of the header.
    unsafe { guard.as_ref() }.is_some_and(|guard| guard.0.defers())
}

/// Tells what is next, and returns its text.
fn text_of(next: Next, kind: &mut i32) -> Option<String> {
    let (found, text) = match next {
        Next::Step(step) => (SEALWAX_NEXT_STEP, Some(step)),
        Next::Deliver(opened) => (SEALWAX_NEXT_DELIVER, opened),
        Next::Respond(token) => (SEALWAX_NEXT_RESPOND, token),
    };
    *kind = found;
    text
}
