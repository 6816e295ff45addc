//! The exchanges in progress, by number: an object of the glue for each would take a finalizer, which costs
//! more than what the engine does for most requests.

use std::cell::RefCell;

use sealwax::Error;
use sealwax_mcp::Exchange;
use sealwax_mcp::document::Next;

use crate::shared;

#[derive(Default)]
struct Exchanges {
    all: Vec<Option<Exchange>>,
    free: Vec<usize>,
}

thread_local! {
    static EXCHANGES: RefCell<Exchanges> = RefCell::default();
}

/// Keeps an exchange, and writes its number and what is next.
#[inline(never)]
pub fn begin(begun: Result<(Exchange, Next), Error>) -> i32 {
    let begun = begun.map(|(exchange, next)| (add(exchange), next));
    let (number, next) = match begun {
        Ok((number, next)) => (number.to_le_bytes(), Ok(next)),
        Err(error) => ([0; 4], Err(error)),
    };
    put_after(&number, next)
}

/// Writes what is next, and returns its length in units of 8, plus what it is: 0 a step, as a document;
/// `deliver` is 1, or 2 with a text; `respond` is 3, or 4 with a token.
pub fn put(next: Result<Next, Error>) -> i32 {
    put_after(&[], next)
}

#[inline(never)]
fn put_after(number: &[u8], next: Result<Next, Error>) -> i32 {
    let mut kind = 0;
    let length = shared::put_result(next, |next, writer| {
        let (found, text) = match next {
            Next::Step(step) => (0, Some(step)),
            Next::Deliver(opened) => (1, opened.as_ref()),
            Next::Respond(token) => (3, token.as_ref()),
        };
        kind = found + i32::from(found > 0 && text.is_some());
        writer.put(number);
        writer.put(text.map_or(&[], |text| text.as_bytes()));
    });
    if length < 0 {
        length
    } else {
        length * 8 + kind
    }
}

fn add(exchange: Exchange) -> u32 {
    EXCHANGES.with_borrow_mut(|Exchanges { all, free }| {
        let number = free.pop().unwrap_or(all.len());
        match all.get_mut(number) {
            Some(place) => *place = Some(exchange),
            None => all.push(Some(exchange)),
        }
        u32::try_from(number).unwrap_or_default()
    })
}

pub fn with<T>(
    exchange: usize,
    work: impl FnOnce(&mut Exchange) -> Result<T, Error>,
) -> Result<T, Error> {
    EXCHANGES.with_borrow_mut(|exchanges| match exchanges.all.get_mut(exchange) {
        Some(Some(exchange)) => work(exchange),
        _ => Err(Error::InvalidArgument(
            "exchange: expected one in progress, found none".into(),
        )),
    })
}

pub fn free(exchange: usize) {
    EXCHANGES.with_borrow_mut(|Exchanges { all, free }| {
        if all.get_mut(exchange).and_then(Option::take).is_some() {
            free.push(exchange);
        }
    });
}

/// Returns whether no call is using an exchange.
pub fn is_free() -> bool {
    EXCHANGES.with(|exchanges| exchanges.try_borrow_mut().is_ok())
}

pub fn count() -> usize {
    EXCHANGES.with_borrow(|exchanges| exchanges.all.len() - exchanges.free.len())
}
