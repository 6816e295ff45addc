//! Requests, their states and their refusals.

use super::*;
use sealwax_mcp::{LedgerSettings, Report};

/// An adapter that reports less is faster.
#[test]
fn a_result_is_reported_only_where_something_may_be_in_it() {
    let clock = clock();
    let with_sessions = |sessions: bool| {
        guard_with(&clock, |guard| match sessions {
            true => guard.sessions(SessionSettings::default()),
            false => guard,
        })
    };
    let session = created(&clock);
    let [state, cursor] = ["requestState", "nextCursor"].map(Report::Member);
    for (sessions, method, sent, expected) in [
        (false, "demo/read", false, cursor),
        (false, "server/discover", false, cursor),
        (false, "tools/call", false, state),
        (true, "demo/read", false, cursor),
        (true, "server/discover", false, Report::Always),
        (true, "tools/call", false, state),
        (true, "demo/read", true, Report::Always),
    ] {
        let (_, step) = with_sessions(sessions).message(Message {
            method,
            session: client_session(&session).filter(|_| sent),
            ..call()
        });
        let Step::Deliver(deliver) = step else {
            panic!("{step:?}")
        };
        assert_eq!(deliver.report, expected, "{method}");
    }
}

#[test]
fn a_use_that_no_replica_confirmed_is_logged_by_its_id() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.ledger(LedgerSettings::default()));
    let state = asked(&clock);
    let (mut exchange, mut step) = guard.message(Message {
        token: ClientValue::Text(state.as_str()),
        ..call()
    });
    for reply in [&["ok", "0"][..], &["ok", "1", "unconfirmed"]] {
        assert!(matches!(step, Step::Ledger(_)), "{step:?}");
        let reply = reply.iter().map(ToString::to_string).collect();
        step = exchange.on(Event::Ledger(Ok(reply))).unwrap();
    }
    assert!(matches!(step, Step::Deliver(_)), "{step:?}");
    let refused = exchange.refused();
    assert_eq!(refused[0].code, "ledger_unconfirmed");
    assert_eq!(refused[0].id, Some(state.id().to_string()));
    assert!(exchange.refused().is_empty(), "told once");
}

/// What a `tools/call` answers for these arguments: a text for the model.
fn told(step: Step) -> String {
    let tool = reply(step).tool.unwrap();
    assert!(tool.is_error);
    tool.content[0].text.to_string()
}

