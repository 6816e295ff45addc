//! Details of an exchange that the transcripts cannot compare: exact times, and members that not every SDK has.

use std::time::Duration;

use crate::common::Clock;
use sealwax::{Principal, RequestContext, SessionMetadata};
use sealwax_mcp::{
    ClientSession, ClientValue, Event, Exchange, Guard, GuardBuilder, HandleOp, HandleOpKind,
    HandlerResult, Message, Outcome, Presented, Question, Reply, SessionSettings, Step,
    TransportMessage, TransportSettings,
};

/// A millisecond after a full second, so that rounding shows.
const START_MS: u64 = 1_800_000_000_001;
const START: u64 = START_MS / 1000;
const DAY: u64 = 86_400;
/// The largest difference between clocks of replicas, in seconds.
const SKEW: u64 = 300;

fn clock() -> Clock {
    Clock::at_ms(START_MS)
}

fn guard_with(clock: &Clock, settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Guard {
    settings(Guard::builder(clock.codec())).build().unwrap()
}

fn alice() -> Principal {
    Principal::subject("alice")
}

fn call() -> Message<'static> {
    Message {
        method: "tools/call",
        target: Some("play"),
        arguments: Some(r#"{"id":7}"#),
        modern: true,
        principal: Some(Ok(alice())),
        ..Message::default()
    }
}

fn seconds(seconds: u64) -> Option<Duration> {
    Some(Duration::from_secs(seconds))
}

/// The first token of a step that asks about tokens.
fn asked(step: Step) -> Presented {
    match step {
        Step::Ask {
            question: Question::Accept(tokens),
            ..
        } => tokens.into_iter().next().unwrap(),
        Step::Ask {
            question: Question::End(token),
            ..
        } => token,
        other => panic!("{other:?}"),
    }
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

fn left(exchange: &mut Exchange, head: HandlerResult<'_>) -> Step {
    exchange.on(Event::Result(head)).unwrap()
}

const ASKS: HandlerResult<'_> = HandlerResult {
    outcome: Outcome::InputRequired,
    token: ClientValue::Text("asked"),
    scope: None,
    has_ttl: false,
    no_meta: false,
    initialized: None,
};

fn created(clock: &Clock) -> SessionMetadata {
    clock.view("alice").sessions().create(b"{}").unwrap()
}

fn sent(session: &SessionMetadata) -> Option<ClientSession<'_>> {
    Some(ClientSession {
        id: ClientValue::Text(&session.session_id),
        state: session.state.as_deref().into(),
    })
}

#[test]
fn until_is_the_end_on_every_clock() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| {
        guard.has_accept(true).sessions(SessionSettings::default())
    });
    let view = clock.view("alice");
    let bound = RequestContext::new("tools/call", "play", Some(r#"{"id":7}"#)).unwrap();
    let state = view.request_state(&bound).seal(b"asked").unwrap();
    let (_, step) = guard.message(Message {
        token: ClientValue::Text(state.as_str()),
        ..call()
    });
    let told = asked(step);
    assert_eq!(
        (told.id, told.until),
        (state.id().to_string(), Some(START + 600 + SKEW))
    );

    // An id has milliseconds, so its end is rounded up to the next second.
    let session = created(&clock);
    let (exchange, step) = guard.message(Message {
        session: sent(&session),
        ..call()
    });
    assert_eq!(asked(step).until, Some(START + 7 * DAY + 1 + SKEW));

    let handle = view.mint_handle("basket").unwrap();
    let kind = |max_age| HandleOpKind::Check {
        handle: ClientValue::Text(handle.as_str()),
        max_age,
    };
    let act = |kind| HandleOp {
        handle_type: "basket",
        kind,
    };
    let (_, step) = exchange.handle(act(kind(seconds(60))));
    assert_eq!(asked(step).until, Some(START + 60 + 1 + SKEW));
    let (_, step) = exchange.handle(act(kind(None)));
    assert_eq!(asked(step).until, None, "it never ends");
}

#[test]
fn a_refusal_tells_the_id_that_the_text_claims() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let cursor = clock
        .view("alice")
        .cursor("tools/list")
        .ttl(Duration::from_secs(1))
        .seal(b"2")
        .unwrap();
    clock.pass(1);
    let (mut exchange, step) = guard.message(Message {
        method: "tools/list",
        token: ClientValue::Text(cursor.as_str()),
        principal: Some(Ok(alice())),
        ..Message::default()
    });
    assert_eq!(code(step), -32602);
    let refused = exchange.refused();
    assert_eq!((refused.len(), refused[0].code), (1, "expired"));
    assert_eq!(refused[0].token_id, Some(cursor.id().to_string()));
    assert!(exchange.refused().is_empty(), "told once");
}

