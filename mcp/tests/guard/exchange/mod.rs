//! Details of an exchange that the transcripts cannot compare: exact times, and members that not every SDK has.

mod confirm;
mod destructive;
mod handles;
mod initialize;
mod keys;
mod lifetimes;
mod links;
mod requests;
mod time_limit;

use std::time::Duration;

use crate::common::Clock;
use sealwax::{Principal, RequestContext, SessionMetadata};
use sealwax_mcp::ledger::{Command, Script};
use sealwax_mcp::{
    AnswerHead, Body, ClientSession, ClientValue, Event, Exchange, Guard, GuardBuilder, HandleOp,
    HandleOpKind, HandleResult, HandlerResult, HttpRequest, LedgerSettings, Message, Outcome,
    Reply, SessionSettings, Step, TransportSettings,
};

/// A millisecond after a full second, so that rounding shows.
const START_MS: u64 = 1_800_000_000_001;
const START: u64 = START_MS / 1000;
pub const DAY: u64 = 86_400;
/// The largest difference between clocks of replicas, in seconds.
const CLOCK_TOLERANCE: u64 = 300;

fn clock() -> Clock {
    Clock::at_ms(START_MS)
}

fn guard_with(clock: &Clock, settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Guard {
    settings(Guard::builder(clock.codec())).build().unwrap()
}

pub fn alice() -> Principal {
    Principal::subject("alice")
}

pub fn call() -> Message<'static> {
    Message {
        method: "tools/call",
        target: Some("play"),
        arguments: Some(r#"{"id":7}"#),
        modern: true,
        principal: Some(Ok(alice())),
        ..Message::default()
    }
}

/// Begins the exchange of a request of alice's over HTTP.
fn over_http(guard: &Guard, session: ClientValue<'_>, body: &str) -> (Exchange, Step) {
    guard.http(HttpRequest {
        method: "POST",
        session,
        body: Some(Body::Whole(body.as_bytes())),
        principal: Some(Ok(alice())),
        ..HttpRequest::default()
    })
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Begins a session by these params, and answers with this result.
fn initialized(guard: &Guard, params: &str, result: &str) -> (Exchange, Step) {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    let (mut exchange, step) = over_http(guard, ClientValue::Absent, &body);
    let Step::Deliver(_) = step else {
        return (exchange, step);
    };
    let head = AnswerHead {
        status: 200,
        content_type: Some("application/json"),
        session: None,
    };
    assert!(exchange.answer(&head).unwrap());
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,{result}}}"#);
    exchange.piece(answer.as_bytes()).unwrap();
    let step = exchange.answered().unwrap();
    (exchange, step)
}

/// The state that a call of alice's brings back.
fn asked(clock: &Clock) -> sealwax::Token<sealwax::kind::RequestState> {
    let bound = RequestContext::new("tools/call", "play", Some(r#"{"id":7}"#)).unwrap();
    let view = clock.view("alice");
    view.request_state(&bound).seal(b"asked").unwrap()
}

/// Does an operation of a handler's.
fn operate(exchange: &Exchange, handle_type: &str, kind: HandleOpKind<'_>) -> (Exchange, Step) {
    exchange.handle(HandleOp { handle_type, kind })
}

fn check(handle: &str, max_age: Option<Duration>) -> HandleOpKind<'_> {
    let handle = ClientValue::Text(handle);
    HandleOpKind::Check { handle, max_age }
}

fn seal_link(ttl: Option<Duration>) -> HandleOpKind<'static> {
    HandleOpKind::SealLink {
        value: "1",
        ttl,
        once: false,
    }
}

fn done(step: Step) -> HandleResult {
    match step {
        Step::Done(done) => *done,
        other => panic!("{other:?}"),
    }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

pub fn command(step: Step) -> Command {
    match step {
        Step::Ledger(command) => *command,
        other => panic!("{other:?}"),
    }
}

fn ok() -> Event<'static> {
    Event::Ledger(Ok(vec!["ok".into(), "0".into()]))
}

/// A guard whose ledger is open.
fn guard_with_ledger(clock: &Clock, settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Guard {
    let guard = guard_with(clock, |guard| {
        settings(guard.ledger(LedgerSettings::default()))
    });
    let (mut exchange, step) = guard.message(call());
    assert_eq!(command(step).script, Script::Open);
    exchange.on(ok()).unwrap();
    guard
}

fn reply(step: Step) -> Reply {
    match step {
        Step::Reply(reply) => reply,
        other => panic!("{other:?}"),
    }
}

fn code(step: Step) -> i32 {
    reply(step).error.unwrap().code
}

fn responded(exchange: &mut Exchange, head: HandlerResult<'_>) -> Step {
    exchange.on(Event::Result(head)).unwrap()
}

const ASKS: HandlerResult<'_> = HandlerResult {
    outcome: Outcome::InputRequired,
    token: ClientValue::Text("asked"),
    scope: None,
    has_ttl: false,
    no_meta: false,
    whole: None,
};

fn created(clock: &Clock) -> SessionMetadata {
    clock.view("alice").sessions().create(b"{}").unwrap()
}

pub fn client_session(session: &SessionMetadata) -> Option<ClientSession<'_>> {
    Some(ClientSession {
        id: ClientValue::Text(&session.session_id),
        state: session.state.as_deref().into(),
    })
}