#[test]
fn what_cannot_be_bound_is_refused_only_where_a_state_is() {
    let guard = guard_with(&clock(), |guard| guard);
    for (arguments, why) in [
        (r#"{"id":9007199254740993}"#, r#"argument "id": "#),
        (r#"{"a":1,"id":"\ud800"}"#, r#"argument "id": "#),
        (r#"{"id":1,"id":2}"#, r#"argument "id": "#),
        (r#"{"id":1e400}"#, r#"argument "id": "#),
        ("[1", "arguments: "),
        ("7", "arguments: "),
    ] {
        let message = || Message {
            arguments: Some(arguments),
            ..call()
        };
        let (mut exchange, step) = guard.message(Message {
            token: ClientValue::Text("sw1.A"),
            ..message()
        });
        let told_first = told(step);
        assert!(
            told_first.starts_with(&format!("Invalid arguments. {why}")),
            "{told_first}"
        );
        assert_eq!(exchange.refused().remove(0).code, "invalid_request");

        // A handler that seals a state hears the same, and what it returns is refused so.
        let (mut exchange, step) = guard.message(message());
        assert!(matches!(step, Step::Deliver(_)), "{arguments}: {step:?}");
        let error = exchange.seal_state("1").unwrap_err().to_string();
        assert_eq!(told_first, format!("Invalid arguments. {error}"));
        let step = exchange.on(Event::Result(HandlerResult {
            outcome: Outcome::InputRequired,
            token: ClientValue::Text("asked"),
            ..HandlerResult::default()
        }));
        assert_eq!(told(step.unwrap()), told_first);
        assert_eq!(exchange.refused().remove(0).code, "invalid_request");
    }
}

#[test]
fn what_cannot_be_bound_is_invalid_params_of_what_is_no_call_of_a_tool() {
    let guard = guard_with(&clock(), |guard| guard);
    for (method, target, arguments) in [
        ("prompts/get", Some("play"), Some(r#"{"id":"\ud800"}"#)),
        ("prompts/get", None, None),
        ("tools/call", None, None),
        ("resources/read", Some(""), None),
    ] {
        let message = |token| Message {
            method,
            target,
            arguments,
            token,
            ..call()
        };
        let (mut exchange, step) = guard.message(message(ClientValue::Text("sw1.A")));
        assert_eq!(code(step), -32602);
        assert_eq!(exchange.refused().remove(0).code, "invalid_request");
        let (_, step) = guard.message(message(ClientValue::Absent));
        assert!(matches!(step, Step::Deliver(_)), "{method}: {step:?}");
    }
}

#[test]
fn no_arguments_in_any_form_are_one_call() {
    let guard = guard_with(&clock(), |guard| guard);
    let (mut exchange, _) = guard.message(Message {
        arguments: None,
        ..call()
    });
    let state = exchange.seal_state("1").unwrap();
    for (arguments, are_none) in [
        (None, true),
        (Some("null"), true),
        (Some(" { } "), true),
        (Some(""), true),
        (Some(r#"{"":{}}"#), false),
        (Some("[]"), false),
        (Some("{}{}"), false),
        (Some(r#"{"a":null}"#), false),
    ] {
        let (_, step) = guard.message(Message {
            arguments,
            token: ClientValue::Text(&state),
            ..call()
        });
        assert_eq!(matches!(step, Step::Deliver(_)), are_none, "{arguments:?}");
    }
}

#[test]
fn only_is_of_arguments_alone() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.only("play", ["id"]));
    let view = clock.view("alice");
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
fn a_state_is_json_of_what_can_carry_it() {
    let guard = guard_with(&clock(), |guard| guard);
    for (method, value, is_sealed) in [
        ("tools/call", "1", true),
        ("tools/call", "{", false),
        ("tools/list", "1", false),
    ] {
        let (mut exchange, _) = guard.message(Message { method, ..call() });
        assert_eq!(exchange.seal_state(value).is_ok(), is_sealed, "{method}");
    }
    // Another value in its place is the server's failure.
    let (mut exchange, _) = guard.message(call());
    let token = ClientValue::Other;
    let step = responded(&mut exchange, HandlerResult { token, ..ASKS });
    assert_eq!(code(step), -32603);
}

#[test]
fn the_log_has_no_target_that_is_too_long() {
    let guard = guard_with(&clock(), |guard| guard);
    for (length, is_kept) in [(1024, true), (1025, false)] {
        let (mut exchange, _) = guard.message(Message {
            target: Some(&"x".repeat(length)),
            token: ClientValue::Text("sw1.A"),
            ..call()
        });
        let refused = exchange.refused().remove(0);
        assert_eq!(refused.origin.target.is_some(), is_kept, "{length}");
    }
}

#[test]
fn a_method_may_be_as_long_as_a_label() {
    let (clock, method) = (clock(), "x".repeat(1024));
    let sealed = clock.view("alice").cursor(&method).seal(b"2").unwrap();
    let (_, step) = guard_with(&clock, |guard| guard).message(Message {
        method: &method,
        token: ClientValue::Text(sealed.as_str()),
        ..call()
    });
    assert!(matches!(step, Step::Deliver(_)), "{step:?}");
}

#[test]
fn an_error_leaves_as_it_is() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.sessions(SessionSettings::default()));
    let session = created(&clock);
    let (mut exchange, _) = guard.message(Message {
        session: client_session(&session),
        ..call()
    });
    exchange.write("1").unwrap();
    let outcome = Outcome::Error;
    match responded(&mut exchange, HandlerResult { outcome, ..ASKS }) {
        Step::Respond(leave) => assert!(leave.token.is_none() && leave.metadata.is_none()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_session_is_there_while_its_handler_runs() {
    let clock = clock();
    let guard = guard_with_ledger(&clock, |guard| guard.sessions(SessionSettings::default()));
    let session = created(&clock);
    let (mut exchange, _) = guard.message(Message {
        session: client_session(&session),
        ..call()
    });
    let is_there = |exchange: &mut Exchange| {
        let is_read = exchange.session().is_some();
        assert_eq!(exchange.write("1").is_ok(), is_read);
        is_read
    };
    assert!(!is_there(&mut exchange));
    exchange.on(ok()).unwrap();
    assert!(is_there(&mut exchange));
    responded(&mut exchange, HandlerResult::default());
    assert!(!is_there(&mut exchange));
    exchange.on(ok()).unwrap();
    assert!(!is_there(&mut exchange) && exchange.on(ok()).is_err());

    // A state that is no text is not an absent one.
    let (mut exchange, _) = guard.message(Message {
        session: Some(ClientSession {
            id: ClientValue::Text(&session.session_id),
            state: ClientValue::Other,
        }),
        ..call()
    });
    let why = exchange.refused().remove(0).message;
    assert!(why.contains("a state that is a text"), "{why}");
}
