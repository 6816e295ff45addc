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

#[test]
fn a_refusal_tells_the_target() {
    let guard = guard_with(&clock(), |guard| guard);
    let refusal = |mut exchange: Exchange| exchange.refused().remove(0);
    let (exchange, _) = guard.message(Message {
        arguments: Some(r#"{"id":9007199254740993}"#),
        token: ClientValue::Text("sw1.A"),
        ..call()
    });
    let refused = refusal(exchange);
    assert_eq!(
        (refused.code, refused.origin.target.as_deref()),
        ("invalid_request", Some("play"))
    );
    assert!(refused.message.contains("2^53") && refused.message.contains("`only`"));

    // In what its handler does, too.
    let (exchange, _) = guard.message(call());
    let (operation, step) = operate(&exchange, "basket", check("basket_1", None));
    assert_eq!(code(step), -32602);
    assert_eq!(refusal(operation).origin.target.as_deref(), Some("play"));

    // A client chooses it.
    let long = "x".repeat(1025);
    let (exchange, _) = guard.message(Message {
        target: Some(&long),
        token: ClientValue::Text("sw1.A"),
        ..call()
    });
    assert_eq!(refusal(exchange).origin.target, None);
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
    let none = [None, Some("null"), Some("{}"), Some(" { } "), Some("")];
    for sealed_for in none {
        let (mut exchange, _) = guard.message(Message {
            arguments: sealed_for,
            ..call()
        });
        let state = exchange.seal_state("1").unwrap();
        let opens = |arguments| {
            let (_, step) = guard.message(Message {
                arguments,
                token: ClientValue::Text(&state),
                ..call()
            });
            matches!(step, Step::Deliver(_))
        };
        for arguments in none {
            assert!(opens(arguments), "{sealed_for:?}, {arguments:?}");
        }
        for arguments in [r#"{"":{}}"#, "[]", "{}{}", r#"{"a":null}"#] {
            assert!(!opens(Some(arguments)), "{sealed_for:?}, {arguments}");
        }
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
fn another_value_is_the_servers_failure() {
    let guard = guard_with(&clock(), |guard| guard);
    let (mut exchange, _) = guard.message(call());
    let token = ClientValue::Other;
    assert_eq!(
        code(responded(&mut exchange, HandlerResult { token, ..ASKS })),
        -32603
    );
}

#[test]
fn a_state_is_sealed_where_a_request_can_carry_it() {
    let guard = guard_with(&clock(), |guard| guard);
    let (mut exchange, step) = guard.message(call());
    assert!(matches!(step, Step::Deliver(_)));
    assert!(exchange.seal_state("{").is_err(), "no JSON");
    let tokens = ["1", "2"].map(|value| exchange.seal_state(value).unwrap());
    assert_ne!(tokens[0], tokens[1]);

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
    let guard = guard_with_ledger(&clock, |guard| guard.sessions(SessionSettings::default()));
    let session = created(&clock);
    let (mut exchange, step) = guard.message(Message {
        session: client_session(&session),
        ..call()
    });
    assert_eq!(command(step).script, Script::Admit);
    assert!(exchange.session().is_none() && exchange.write("1").is_err());
    let step = exchange.on(ok()).unwrap();
    assert!(matches!(step, Step::Deliver(_)));
    assert_eq!(exchange.session().unwrap().value(), Some("{}"));
    assert!(matches!(
        responded(&mut exchange, HandlerResult::default()),
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
