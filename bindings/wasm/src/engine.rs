//! The guard's engine. Texts, and JSON documents, pass through the shared memory.

use std::cell::RefCell;
use std::time::Duration;

use sealwax::{Error, Principal};
use sealwax_mcp::document::{self, Members, Next};
use sealwax_mcp::{ClientSession, ClientValue, Failed, Message, ledger};
use wasm_bindgen::prelude::*;

use crate::codec::Codec;
use crate::error::Result;
use crate::exchanges;
use crate::input::{Text, cut, document, whole};
use crate::shared;

#[wasm_bindgen]
#[derive(Debug)]
pub struct Guard(sealwax_mcp::Guard);

const NOTIFICATION: u32 = 1;
const MODERN: u32 = 2;
const ANONYMOUS: u32 = 4;
const SESSION: u32 = 8;
const CALLER: u32 = 16;

/// What begins an exchange writes its number, in 4 bytes, and what is next, as
/// [`exchanges`] says. JavaScript frees it.
#[wasm_bindgen]
impl Guard {
    #[wasm_bindgen(constructor)]
    pub fn new(codec: &Codec, settings: &str) -> Result<Self> {
        Ok(Self(document::guard(codec.0.clone(), settings)?))
    }

    pub fn defers(&self) -> bool {
        self.0.defers()
    }

    pub fn request(&self, given: usize, flags: u32, within_ms: f64) -> i32 {
        exchanges::begin(shared::take(given, |given| {
            let [
                method,
                target,
                arguments,
                token,
                header,
                id,
                state,
                caller @ ..,
            ] = given.texts::<10>()?;
            let parts = caller.map(ClientValue::text);
            let message = Message {
                method: method.text().unwrap_or_default(),
                target: target.text(),
                arguments: arguments.text(),
                notification: flags & NOTIFICATION != 0,
                modern: flags & MODERN != 0,
                header: header.text(),
                token,
                session: (flags & SESSION != 0).then_some(ClientSession { id, state }),
                principal: (flags & CALLER != 0).then(|| principal(parts, flags & ANONYMOUS != 0)),
                within: (!within_ms.is_nan()).then(|| Duration::from_millis(whole(within_ms))),
            };
            Ok(document::request(&self.0, message))
        }))
    }

    pub fn transport(&self, given: usize) -> i32 {
        exchanges::begin(shared::take(given, |given| {
            let [document, initialize] = given.texts()?.map(ClientValue::text);
            Ok(step(document::transport(
                &self.0,
                document.unwrap_or_default(),
                initialize,
            )))
        }))
    }

    /// Writes the entry of the log for a mistake of the adapter's side.
    pub fn report(&self, given: usize) -> i32 {
        with_text(given, &mut |fault| document::report(&self.0, fault))
    }

    pub fn revoke(&self, given: usize, retain_for: Option<f64>) -> i32 {
        exchanges::begin(shared::take(given, |given| {
            let [principal] = given.texts()?;
            let principal = principal.text().unwrap_or_default();
            document::revoke(&self.0, principal, retain_for.map(whole)).map(step)
        }))
    }
}

fn principal(
    [issuer, client, subject]: [Option<&str>; 3],
    anonymous: bool,
) -> core::result::Result<Principal, Failed> {
    if anonymous {
        return Ok(Principal::anonymous());
    }
    let named = Principal::from_parts(issuer, client, subject);
    named.map_err(|error| Failed(error.to_string()))
}

fn step<T>((exchange, step): (T, String)) -> (T, Next) {
    (exchange, Next::Step(step))
}

/// Reports an event, and writes what is next.
#[wasm_bindgen(js_name = exchangeOn)]
pub fn on(exchange: usize, given: usize) -> i32 {
    exchanges::put(shared::take(given, |given| {
        let [event, value] = given.texts()?.map(ClientValue::text);
        let event = event.unwrap_or_default();
        exchanges::with(exchange, |exchange| {
            document::on(exchange, event, value).map(Next::Step)
        })
    }))
}

/// Reports the caller, and writes what is next.
#[wasm_bindgen(js_name = exchangePrincipal)]
pub fn identified(exchange: usize, given: usize, anonymous: bool) -> i32 {
    exchanges::put(shared::take(given, |given| {
        let parts = given.texts()?.map(ClientValue::text);
        let principal = principal(parts, anonymous);
        exchanges::with(exchange, |exchange| {
            document::principal(exchange, principal)
        })
    }))
}

/// Reports the result of a handler, and writes what is next.
#[wasm_bindgen(js_name = exchangeResult)]
pub fn result(exchange: usize, given: usize, has_ttl: bool) -> i32 {
    exchanges::put(shared::take(given, |given| {
        let [result_type, cache_scope, token] = given.texts()?;
        let members = Members {
            result_type,
            cache_scope,
            has_ttl,
            token,
        };
        exchanges::with(exchange, |exchange| document::result(exchange, members))
    }))
}

/// Begins another exchange for an operation on a handle.
#[wasm_bindgen(js_name = exchangeHandle)]
pub fn handle(exchange: usize, given: usize) -> i32 {
    exchanges::begin(shared::take(given, |given| {
        let [op, value] = given.texts()?.map(ClientValue::text);
        let op = op.unwrap_or_default();
        exchanges::with(exchange, |exchange| {
            document::handle(exchange, op, value).map(step)
        })
    }))
}

/// Seals a state, writes or updates the session's value, forks it, or takes the events: by `what`, in this
/// order. Writes the token, the metadata, or the events.
#[wasm_bindgen(js_name = exchangeCall)]
pub fn call(exchange: usize, given: usize, what: u32) -> i32 {
    with_text(given, &mut |value| {
        exchanges::with(exchange, |exchange| match what {
            0 => exchange.seal_state(value),
            1 => exchange.write(value).map(|()| String::new()),
            2 => exchange.update(value).map(|()| String::new()),
            3 => document::fork(exchange),
            _ => Ok(document::events(exchange)),
        })
    })
}

/// Makes a text of a text.
#[inline(never)]
fn with_text(
    given: usize,
    make: &mut dyn FnMut(&str) -> core::result::Result<String, Error>,
) -> i32 {
    let made = shared::take(given, |given| {
        let [text] = given.texts()?;
        make(text.text().unwrap_or_default())
    });
    shared::put_result(made, |made, writer| writer.put(made.as_bytes()))
}

#[wasm_bindgen(js_name = exchangeFree)]
pub fn free(exchange: usize) {
    exchanges::free(exchange);
}

/// Returns how many exchanges are not freed yet, for tests.
#[wasm_bindgen]
pub fn exchanges() -> usize {
    exchanges::count()
}

#[wasm_bindgen(js_name = ledgerText)]
pub fn ledger_text(name: &Text) -> Result<String> {
    Ok(ledger::text(&cut(name))?.into())
}

#[wasm_bindgen(js_name = ledgerJudge)]
pub fn ledger_judge(command: &Text, now: f64, values: &Text) -> Result<String> {
    Ok(document::judge(
        &document(command),
        whole(now),
        &document(values),
    )?)
}

/// Borrowed by what can throw nothing of the host: an exception would leave it borrowed.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Memory(RefCell<ledger::Memory>);

#[wasm_bindgen]
impl Memory {
    #[wasm_bindgen(constructor)]
    pub fn new(capacity: usize, now: f64) -> Self {
        Self(RefCell::new(ledger::Memory::new(capacity, whole(now))))
    }

    pub fn run(&self, command: &Text, now: f64) -> Result<String> {
        let command = document(command);
        let reply = document::run(&mut self.0.borrow_mut(), &command, whole(now));
        Ok(reply?)
    }
}
