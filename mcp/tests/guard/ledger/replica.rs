//! A replica of a server, its ledger, and the requests that it is sent.

use std::cell::RefCell;

use crate::common::Clock;
pub use crate::exchange::{DAY, alice, call, client_session, command};
use sealwax::SessionMetadata;
use sealwax_mcp::ledger::{Command, Memory};
use sealwax_mcp::{
    Body, ClientValue, Event, Exchange, Guard, GuardBuilder, HandleOp, HandleOpKind, HandleResult,
    HandlerResult, HttpRequest, LedgerSettings, Message, Meta, Outcome, Predecessor, Reply,
    SessionSettings, Step,
};

pub const START: u64 = 1_800_000_000;
pub const ALLOWANCE: u64 = 5;

/// A replica, and the ledger of its fleet.
pub struct Replica {
    pub clock: Clock,
    pub guard: Guard,
    pub ledger: RefCell<Memory>,
}

impl Replica {
    pub fn new() -> Self {
        Self::with(|guard| guard)
    }

    pub fn with(settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Self {
        let clock = Clock::at_ms(START * 1000);
        let builder = Guard::builder(clock.codec())
            .sessions(SessionSettings::default())
            .ledger(LedgerSettings::default());
        let replica = Self {
            clock,
            guard: settings(builder).build().unwrap(),
            ledger: RefCell::new(Memory::new(Memory::CAPACITY, START)),
        };
        replica.open();
        // Later than the ledger began.
        replica.pass(ALLOWANCE + 1);
        replica
    }

    /// Opens the ledger by a first message.
    pub fn open(&self) {
        let (mut exchange, step) = self.guard.message(call());
        let reply = self.run(&command(step));
        let step = exchange.on(Event::Ledger(Ok(reply))).unwrap();
        assert!(matches!(step, Step::Deliver(_)), "{step:?}");
    }

    pub fn pass(&self, seconds: u64) {
        self.clock.pass(seconds);
    }

    pub fn now(&self) -> u64 {
        self.clock.now()
    }

    pub fn run(&self, command: &Command) -> Vec<String> {
        self.ledger.borrow_mut().run(command, self.now())
    }

    /// Begins a request of alice's with this session of the transport.
    pub fn over_http(&self, session: &str) -> Step {
        let request = HttpRequest {
            method: "POST",
            session: ClientValue::Text(session),
            body: Some(Body::Whole(
                br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            )),
            principal: Some(Ok(alice())),
            ..HttpRequest::default()
        };
        self.guard.http(request).1
    }

    /// Runs commands of the ledger until another step comes.
    pub fn settle(&self, exchange: &mut Exchange, mut step: Step) -> Step {
        loop {
            step = match step {
                Step::Ledger(command) => {
                    exchange.on(Event::Ledger(Ok(self.run(&command)))).unwrap()
                }
                other => return other,
            }
        }
    }

    /// Goes on until the handler runs; returns the answer if it does not run.
    pub fn enter(&self, message: Message<'_>) -> Result<Exchange, Reply> {
        let (mut exchange, step) = self.guard.message(message);
        match self.settle(&mut exchange, step) {
            Step::Deliver(_) => Ok(exchange),
            Step::Reply(reply) => Err(reply),
            other => panic!("{other:?}"),
        }
    }

    /// Completes the handler; returns the session's metadata of the answer.
    pub fn leave(&self, exchange: &mut Exchange) -> SessionMetadata {
        let result = HandlerResult::default();
        let step = exchange.on(Event::Result(result)).unwrap();
        match self.settle(exchange, step) {
            Step::Respond(respond) => respond.metadata.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub fn created(&self) -> SessionMetadata {
        let view = self.clock.view("alice");
        view.sessions().create(b"0").unwrap()
    }

    /// The state of a first round.
    pub fn asked(&self) -> String {
        let mut exchange = self.enter(call()).unwrap();
        let head = HandlerResult {
            outcome: Outcome::InputRequired,
            token: ClientValue::Text("asked"),
            ..HandlerResult::default()
        };
        match exchange.on(Event::Result(head)).unwrap() {
            Step::Respond(leave) => leave.token.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub fn second_round(&self, state: &str) -> Result<Exchange, Reply> {
        self.enter(again(state))
    }

    pub fn handle(
        &self,
        exchange: &Exchange,
        kind: HandleOpKind<'_>,
    ) -> Result<HandleResult, Reply> {
        let handle_type = "basket";
        let (mut acting, step) = exchange.handle(HandleOp { handle_type, kind });
        match self.settle(&mut acting, step) {
            Step::Done(made) => Ok(*made),
            Step::Reply(reply) => Err(reply),
            other => panic!("{other:?}"),
        }
    }
}

/// A request of another method than a tool's, so that its refusals are errors.
pub fn read(session: &SessionMetadata) -> Message<'_> {
    Message {
        method: "demo/read",
        modern: true,
        principal: Some(Ok(alice())),
        session: client_session(session),
        ..Message::default()
    }
}

pub fn tool(session: &SessionMetadata) -> Message<'_> {
    Message {
        session: client_session(session),
        ..call()
    }
}

pub fn code(reply: Reply) -> i32 {
    reply.error.unwrap().code
}

/// The latest state, by the answer of a tool to a stale one.
pub fn stale(reply: Reply) -> SessionMetadata {
    match reply.tool.unwrap().meta {
        Some(Meta::Stale(stale)) => stale.session,
        other => panic!("expected a session, found {other:?}"),
    }
}

pub fn seal(value: &str, before: Option<Predecessor>) -> HandleOpKind<'_> {
    HandleOpKind::Seal {
        value,
        ttl: None,
        once: before.is_some(),
        predecessor: before,
    }
}

pub fn open(made: &HandleResult) -> HandleOpKind<'_> {
    HandleOpKind::Open {
        handle: ClientValue::Text(made.handle.as_deref().unwrap()),
        max_age: None,
        once: true,
    }
}

/// The same call, with its state.
pub fn again(state: &str) -> Message<'_> {
    let token = ClientValue::Text(state);
    Message { token, ..call() }
}
