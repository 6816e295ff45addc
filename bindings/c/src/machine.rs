//! The state machines: the engine's, for an adapter on an SDK in any language, and the command's.

use std::mem;
use std::ptr;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "command")]
use sealwax_cli::{Run, document};
#[cfg(feature = "command")]
use sealwax_core::System;
use sealwax_mcp::machine::{self, Answer, Frame, flag, kind};

use crate::call::{ErrorReport, Failure, call};
use crate::codec::Codec;
use crate::input;
use crate::output::{Slot, free};
use crate::status::Status;

/// A frame that makes a guard, of a codec: its settings. The answer is SEALWAX_MADE.
pub const SEALWAX_GUARD: u8 = 1;
/// A frame that begins the exchange of a message at an SDK's handlers, of a guard: method, target,
/// arguments, token, the caller's issuer, client and subject, header, the session's id and state, and
/// the milliseconds that are left.
pub const SEALWAX_MESSAGE: u8 = 2;
/// Begins the exchange of a message at the SDK's handlers that is none, of the `parent`, a guard: it cannot be read, or with
/// SEALWAX_FLAG_ID_IN_USE has an id in use. The answer is SEALWAX_STEP.
pub const SEALWAX_INVALID: u8 = 3;
/// A frame that begins the exchange that signs a principal out everywhere, of a guard: a principal
/// as a document, and for how many seconds that is remembered, 400 days if absent. It ends with the
/// step `done` if the ledger recorded it; after `reply`, the principal is possibly not signed out.
pub const SEALWAX_REVOCATION: u8 = 4;
/// A frame that makes an entry of the log for a mistake that the adapter found by itself, of a
/// guard: a document. The answer is SEALWAX_TEXT, the entry; the machine can do no more.
pub const SEALWAX_REPORT: u8 = 5;
/// A frame that begins the exchange of an operation on a handle, of the request's exchange: a
/// document, and a value.
pub const SEALWAX_HANDLE: u8 = 6;
/// A frame that makes what is known of a Redis or a Valkey between commands, without a parent. The
/// answer is SEALWAX_MADE.
pub const SEALWAX_STORE: u8 = 7;
/// A frame that begins the store machine about a command, of a store: a document. Without a command it is a check of the server.
pub const SEALWAX_STORE_MACHINE: u8 = 8;
/// A frame that makes a ledger in memory, without a parent: its size in bytes, and the time in Unix
/// seconds from which it remembers. The answer is SEALWAX_MADE.
pub const SEALWAX_MEMORY: u8 = 9;
/// A frame that begins a run of the command `sealwax`, without a parent: a document as
/// cli/src/document.rs specifies, which may change in any release.
#[cfg(feature = "command")]
pub const SEALWAX_COMMAND: u8 = 10;
/// Begins the exchange of an HTTP request, of the `parent`, a guard: method, `MCP-Protocol-Version`, `Mcp-Session-Id`,
/// `Content-Encoding`, the body if it is there, and the caller's issuer, client and subject. The answer is SEALWAX_STEP.
pub const SEALWAX_HTTP: u8 = 11;
/// Begins a connection on stdio, of the `parent`, a guard. The answer is SEALWAX_MADE.
pub const SEALWAX_CONNECTION: u8 = 12;
/// Begins the exchange of a line of the client's, of the `parent`, a connection. The answer is SEALWAX_STEP.
pub const SEALWAX_LINE: u8 = 13;
/// Begins the exchange of a message of the SDK's, of the `parent`, a connection: it, and the id of the request that it belongs to, as
/// JSON. The answer is SEALWAX_STEP.
pub const SEALWAX_LEAVES: u8 = 14;
/// A frame that begins the store machine with a file of SQLite, without a parent: a document, a command, or with `durable` how the
/// file is opened.
pub const SEALWAX_SQLITE: u8 = 15;
/// A frame that tells an exchange what became of a delivered message: a document, and a value; a
/// store machine or a run of the command its answer: a document.
pub const SEALWAX_EVENT: u8 = 16;
/// A frame that tells an exchange the result of a delivered message: `resultType`, `cacheScope`,
/// and the member that the method's token fields name.
pub const SEALWAX_RESULT: u8 = 17;
/// A frame that tells an exchange the caller: issuer, client and subject.
pub const SEALWAX_PRINCIPAL: u8 = 18;
/// A frame that has an exchange seal the next `requestState`: a value. The answer is SEALWAX_TEXT,
/// the token.
pub const SEALWAX_SEAL_STATE: u8 = 19;
/// A frame that has an exchange write the value of its session: a value. The answer is
/// SEALWAX_MADE.
pub const SEALWAX_WRITE: u8 = 20;
/// A frame that has an exchange fork its session. The answer is SEALWAX_TEXT, the metadata.
pub const SEALWAX_FORK: u8 = 21;
/// A frame that has an exchange make the request's key for another service. The answer is SEALWAX_TEXT.
pub const SEALWAX_IDEMPOTENCY_KEY: u8 = 24;
/// A frame that has a ledger in memory run a command: a document, and the time in Unix seconds. The
/// answer is SEALWAX_TEXT, the reply.
pub const SEALWAX_RUN: u8 = 22;
/// A frame that tells an exchange the answer to what it asked: a value; or what was thrown; or what
/// is wrong. With none of these no answer came in time.
pub const SEALWAX_TOLD: u8 = 23;
/// Tells the body of an HTTP request. The answer is SEALWAX_STEP.
pub const SEALWAX_BODY: u8 = 25;
/// Tells the beginning of the answer to an HTTP request: its status, `Content-Type` and `Mcp-Session-Id`. The answer is
/// SEALWAX_MADE, with SEALWAX_FLAG_CHANGES if its body goes through SEALWAX_PIECE.
pub const SEALWAX_ANSWER: u8 = 26;
/// Tells a piece of that answer's body, cut anywhere. The answer is SEALWAX_TEXT, what can be sent.
pub const SEALWAX_PIECE: u8 = 27;
/// Tells that the answer is whole. The answer is SEALWAX_STEP, and the rest of its body.
pub const SEALWAX_ANSWERED: u8 = 28;

