//! The state machines of this crate in one shape, for other languages: frames in, frames out. docs/engine.md has the form of a
//! frame, and what each kind holds.
//!
//! Input of a client never makes a machine fail; mistakes of the adapter are errors.

mod frame;
mod short;

use std::time::Duration;

pub use frame::{Answer, Frame};
use frame::{number, sent};

use crate::document;
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::ledger::{Memory, redis, sqlite};
use crate::message::input::{
    Client, ClientSession, ClientValue, Event, Failed, HandlerResult, Message, Outcome, Scope,
};
use crate::message::members::PrincipalParts;
use crate::wire::{AnswerHead, Body, Connection, HttpRequest};
use sealwax::{Codec, Error, Principal};

const NO_FRAME: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "engine: expected a frame as docs/engine.md specifies",
));

/// The kinds of frames.
pub mod kind {
    /// Makes a guard: its settings. Its answer is [`MADE`].
    pub const GUARD: u8 = 1;
    /// Begins the exchange of a message at the SDK's handlers: method, target, arguments, token, the caller's issuer, client and
    /// subject, header, the session's id and state, how many milliseconds are left, and the client's capabilities and
    /// `inputResponses`.
    pub const MESSAGE: u8 = 2;
    /// Begins the exchange of a message at the SDK's handlers that is none: it cannot be read, or has an id in use.
    pub const INVALID: u8 = 3;
    /// Begins the exchange that signs a principal out: a principal, and for how many seconds that is remembered.
    pub const REVOCATION: u8 = 4;
    /// Makes an entry of the log for a mistake of the adapter's side: a document. Its answer is a [`TEXT`], and all there is.
    pub const REPORT: u8 = 5;
    /// Begins the exchange of an operation on a handle, in that of a request, or on a link of a guard: a document, and a value.
    pub const HANDLE: u8 = 6;
    /// Makes what is known of a Redis between commands. Its answer is [`MADE`].
    pub const STORE: u8 = 7;
    /// Begins the store machine with a Redis about a command, or a check of it: a document.
    pub const STORE_MACHINE: u8 = 8;
    /// Makes a ledger in memory: of how many bytes, and the time. Its answer is [`MADE`].
    pub const MEMORY: u8 = 9;
    /// Begins the exchange of an HTTP request: method, `MCP-Protocol-Version`, `Mcp-Session-Id`, `Content-Encoding`, the body if it is
    /// there, and the caller's issuer, client and subject.
    pub const HTTP: u8 = 11;
    /// Begins a connection on stdio. Its answer is [`MADE`].
    pub const CONNECTION: u8 = 12;
    /// Begins the exchange of a line of the client's, on a connection.
    pub const LINE: u8 = 13;
    /// Begins the exchange of a message of the SDK's, on a connection: it, and the id of the request that it belongs to, as JSON.
    pub const LEAVES: u8 = 14;

    /// Begins the store machine with a file of SQLite about a command, or about opening it: a document.
    pub const SQLITE: u8 = 15;

    /// What became of a delivered message, a document, and the value beside it; for a store machine, an answer.
    pub const EVENT: u8 = 16;
    /// The members of a result: `resultType`, `cacheScope` and the token; and the whole result, where `deliver` asks for it.
    pub const RESULT: u8 = 17;
    /// The caller: issuer, client and subject.
    pub const PRINCIPAL: u8 = 18;
    /// Seals a `requestState`: a value. Its answer is a [`TEXT`], the token.
    pub const SEAL_STATE: u8 = 19;
    /// Writes the session's value. Its answer is [`MADE`].
    pub const WRITE: u8 = 20;
    /// Forks the session. Its answer is a [`TEXT`], the metadata.
    pub const FORK: u8 = 21;
    /// Makes the request's key for another service. Its answer is a [`TEXT`].
    pub const IDEMPOTENCY_KEY: u8 = 24;
    /// Runs a command on a ledger in memory: a document, and the time. Its answer is a [`TEXT`], the reply.
    pub const RUN: u8 = 22;

    /// The body of an HTTP request.
    pub const BODY: u8 = 25;
    /// The beginning of the answer to an HTTP request: its status, `Content-Type` and `Mcp-Session-Id`. Its answer is [`MADE`].
    pub const ANSWER: u8 = 26;
    /// A piece of that answer's body. Its answer is a [`TEXT`], what can be sent.
    pub const PIECE: u8 = 27;
    /// The end of that answer.
    pub const ANSWERED: u8 = 28;

    /// The answer to what was asked: as JSON, or what was thrown, or what is wrong. With none of these it did not come in time.
    pub const TOLD: u8 = 23;