#[test]
fn a_refusal_tells_the_target() {
    let guard = guard_with(&clock(), |guard| guard);
    let told = |mut exchange: Exchange| exchange.refused().remove(0);
    let (exchange, step) = guard.message(Message {
        arguments: Some(r#"{"id":9007199254740993}"#),
        ..call()
    });
    assert_eq!(code(step), -32602);
    let refused = told(exchange);
    assert_eq!(
        (refused.code, refused.target.as_deref()),
        ("invalid_request", Some("play"))
    );
    assert!(refused.message.contains("2^53") && refused.message.contains("`only`"));

    // In what its handler does, too.
    let (exchange, _) = guard.message(call());
    let kind = HandleOpKind::Check {
        handle: ClientValue::Text("basket_1"),
        max_age: None,
    };
    let handle_type = "basket";
    let (acting, step) = exchange.handle(HandleOp { handle_type, kind });
    assert_eq!(code(step), -32602);
    assert_eq!(told(acting).target.as_deref(), Some("play"));

    // A client chooses it.
    let long = "x".repeat(1025);
    let (exchange, step) = guard.message(Message {
        target: Some(&long),
        ..call()
    });
    assert_eq!(code(step), -32602);
    assert_eq!(told(exchange).target, None);
}

#[test]
fn a_request_without_a_state_is_bound_before_its_handler_runs() {
    let guard = guard_with(&clock(), |guard| guard);
    let unbound = |message: Message<'_>| {
        let (mut exchange, step) = guard.message(message);
        assert_eq!(code(step), -32602);
        exchange.refused().remove(0).code
    };
    for arguments in [
        r#"{"id":"\ud800"}"#,
        r#"{"id":1,"id":2}"#,
        "[1",
        "7",
        r#""7""#,
    ] {
        let arguments = Some(arguments);
        let message = Message {
            arguments,
            ..call()
        };
        assert_eq!(unbound(message), "invalid_request", "{arguments:?}");
    }
    for (target, carried) in [
        (None, ClientValue::Text("sw1.A")),
        (Some(""), ClientValue::Absent),
    ] {
        let message = Message {
            target,
            token: carried,
            ..call()
        };
        assert_eq!(unbound(message), "invalid_request", "{target:?}");
    }
    // What carries no state is not bound, and neither are a notification and what names no target.
    let others = [
        ("tools/list", false),
        ("tools/call", true),
        ("tools/call", false),
    ];
    for (method, notification) in others {
        let (_, step) = guard.message(Message {
            method,
            target: None,
            notification,
            ..call()
        });
        assert!(matches!(step, Step::Deliver(_)), "{method}");
    }
}