/// An answer: a step, or what is next in a store machine or a run of the command: a document.
pub const SEALWAX_STEP: u8 = 32;
/// An answer: the step `deliver`: what takes the place of the token that the request brought; and
/// the events. Report a result that has the member which the method's token fields name.
pub const SEALWAX_DELIVER: u8 = 33;
/// An answer: the step `respond`: the token for that member of the result, and without one the
/// result leaves as it is; and the events.
pub const SEALWAX_RESPOND: u8 = 34;
/// An answer: a text.
pub const SEALWAX_TEXT: u8 = 35;
/// An answer: it is made, or written.
pub const SEALWAX_MADE: u8 = 36;

/// Of a message: it is a notification.
pub const SEALWAX_FLAG_NOTIFICATION: u16 = 1;
/// Of a message: it is of revision 2026-07-28 or later.
pub const SEALWAX_FLAG_MODERN: u16 = 2;
/// Of a message: it has the metadata of a session.
pub const SEALWAX_FLAG_SESSION: u16 = 4;
/// Of a message: its caller is known.
pub const SEALWAX_FLAG_CALLER: u16 = 8;
/// Of a caller: it is nobody in particular. Without parts then.
pub const SEALWAX_FLAG_ANONYMOUS: u16 = 16;
/// Of a result: it has a `ttlMs`.
pub const SEALWAX_FLAG_TTL: u16 = 32;
/// Of a store: its client can keep a connection of its own for commands that a replica confirms.
pub const SEALWAX_FLAG_WAITS: u16 = 64;
/// Of the answer to SEALWAX_GUARD: the exchange of some messages may begin late.
pub const SEALWAX_FLAG_DEFERS: u16 = 128;
/// Of a message: the server can send its client a request while it waits.
pub const SEALWAX_FLAG_CAN_BE_ASKED: u16 = 1024;
/// Of SEALWAX_INVALID: a request in progress on its connection has its id.
pub const SEALWAX_FLAG_ID_IN_USE: u16 = 512;
/// Of an HTTP request, and of its body: it is larger than what the adapter reads.
pub const SEALWAX_FLAG_TOO_LARGE: u16 = 2048;
/// Of the beginning of an answer: its body goes through SEALWAX_PIECE.
pub const SEALWAX_FLAG_CHANGES: u16 = 4096;