    /// The answer: a step, or what is next in a store machine, as a document; and the bytes that belong to it.
    pub const STEP: u8 = 32;
    /// The answer: `deliver`, with what takes the token's place; and its events.
    pub const DELIVER: u8 = 33;
    /// The answer: `respond`, with the token of the result; and its events.
    pub const RESPOND: u8 = 34;
    /// The answer: a text.
    pub const TEXT: u8 = 35;
    /// The answer: it is done.
    pub const MADE: u8 = 36;
}

/// The flags of frames.
pub mod flag {
    /// Of a message: it is a notification.
    pub const NOTIFICATION: u16 = 1;
    /// Of a message: it is of revision 2026-07-28 or later.
    pub const MODERN: u16 = 2;
    /// Of a message: it has the metadata of a session.
    pub const SESSION: u16 = 4;
    /// Of a message: its caller is known.
    pub const CALLER: u16 = 8;
    /// Of a caller: it is nobody in particular.
    pub const ANONYMOUS: u16 = 16;
    /// Of a result: it has a `ttlMs`.
    pub const TTL: u16 = 32;
    /// Of a store: its client can keep a connection of its own.
    pub const WAITS: u16 = 64;
    /// Of a guard that was made: some exchanges may begin late.
    pub const DEFERS: u16 = 128;
    /// Of a message that is none: a request in progress on its connection has its id.
    pub const ID_IN_USE: u16 = 512;
    /// Of an HTTP request, and of its body: it is larger than what the adapter reads.
    pub const TOO_LARGE: u16 = 2048;
    /// Of the beginning of an answer: its body goes through [`PIECE`](super::kind::PIECE).
    pub const CHANGES: u16 = 4096;
    /// Of a message: the server can send its client a request while it waits.
    pub const CAN_BE_ASKED: u16 = 1024;
}

/// One of the state machines.
#[derive(Debug)]
pub enum Machine {
    /// The rules of a server's guard.
    Guard(Guard),
    /// One message of a guard, or an operation of its handler.
    Exchange(Box<Exchange>),
    /// What is known of a Redis.
    Store(redis::Redis),
    /// One command for a Redis.
    StoreMachine(Box<redis::StoreMachine>),
    /// One command for a file of SQLite.
    Sqlite(Box<sqlite::StoreMachine>),
    /// A ledger in memory.
    Memory(Box<Memory>),
    /// A connection on stdio.
    Connection(Connection),
    /// It is over.
    Over,
}

type Made = Result<(Machine, Answer), Error>;

impl Machine {
    /// Makes a machine. A guard is made by [`guard`](Self::guard) instead.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for another parent than the kind has, and as [`document`].
    pub fn new(parent: Option<&Self>, given: &Frame<'_>) -> Made {
        match (given.kind, parent) {
            (kind::MESSAGE, Some(Self::Guard(guard))) => message(guard, given),
            (kind::INVALID | kind::HTTP..=kind::LEAVES, Some(parent)) => carried(parent, given),
            (kind::REVOCATION, Some(Self::Guard(guard))) => {
                let (principal, retain_for) = given.numbered()?;
                let revoked = document::revoke(guard, principal, retain_for);
                revoked.map(begun)
            }
            (kind::REPORT, Some(Self::Guard(guard))) => {
                let entry = document::report(guard, given.document())?;
                Ok((Self::Over, Answer::of(kind::TEXT, Some(entry))))
            }
            (kind::HANDLE, Some(Self::Exchange(exchange))) => {
                let (operation, value) = given.documents();
                document::handle(exchange, operation, value).map(begun)
            }
            (kind::HANDLE, Some(Self::Guard(guard))) => {
                document::link(guard, given.document()).map(begun)
            }
            (kind::STORE, None) => Ok((
                Self::Store(redis::Redis::new(given.has(flag::WAITS))),
                Answer::of(kind::MADE, None),
            )),
            (kind::STORE_MACHINE, Some(Self::Store(store))) => {
                let (machine, next) = document::machine(store, given.document())?;
                Ok((Self::StoreMachine(Box::new(machine)), step(next)))
            }
            (kind::MEMORY, None) => memory(given),
            (kind::SQLITE, None) => {
                let (machine, next) = document::sqlite(given.document())?;
                Ok((Self::Sqlite(Box::new(machine)), step(next)))
            }
            _ => Err(NO_FRAME),
        }
    }

    /// Makes a guard of a codec.
    ///
    /// # Errors
    ///
    /// As [`document::guard`].
    pub fn guard(codec: Codec, given: &Frame<'_>) -> Made {
        if given.kind != kind::GUARD {
            return Err(NO_FRAME);
        }
        let guard = document::guard(codec, given.document())?;
        let mut made = Answer::of(kind::MADE, None);
        if guard.defers() {
            made.flags = flag::DEFERS;
        }
        Ok((Self::Guard(guard), made))
    }