#[test]
fn only_is_of_its_own_target_and_of_arguments_alone() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| {
        guard.only("first", ["x"]).only("play", ["id"])
    });
    let view = clock.view("alice");
    let bound = RequestContext::only("tools/call", "play", Some(r#"{"id":7}"#), &["id"]).unwrap();
    let state = view.request_state(&bound).seal(b"asked").unwrap();
    let (_, step) = guard.message(Message {
        arguments: Some(r#"{"id":7,"trace":1}"#),
        token: ClientValue::Text(state.as_str()),
        ..call()
    });
    assert!(matches!(step, Step::Deliver(deliver) if deliver.opened.as_deref() == Some("asked")));

    // A resource of such a name has no arguments at all.
    let bound = RequestContext::new("resources/read", "play", None).unwrap();
    let state = view.request_state(&bound).seal(b"asked").unwrap();
    let (_, step) = guard.message(Message {
        method: "resources/read",
        token: ClientValue::Text(state.as_str()),
        ..call()
    });
    assert!(matches!(step, Step::Deliver(deliver) if deliver.opened.as_deref() == Some("asked")));
}

#[test]
fn other_values_and_lost_writes_are_the_servers_failure() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.sessions(SessionSettings::default()));
    let (mut exchange, _) = guard.message(call());
    let token = ClientValue::Other;
    assert_eq!(
        code(left(&mut exchange, HandlerResult { token, ..ASKS })),
        -32603
    );

    let session = created(&clock);
    let message = || Message {
        session: sent(&session),
        ..call()
    };
    let head = HandlerResult {
        no_meta: true,
        ..HandlerResult::default()
    };
    let (mut exchange, _) = guard.message(message());
    exchange.write("1").unwrap();
    assert_eq!(code(left(&mut exchange, head)), -32603);
    // A session that was only read loses nothing.
    let (mut exchange, _) = guard.message(message());
    assert!(matches!(left(&mut exchange, head), Step::Respond(_)));
}

#[test]
fn a_state_is_sealed_where_a_request_can_carry_it() {
    let guard = guard_with(&clock(), |guard| guard);
    let (mut exchange, step) = guard.message(call());
    assert!(matches!(step, Step::Deliver(_)));
    assert!(exchange.seal_state("{").is_err(), "no JSON");
    let tokens = ["1", "2"].map(|value| exchange.seal_state(value).unwrap());
    assert_ne!(tokens[0], tokens[1]);
    let token = ClientValue::Text(&tokens[0]);
    match left(&mut exchange, HandlerResult { token, ..ASKS }) {
        Step::Respond(leave) => assert_eq!(leave.token, Some(tokens[0].clone())),
        other => panic!("{other:?}"),
    }
    assert!(exchange.seal_state("1").is_err(), "it has been answered");

    let (mut exchange, step) = guard.message(Message {
        method: "tools/list",
        ..call()
    });
    assert!(matches!(step, Step::Deliver(_)));
    assert!(exchange.seal_state("1").is_err(), "a list has no state");
}

#[test]
fn a_session_is_there_while_its_handler_runs() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| {
        guard.has_accept(true).sessions(SessionSettings::default())
    });
    let session = created(&clock);
    let (mut exchange, step) = guard.message(Message {
        session: sent(&session),
        ..call()
    });
    asked(step);
    assert!(exchange.session().is_none() && exchange.write("1").is_err());
    let step = exchange
        .on(Event::Answer(sealwax_mcp::Verdict::Yes))
        .unwrap();
    assert!(matches!(step, Step::Deliver(_)));
    assert_eq!(exchange.session().unwrap().value(), Some("{}"));
    assert!(matches!(
        left(&mut exchange, HandlerResult::default()),
        Step::Respond(_)
    ));
    assert!(exchange.session().is_none() && exchange.write("1").is_err());

    // A state that is no text is not an absent one.
    let (mut exchange, step) = guard.message(Message {
        session: Some(ClientSession {
            id: ClientValue::Text(&session.session_id),
            state: ClientValue::Other,
        }),
        ..call()
    });
    assert_eq!(code(step), -32043);
    assert!(
        exchange.refused()[0]
            .message
            .contains("a state that is a text")
    );
}