// The header's numbers are the engine's.
const _: () = {
    assert!(SEALWAX_GUARD == kind::GUARD);
    assert!(SEALWAX_MESSAGE == kind::MESSAGE);
    assert!(SEALWAX_REVOCATION == kind::REVOCATION);
    assert!(SEALWAX_REPORT == kind::REPORT);
    assert!(SEALWAX_HANDLE == kind::HANDLE);
    assert!(SEALWAX_STORE == kind::STORE);
    assert!(SEALWAX_STORE_MACHINE == kind::STORE_MACHINE);
    assert!(SEALWAX_MEMORY == kind::MEMORY);
    assert!(SEALWAX_INVALID == kind::INVALID);
    assert!(SEALWAX_FLAG_ID_IN_USE == flag::ID_IN_USE);
    assert!(SEALWAX_HTTP == kind::HTTP);
    assert!(SEALWAX_CONNECTION == kind::CONNECTION);
    assert!(SEALWAX_LINE == kind::LINE);
    assert!(SEALWAX_LEAVES == kind::LEAVES);
    assert!(SEALWAX_BODY == kind::BODY);
    assert!(SEALWAX_ANSWER == kind::ANSWER);
    assert!(SEALWAX_PIECE == kind::PIECE);
    assert!(SEALWAX_ANSWERED == kind::ANSWERED);
    assert!(SEALWAX_SQLITE == kind::SQLITE);
    assert!(SEALWAX_EVENT == kind::EVENT);
    assert!(SEALWAX_RESULT == kind::RESULT);
    assert!(SEALWAX_PRINCIPAL == kind::PRINCIPAL);
    assert!(SEALWAX_SEAL_STATE == kind::SEAL_STATE);
    assert!(SEALWAX_WRITE == kind::WRITE);
    assert!(SEALWAX_FORK == kind::FORK);
    assert!(SEALWAX_IDEMPOTENCY_KEY == kind::IDEMPOTENCY_KEY);
    assert!(SEALWAX_RUN == kind::RUN);
    assert!(SEALWAX_TOLD == kind::TOLD);
    assert!(SEALWAX_STEP == kind::STEP);
    assert!(SEALWAX_DELIVER == kind::DELIVER);
    assert!(SEALWAX_RESPOND == kind::RESPOND);
    assert!(SEALWAX_TEXT == kind::TEXT);
    assert!(SEALWAX_MADE == kind::MADE);
    assert!(SEALWAX_FLAG_NOTIFICATION == flag::NOTIFICATION);
    assert!(SEALWAX_FLAG_MODERN == flag::MODERN);
    assert!(SEALWAX_FLAG_SESSION == flag::SESSION);
    assert!(SEALWAX_FLAG_CALLER == flag::CALLER);
    assert!(SEALWAX_FLAG_ANONYMOUS == flag::ANONYMOUS);
    assert!(SEALWAX_FLAG_TTL == flag::TTL);
    assert!(SEALWAX_FLAG_WAITS == flag::WAITS);
    assert!(SEALWAX_FLAG_DEFERS == flag::DEFERS);
    assert!(SEALWAX_FLAG_CAN_BE_ASKED == flag::CAN_BE_ASKED);
    assert!(SEALWAX_FLAG_TOO_LARGE == flag::TOO_LARGE);
    assert!(SEALWAX_FLAG_CHANGES == flag::CHANGES);
};

/// A state machine: a guard, one of its exchanges, what is known of a Redis, a store machine with it or with a file of SQLite, a ledger in memory, or a run
/// of the command `sealwax`. Threads may share a guard and what is known of a Redis; any other changes, so only one thread may
/// use it at a time. It stays valid when its parent is freed.
///
/// A *frame* is what it is told, and what it answers: a kind in 1 byte, the number of texts in 1 byte, flags in 2 bytes, the
/// length of each text in 4 bytes, and the texts. Numbers are little-endian. The length -1 is for a text that is absent, as
/// all are that are left out at the end; -2 for a value of a client that is no text, and so is what is no UTF-8. Numbers among
/// the texts are in decimal digits. docs/engine.md specifies the documents.
pub struct Machine(Held);

enum Held {
    Shared(machine::Machine, Written),
    Changing(Mutex<(Changing, Written)>),
}

enum Changing {
    Engine(machine::Machine),
    #[cfg(feature = "command")]
    Command(Run),
}

/// Makes a machine by a frame of one of the kinds from SEALWAX_GUARD to SEALWAX_SQLITE. `codec` is that of a guard, and
/// `parent` the machine that its kind names; elsewhere they may be NULL. The machine owns the answer, a frame: it is valid until
/// the next call with that machine, or until the machine is freed.
///
/// Input of a client never makes this function and the next one fail; a failure is a mistake of the adapter. Fails with
/// SEALWAX_INVALID_ARGUMENT for another frame, parent or document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_machine_new(
    codec: *const Codec,
    parent: *const Machine,
    frame: *const u8,
    frame_len: usize,
    machine: *mut *mut Machine,
    answer: *mut *const u8,
    answer_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let given = Frame::read(input::slice("frame", frame, frame_len)?)?;
        let slot = Slot::new("machine", machine)?;
        let output = Output::new(answer, answer_len)?;
        let held = match given.kind {
            SEALWAX_GUARD => {
                let codec = input::object("codec", codec)?.0.clone();
                let (guard, first) = machine::Machine::guard(codec, &given)?;
                Held::Shared(guard, Written::new(&first))
            }
            SEALWAX_STORE => {
                let (store, first) = machine::Machine::new(None, &given)?;
                Held::Shared(store, Written::new(&first))
            }
            #[cfg(feature = "command")]
            SEALWAX_COMMAND => {
                let run = document::begin(given.document())?;
                let first = Written::new(&step(&run));
                Held::Changing(Mutex::new((Changing::Command(run), first)))
            }
            _ => {
                let (made, first) = match parent.as_ref() {
                    Some(parent) => parent.with(|parent| machine::Machine::new(parent, &given))?,
                    None => machine::Machine::new(None, &given)?,
                };
                let first = Written::new(&first);
                Held::Changing(Mutex::new((Changing::Engine(made), first)))
            }
        };
        // It takes memory, so it comes before anything is written.
        let made = slot.give(Machine(held));
        // SAFETY: it was just made.
        output.write((*made).answer());
        Ok(())
    })
}