    /// Tells a machine something, and returns what it says.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for what does not match its state, which is unchanged then.
    pub fn on(&mut self, given: &Frame<'_>) -> Result<Answer, Error> {
        match self {
            Self::Exchange(exchange) => on(exchange, given),
            Self::StoreMachine(machine) if given.kind == kind::EVENT => {
                document::answered(machine, given.document()).map(step)
            }
            Self::Sqlite(machine) if given.kind == kind::EVENT => {
                document::sqlite_answered(machine, given.document()).map(step)
            }
            Self::Memory(memory) if given.kind == kind::RUN => {
                let (command, now) = given.numbered()?;
                let reply = document::run(memory, command, now.ok_or(NO_FRAME)?)?;
                Ok(Answer::of(kind::TEXT, Some(reply)))
            }
            _ => Err(NO_FRAME),
        }
    }
}

fn message(guard: &Guard, given: &Frame<'_>) -> Made {
    // Only a call that is confirmed has the texts of its client.
    if given.count() > OF_MESSAGE {
        return call(guard, given);
    }
    message_from(guard, given, None)
}

#[inline(never)]
fn message_from(guard: &Guard, given: &Frame<'_>, client: Option<&Client<'_>>) -> Made {
    let mut texts = given.texts();
    let mut next = || texts.take();
    let message = Message {
        method: next().text().unwrap_or_default(),
        target: next().text(),
        arguments: sent(next()),
        notification: given.has(flag::NOTIFICATION),
        modern: given.has(flag::MODERN),
        token: next(),
        principal: caller(given, [next(), next(), next()]),
        header: sent(next()),
        session: Some(ClientSession {
            id: next(),
            state: next(),
        })
        .filter(|_| given.has(flag::SESSION)),
        within: number(next())?.map(Duration::from_millis),
    };
    let (exchange, step) = guard.message_from(message, client);
    // It is large, and from here on moves no more.
    let mut exchange = Box::new(exchange);
    let answer = short::first(&mut exchange, step);
    Ok((Machine::Exchange(exchange), answer))
}

/// How many texts a message has, without those of its client.
const OF_MESSAGE: usize = 11;

#[cold]
fn call(guard: &Guard, given: &Frame<'_>) -> Made {
    let [.., capabilities, responses] = given.values::<{ OF_MESSAGE + 2 }>();
    let client = Client {
        capabilities: sent(capabilities),
        responses: sent(responses),
        can_be_asked: given.has(flag::CAN_BE_ASKED),
    };
    message_from(guard, given, Some(&client))
}

/// Begins what is around HTTP or stdio. It is never inlined into what each message of the handlers passes.
#[inline(never)]
fn carried(parent: &Machine, given: &Frame<'_>) -> Made {
    match (given.kind, parent) {
        (kind::INVALID, Machine::Guard(guard)) => {
            let begins = guard.invalid(given.has(flag::ID_IN_USE));
            Ok(begun(document::begun(begins)))
        }
        (kind::HTTP, Machine::Guard(guard)) => Ok(http(guard, given)),
        (kind::CONNECTION, Machine::Guard(guard)) => Ok((
            Machine::Connection(guard.connection()),
            Answer::of(kind::MADE, None),
        )),
        (kind::LINE, Machine::Connection(connection)) => {
            let [line] = given.bytes();
            let begins = connection.line(line.unwrap_or_default());
            Ok(begun(document::begun(begins)))
        }
        (kind::LEAVES, Machine::Connection(connection)) => {
            let [line] = given.bytes();
            let ([_, of], line) = (given.values(), line.unwrap_or_default());
            let begins = connection.leaves(line, sent(of));
            Ok(begun(document::begun(begins)))
        }
        _ => Err(NO_FRAME),
    }
}

#[inline(never)]
fn http(guard: &Guard, given: &Frame<'_>) -> (Machine, Answer) {
    let [
        method,
        version,
        session,
        encoding,
        _,
        issuer,
        client,
        subject,
    ] = given.values();
    let [.., body] = given.bytes::<5>();
    let request = HttpRequest {
        method: method.text().unwrap_or_default(),
        version,
        session,
        encoding: sent(encoding),
        body: match given.has(flag::TOO_LARGE) {
            true => Some(Body::TooLarge),
            false => body.map(Body::Whole),
        },
        principal: caller(given, [issuer, client, subject]),
    };
    begun(document::begun(guard.http(request)))
}

