//! Memory that both sides read and write, so that calls pass only numbers: the glue's arguments and
//! results cost more than sealing and opening. `pkg/src/memory.ts` is the other side.

use std::cell::{Cell, RefCell};

use sealwax::Error;
use sealwax_mcp::machine::Frame;
use wasm_bindgen::prelude::*;

use crate::input::MOST;

thread_local! {
    static MEMORY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PLACE: [Cell<usize>; 2] = const { [const { Cell::new(0) }; 2] };
    static ERROR: Cell<Option<Error>> = const { Cell::new(None) };
}

/// Returned instead of a length: the call failed, and [`failure`] throws the error. -2 is what `crate::stack` finds.
const FAILED: i32 = -1;

/// Returns the address of the memory, with at least this size. Growing it moves it.
#[wasm_bindgen]
pub fn shared(size: usize) -> *const u8 {
    MEMORY.with_borrow_mut(|memory| {
        grow(memory, size);
        memory.as_ptr()
    })
}

/// Returns where the address of the memory always is, with its size after it: to read both is no call.
#[wasm_bindgen]
pub fn place() -> *const usize {
    PLACE.with(|place| place.as_ptr().cast())
}

/// Returns the most bytes of a payload, or units of a text, to pass: the core refuses more.
#[wasm_bindgen]
pub fn most() -> u32 {
    MOST
}

/// Throws the error of the last call.
#[wasm_bindgen]
pub fn failure() -> crate::error::Result<()> {
    ERROR.take().map_or(Ok(()), |error| Err(error.into()))
}

/// Returns whether no call is using the memory.
pub fn is_free() -> bool {
    MEMORY.with(|memory| memory.try_borrow_mut().is_ok())
}

/// Reads this many bytes from the memory, and wipes them.
pub fn take<T>(
    given: usize,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    MEMORY.with_borrow_mut(|memory| {
        let given = &mut memory[..given];
        let outcome = read(&mut Reader(given));
        given.fill(0);
        outcome
    })
}

/// Reads a frame of so many bytes, and wipes it.
#[inline(never)]
pub fn frame<T>(
    given: usize,
    read: impl FnOnce(&Frame<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    take(given, |reader| read(&Frame::read(reader.0)?))
}

/// Writes the result of a call to the memory, and returns its length.
pub fn put_result<T>(outcome: Result<T, Error>, write: impl FnOnce(&T, &mut Writer<'_>)) -> i32 {
    match outcome {
        Ok(found) => MEMORY.with_borrow_mut(|memory| {
            let mut writer = Writer { memory, length: 0 };
            write(&found, &mut writer);
            i32::try_from(writer.length).unwrap_or(FAILED)
        }),
        Err(error) => {
            ERROR.set(Some(error));
            FAILED
        }
    }
}

fn grow(memory: &mut Vec<u8>, size: usize) {
    if memory.len() < size {
        let mut larger = vec![0; size];
        larger[..memory.len()].copy_from_slice(memory);
        memory.fill(0);
        *memory = larger;
        PLACE.with(|[address, length]| {
            address.set(memory.as_ptr().addr());
            length.set(memory.len());
        });
    }
}

/// Writes values one after another.
pub struct Writer<'a> {
    memory: &'a mut Vec<u8>,
    length: usize,
}

impl Writer<'_> {
    pub fn put(&mut self, piece: &[u8]) {
        let end = self.length + piece.len();
        grow(self.memory, end);
        self.memory[self.length..end].copy_from_slice(piece);
        self.length = end;
    }
}

/// Reads values one after another.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn bytes(&mut self, length: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(length);
        self.0 = rest;
        piece
    }

    /// Reads bytes; a negative length means absent.
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