/// Tells a machine something by a frame of one of the kinds from SEALWAX_EVENT to SEALWAX_ANSWERED. It owns the answer, as
/// sealwax_machine_new says.
///
/// Fails with SEALWAX_INVALID_ARGUMENT for what does not match its last answer, and for another frame or document; the machine
/// is unchanged then. Sealing fails besides as sealwax_seal does, and forking as sealwax_session_create.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_machine_on(
    machine: *mut Machine,
    frame: *const u8,
    frame_len: usize,
    answer: *mut *const u8,
    answer_len: *mut usize,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let machine = input::object("machine", machine)?;
        let given = Frame::read(input::slice("frame", frame, frame_len)?)?;
        let output = Output::new(answer, answer_len)?;
        let Held::Changing(held) = &machine.0 else {
            return Err(Failure::Contradiction(
                "machine: expected one that is told something, found a guard or a store",
            ));
        };
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let (machine, last) = &mut *held;
        let next = match machine {
            Changing::Engine(machine) => machine.on(&given)?,
            #[cfg(feature = "command")]
            Changing::Command(run) if given.kind == SEALWAX_EVENT => {
                run.answer(document::answer(given.document())?);
                step(run)
            }
            #[cfg(feature = "command")]
            Changing::Command(_) => {
                return Err(Failure::Contradiction(
                    "command: expected a frame of the kind SEALWAX_EVENT",
                ));
            }
        };
        // The frame may borrow it, and what the arguments of a function borrow must not be freed before it returns.
        let _before = mem::replace(last, Written::new(&next));
        output.write(last.bytes());
        Ok(())
    })
}

/// Frees a machine, which cancels an exchange at any step; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_machine_free(machine: *mut Machine) {
    free(machine);
}

impl Machine {
    fn answer(&self) -> &[u8] {
        match &self.0 {
            Held::Shared(_, first) => first.bytes(),
            Held::Changing(held) => {
                let held = held.lock().unwrap_or_else(PoisonError::into_inner);
                // SAFETY: it is changed by the machine's next call alone, which nobody makes now.
                unsafe { &*ptr::from_ref(held.1.bytes()) }
            }
        }
    }

    /// Calls a function with the machine as a parent.
    fn with<T>(&self, body: impl FnOnce(Option<&machine::Machine>) -> T) -> T {
        match &self.0 {
            Held::Shared(machine, _) => body(Some(machine)),
            Held::Changing(held) => {
                let held = held.lock().unwrap_or_else(PoisonError::into_inner);
                match &held.0 {
                    Changing::Engine(machine) => body(Some(machine)),
                    #[cfg(feature = "command")]
                    Changing::Command(_) => body(None),
                }
            }
        }
    }
}

/// The places for an answer.
struct Output {
    answer: Slot<*const u8>,
    len: Slot<usize>,
}

impl Output {
    /// # Safety
    ///
    /// `answer` and `len` are NULL or valid for writing.
    unsafe fn new(answer: *mut *const u8, len: *mut usize) -> Result<Self, Failure> {
        // SAFETY: the caller's promise is the same.
        let (answer, len) =
            unsafe { (Slot::new("answer", answer)?, Slot::new("answer_len", len)?) };
        Ok(Self { answer, len })
    }

    fn write(self, answer: &[u8]) {
        self.answer.write(answer.as_ptr());
        self.len.write(answer.len());
    }
}

/// An answer in the form of a frame. One without texts takes no memory of its own.
enum Written {
    Head([u8; 12]),
    Whole(Vec<u8>),
}

impl Written {
    fn new(answer: &Answer) -> Self {
        let head = answer.head();
        if answer.texts == [const { None }; 2] {
            return Self::Head(head);
        }
        let [first, second] = answer
            .texts
            .each_ref()
            .map(|text| text.as_deref().unwrap_or_default());
        Self::Whole([&head, first.as_bytes(), second.as_bytes()].concat())
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Head(head) => head,
            Self::Whole(frame) => frame,
        }
    }
}

#[cfg(feature = "command")]
fn step(run: &Run) -> Answer {
    Answer::of(SEALWAX_STEP, Some(document::step(&run.step(&System))))
}
