//! Memory that both sides read and write, so that a call takes numbers and gives one: arguments and
//! results that the glue makes cost more than what is done with them. `pkg/src/shared.ts` is the other
//! side.

use std::cell::{Cell, RefCell};

use sealwax::Error;
use wasm_bindgen::prelude::*;

use crate::input::MOST;

thread_local! {
    static MEMORY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ERROR: Cell<Option<Error>> = const { Cell::new(None) };
}

/// In place of a length: there is none, for the reason that [`failure`] throws.
const FAILED: i32 = -1;

/// The address of the memory, with room for as many bytes. What needs more room moves it.
#[wasm_bindgen]
pub fn shared(room: usize) -> *const u8 {
    MEMORY.with_borrow_mut(|memory| {
        grow(memory, room);
        memory.as_ptr()
    })
}

/// As many bytes of a payload, or units of a text, are enough: the core refuses more.
#[wasm_bindgen]
pub fn most() -> u32 {
    MOST
}

/// Throws what the last call failed with.
#[wasm_bindgen]
pub fn failure() -> crate::error::Result<()> {
    ERROR.take().map_or(Ok(()), |error| Err(error.into()))
}

/// Reads what was left in the memory, so many bytes, and wipes it.
pub fn take<T>(
    given: usize,
    read: impl FnOnce(&mut Given<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    MEMORY.with_borrow_mut(|memory| {
        let given = &mut memory[..given];
        let outcome = read(&mut Given(given));
        given.fill(0);
        outcome
    })
}

/// Leaves what came of a call in the memory, and returns its length.
pub fn leave<T>(outcome: Result<T, Error>, write: impl FnOnce(&T, &mut Left<'_>)) -> i32 {
    match outcome {
        Ok(found) => MEMORY.with_borrow_mut(|memory| {
            let mut left = Left { memory, length: 0 };
            write(&found, &mut left);
            i32::try_from(left.length).unwrap_or(FAILED)
        }),
        Err(error) => {
            ERROR.set(Some(error));
            FAILED
        }
    }
}

fn grow(memory: &mut Vec<u8>, room: usize) {
    if memory.len() < room {
        let mut larger = vec![0; room];
        larger[..memory.len()].copy_from_slice(memory);
        memory.fill(0);
        *memory = larger;
    }
}

/// One piece after another.
pub struct Left<'a> {
    memory: &'a mut Vec<u8>,
    length: usize,
}

impl Left<'_> {
    pub fn put(&mut self, piece: &[u8]) {
        let end = self.length + piece.len();
        grow(self.memory, end);
        self.memory[self.length..end].copy_from_slice(piece);
        self.length = end;
    }
}

/// The same, to read.
pub struct Given<'a>(&'a [u8]);

impl<'a> Given<'a> {
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(length);
        self.0 = rest;
        piece
    }

    /// A negative length is that of what is absent.
    pub fn some_bytes(&mut self, length: i32) -> Option<&'a [u8]> {
        let length = usize::try_from(length).ok()?;
        Some(self.bytes(length))
    }

    pub fn text(&mut self, length: usize) -> Result<&'a str, Error> {
        str::from_utf8(self.bytes(length)).map_err(|_| Error::Malformed("UTF-8"))
    }

    pub fn some_text(&mut self, length: i32) -> Result<Option<&'a str>, Error> {
        let length = usize::try_from(length).ok();
        length.map(|length| self.text(length)).transpose()
    }
}