#[test]
fn sessions_live_as_long_as_their_author_said() {
    let clock = clock();
    let ends = |settings: SessionSettings| {
        let guard = guard_with(&clock, |guard| guard.sessions(settings));
        let (mut exchange, step) = guard.message(Message {
            method: "sessions/create",
            principal: Some(Ok(alice())),
            ..Message::default()
        });
        assert!(matches!(step, Step::Begin));
        match exchange.on(Event::Begun(Ok("{}"))).unwrap() {
            Step::Deliver(deliver) => {
                let own: serde_json::Value =
                    serde_json::from_str(&deliver.builtin_result.unwrap()).unwrap();
                own["session"]["expiresAt"].as_str().unwrap().to_owned()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        ends(SessionSettings::default()),
        "2027-01-16T08:00:00Z",
        "a day"
    );
    let ttl = seconds(60);
    assert_eq!(
        ends(SessionSettings {
            ttl,
            ..SessionSettings::default()
        }),
        "2027-01-15T08:01:00Z"
    );
    let no_expiry = true;
    assert_eq!(
        ends(SessionSettings {
            no_expiry,
            ..SessionSettings::default()
        }),
        "2027-01-22T08:00:00Z",
        "the codec's seven days"
    );
}

#[test]
fn a_fork_ends_with_the_session_that_it_began_from() {
    let clock = clock();
    let no_expiry = true;
    let guard = guard_with(&clock, |guard| {
        guard.sessions(SessionSettings {
            no_expiry,
            ..SessionSettings::default()
        })
    });
    let view = clock.view("alice");
    let session = view.sessions().no_expiry().create(b"{}").unwrap();
    clock.pass(DAY);
    let (mut exchange, _) = guard.message(Message {
        session: sent(&session),
        ..call()
    });
    exchange.write("1").unwrap();
    let fork = exchange.fork().unwrap();
    assert_ne!(fork.session_id, session.session_id);
    assert_eq!(fork.expires_at, session.expires_at);
}

#[test]
fn a_session_of_the_transport_lives_as_long_as_its_author_and_the_codec_said() {
    let clock = clock();
    let begun = |transport: TransportSettings| {
        let guard = guard_with(&clock, |guard| guard.transport(transport));
        let (mut exchange, _) = guard.transport(TransportMessage {
            http: Some("POST"),
            method: Some("initialize"),
            initialize: Some(r#"{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#),
            principal: Some(Ok(alice())),
            ..TransportMessage::default()
        });
        let head = HandlerResult {
            initialized: Some(r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#),
            ..HandlerResult::default()
        };
        match left(&mut exchange, head) {
            Step::Respond(leave) => (guard, leave),
            other => panic!("{other:?}"),
        }
    };
    let continued = |guard: &Guard, token: &str| {
        let (_, step) = guard.transport(TransportMessage {
            http: Some("POST"),
            method: Some("tools/list"),
            header: ClientValue::Text(token),
            principal: Some(Ok(alice())),
            ..TransportMessage::default()
        });
        matches!(step, Step::Deliver(_))
    };

    let ttl = seconds(60);
    let (guard, leave) = begun(TransportSettings {
        ttl,
        ..TransportSettings::default()
    });
    assert_eq!(leave.timeout, None, "of SEP-1359 alone");
    let token = leave.header.unwrap();
    clock.pass(59);
    assert!(continued(&guard, &token));
    clock.pass(1);
    assert!(!continued(&guard, &token));

    for (days, timeout) in [(2, 2 * DAY), (30, 7 * DAY)] {
        let (_, leave) = begun(TransportSettings {
            ttl: seconds(days * DAY),
            sep1359: true,
            ..TransportSettings::default()
        });
        assert_eq!(leave.timeout, Some(timeout));
    }
}

#[test]
fn a_chain_of_handles_is_as_old_as_its_first() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    let act = |kind| {
        let handle_type = "basket";
        exchange.handle(HandleOp { handle_type, kind }).1
    };
    let Step::Done(first) = act(HandleOpKind::Seal {
        value: "1",
        ttl: None,
        predecessor: None,
        once: false,
    }) else {
        panic!("sealed")
    };
    let handle = first.handle.unwrap();
    let open = |max_age| {
        act(HandleOpKind::Open {
            handle: ClientValue::Text(&handle),
            max_age,
            once: false,
        })
    };
    clock.pass(60);
    assert!(matches!(open(seconds(61)), Step::Done(_)));
    assert!(reply(open(seconds(60))).tool.unwrap().is_error);
}
