//! Confirmations: mistakes in settings, and the moment in which no user answers.

use super::*;
use sealwax_mcp::{Client, Confirm};

fn confirming(clock: &Clock, message: &str, only: &[&str]) -> Result<Guard, sealwax::Error> {
    let builder = builder(clock, message);
    match only {
        [] => builder.build(),
        names => builder.only("play", names.iter().copied()).build(),
    }
}

fn builder(clock: &Clock, message: &str) -> GuardBuilder {
    let confirm = Confirm {
        message: Some(message.into()),
        preview: false,
    };
    Guard::builder(clock.codec()).confirm("play", confirm)
}

#[test]
fn a_question_has_arguments_that_are_bound() {
    let clock = clock();
    for (message, only, is_right) in [
        ("Delete note {id}?", &[][..], true),
        ("Delete note {id}?", &["id"], true),
        ("Delete note {title}?", &["id"], false),
        ("Delete note {id?", &[], false),
        (" ", &[], false),
    ] {
        let made = confirming(&clock, message, only);
        assert_eq!(made.is_ok(), is_right, "{message} {only:?}");
    }
}

#[test]
fn only_a_confirmed_tool_has_a_preview() {
    for (tool, is_right) in [("play", true), ("other", false)] {
        let made = builder(&clock(), "Play?").preview(tool).build();
        assert_eq!(made.is_ok(), is_right, "{tool}");
        // A list of tools shows what it has, whatever it brings.
        assert!(!made.is_ok_and(|guard| guard.defers()));
    }
}

#[test]
fn a_confirmation_counts_for_a_day_at_most() {
    for (seconds, is_right) in [(86_400, true), (86_401, false)] {
        let builder = Guard::builder(clock().codec());
        let made = builder.confirm_ttl(Duration::from_secs(seconds)).build();
        assert_eq!(made.is_ok(), is_right, "{seconds}");
    }
}

/// A client that can be asked on its connection.
fn client() -> Client<'static> {
    Client {
        capabilities: Some(r#"{"elicitation":{}}"#),
        can_be_asked: true,
        ..Client::default()
    }
}

fn asked(guard: &Guard) -> Exchange {
    let message = Message {
        modern: false,
        ..call()
    };
    let (exchange, step) = guard.message_from(message, Some(&client()));
    assert!(matches!(step, Step::Elicit(_)), "{step:?}");
    exchange
}

#[test]
fn two_that_are_agreed_to_at_one_time_are_two() {
    let guard = confirming(&clock(), "Delete note {id}?", &[]).unwrap();
    let [one, other] = [(); 2].map(|()| {
        let mut exchange = asked(&guard);
        let yes = r#"{"action":"accept","content":{"choice":"yes"}}"#;
        let step = exchange.on(Event::Elicited(Ok(yes))).unwrap();
        assert!(matches!(step, Step::Deliver(_)), "{step:?}");
        exchange.idempotency_key().unwrap()
    });
    assert_ne!(one, other);
}

#[test]
fn the_log_names_the_tool_that_would_have_run() {
    let guard = confirming(&clock(), "Delete note {id}?", &[]).unwrap();
    let (mut exchange, _) = guard.message_from(
        Message {
            target: Some("sealwax_confirm"),
            arguments: Some(r#"{"tool":"play","arguments":{},"confirmation":"yes_x"}"#),
            ..call()
        },
        None,
    );
    let refused = exchange.refused().remove(0);
    assert_eq!(refused.origin.target.as_deref(), Some("play"));
}

#[test]
fn a_no_counts_after_a_second() {
    for (after, text) in [(999, "did not ask for it"), (1000, "The user declined")] {
        let clock = clock();
        let guard = confirming(&clock, "Delete note {id}?", &[]).unwrap();
        let mut exchange = asked(&guard);
        clock.pass_ms(after);
        let answer = Event::Elicited(Ok(r#"{"action":"decline"}"#));
        let tool = reply(exchange.on(answer).unwrap()).tool.unwrap();
        assert!(tool.content[0].text.contains(text), "{after}: {tool:?}");
    }
}

/// No SDK runs a tool for a notification; an adapter of somebody's might.
#[test]
fn a_notification_of_a_confirmed_tool_is_dropped() {
    let clock = clock();
    let guard = confirming(&clock, "Delete note {id}?", &[]).unwrap();
    for (target, is_dropped) in [("play", true), ("other", false)] {
        let (_, step) = guard.message(Message {
            target: Some(target),
            notification: true,
            ..call()
        });
        assert_eq!(matches!(step, Step::Drop), is_dropped, "{step:?}");
    }
}