/// What is told of an HTTP request.
#[inline(never)]
fn on_http(exchange: &mut Exchange, given: &Frame<'_>) -> Result<Answer, Error> {
    let [bytes] = given.bytes();
    let bytes = bytes.unwrap_or_default();
    let step = match given.kind {
        kind::BODY if given.has(flag::TOO_LARGE) => exchange.body(Body::TooLarge)?,
        kind::BODY => exchange.body(Body::Whole(bytes))?,
        kind::ANSWER => {
            let [status, content_type, session] = given.values();
            let mut made = Answer::of(kind::MADE, None);
            let changes = exchange.answer(&AnswerHead {
                status: number(status)?
                    .and_then(|status| status.try_into().ok())
                    .ok_or(NO_FRAME)?,
                content_type: sent(content_type),
                session: sent(session),
            })?;
            if changes {
                made.flags = flag::CHANGES;
            }
            return Ok(made);
        }
        kind::PIECE => return Ok(Answer::of(kind::TEXT, exchange.piece(bytes)?)),
        kind::ANSWERED => exchange.answered()?,
        _ => return Err(NO_FRAME),
    };
    let next = document::written(exchange, None, &step);
    Ok(with_text(exchange, next))
}

#[inline(never)]
fn on(exchange: &mut Exchange, given: &Frame<'_>) -> Result<Answer, Error> {
    let text = match given.kind {
        kind::TOLD => {
            let next = document::told(exchange, told(given))?;
            return Ok(with_text(exchange, next));
        }
        kind::EVENT => {
            let (event, value) = given.documents();
            let next = document::on(exchange, event, value)?;
            return Ok(with_text(exchange, next));
        }
        kind::BODY..=kind::ANSWERED => return on_http(exchange, given),
        kind::RESULT => {
            let [result_type, cache_scope, token, whole] = given.values();
            let result = HandlerResult {
                outcome: Outcome::of(result_type),
                token,
                scope: Scope::of(cache_scope),
                has_ttl: given.has(flag::TTL),
                no_meta: false,
                whole: sent(whole),
            };
            return short::reported(exchange, Event::Result(result));
        }
        kind::PRINCIPAL => {
            let found = principal(given.values(), given.has(flag::ANONYMOUS));
            return short::reported(exchange, Event::Principal(found.map(Some)));
        }
        kind::WRITE => {
            exchange.write(given.document())?;
            return Ok(Answer::of(kind::MADE, None));
        }
        kind::SEAL_STATE => exchange.seal_state(given.document())?,
        kind::IDEMPOTENCY_KEY => exchange.idempotency_key()?,
        kind::FORK => document::fork(exchange)?,
        _ => return Err(NO_FRAME),
    };
    Ok(Answer::of(kind::TEXT, Some(text)))
}

/// What a module of WebAssembly has room for, in bytes.
const MOST_CAPACITY: usize = 1 << 30;

fn memory(given: &Frame<'_>) -> Made {
    let [capacity, now] = given.values();
    let (Some(capacity), Some(now)) = (number(capacity)?, number(now)?) else {
        return Err(NO_FRAME);
    };
    let capacity = usize::try_from(capacity).unwrap_or(usize::MAX);
    if capacity > MOST_CAPACITY {
        return Err(Error::argument(
            "capacity: expected at most 1,073,741,824 bytes",
        ));
    }
    let memory = Memory::new(capacity, now);
    Ok((
        Machine::Memory(Box::new(memory)),
        Answer::of(kind::MADE, None),
    ))
}

/// Returns the answer to a question.
fn told<'a>(given: &Frame<'a>) -> Result<&'a str, Failed> {
    let [value, threw, wrong] = given.values().map(sent);
    match (value, threw, wrong) {
        (Some(value), ..) => Ok(value),
        (_, Some(threw), _) => Err(Failed::Threw(threw.into())),
        (.., Some(wrong)) => Err(Failed::Wrong(wrong.into())),
        (None, None, None) => Err(Failed::Late),
    }
}

/// Returns the caller of a message, if it is known.
fn caller(given: &Frame<'_>, parts: [ClientValue<'_>; 3]) -> Option<Result<Principal, Failed>> {
    given
        .has(flag::CALLER)
        .then(|| principal(parts, given.has(flag::ANONYMOUS)))
}

/// Returns a caller; a wrong one is the adapter's fault, which is answered and logged.
fn principal(parts: [ClientValue<'_>; 3], anonymous: bool) -> Result<Principal, Failed> {
    PrincipalParts::named(parts, anonymous).map_err(|error| Failed::Wrong(error.to_string()))
}

fn begun((mut exchange, next): (Exchange, String)) -> (Machine, Answer) {
    let answer = with_text(&mut exchange, next);
    (Machine::Exchange(Box::new(exchange)), answer)
}

fn with_text(exchange: &mut Exchange, document: String) -> Answer {
    Answer {
        texts: [Some(document), exchange.text()],
        ..Answer::of(kind::STEP, None)
    }
}

fn step(document: String) -> Answer {
    Answer::of(kind::STEP, Some(document))
}
