//! Confirmations: keys of their own, their log, and notifications.

use super::*;
use sealwax_mcp::{Client, Confirm, Failed};

fn confirming(clock: &Clock) -> Guard {
    let confirm = Confirm {
        message: Some("Delete note {id}?".into()),
        preview: false,
    };
    guard_with(clock, |guard| guard.confirm("play", confirm))
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
    let guard = confirming(&clock());
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
    let guard = confirming(&clock());
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
        let mut exchange = asked(&confirming(&clock));
        clock.pass_ms(after);
        let answer = Event::Elicited(Ok(r#"{"action":"decline"}"#));
        let tool = reply(exchange.on(answer).unwrap()).tool.unwrap();
        assert!(tool.content[0].text.contains(text), "{after}: {tool:?}");
    }
}

#[test]
fn who_cannot_be_asked_after_all_is_asked_with_the_next_call() {
    let guard = confirming(&clock());
    let mut exchange = asked(&guard);
    let failed = Event::Elicited(Err(Failed::Threw("an error".into())));
    let tool = reply(exchange.on(failed).unwrap()).tool.unwrap();
    assert!(tool.is_error);
    assert!(exchange.refused()[0].message.contains("gave none"));
    asked(&guard);
}

/// Many emoji have one.
#[test]
fn a_style_is_hidden_behind_an_emoji_alone() {
    let message = Message {
        modern: false,
        arguments: Some("{\"id\":\"a\u{fe0f}\u{26a0}\u{fe0f}\"}"),
        ..call()
    };
    let (_, step) = confirming(&clock()).message_from(message, Some(&client()));
    let Step::Elicit(elicitation) = step else {
        panic!("{step:?}")
    };
    let params = serde_json::json!(elicitation.params);
    let shown = "Delete note \"a\\u{fe0f}\u{26a0}\u{fe0f}\"?";
    assert_eq!(params["message"], shown);
}

/// Nobody in particular may be many clients.
#[test]
fn an_anonymous_client_that_did_not_show_a_question_is_asked_again() {
    let guard = confirming(&clock());
    for (principal, is_asked) in [(Principal::anonymous(), true), (alice(), false)] {
        let begin = || {
            let message = Message {
                modern: false,
                principal: Some(Ok(principal.clone())),
                ..call()
            };
            guard.message_from(message, Some(&client()))
        };
        let (mut exchange, _) = begin();
        let at_once = Event::Elicited(Ok(r#"{"action":"decline"}"#));
        exchange.on(at_once).unwrap();
        let (_, step) = begin();
        assert_eq!(matches!(step, Step::Elicit(_)), is_asked, "{step:?}");
    }
}

#[test]
fn only_a_confirmed_tool_has_a_preview() {
    for (tool, is_right) in [("play", true), ("other", false)] {
        let builder = Guard::builder(clock().codec()).confirm("play", Confirm::default());
        assert_eq!(builder.preview(tool).build().is_ok(), is_right, "{tool}");
    }
    // A list of tools shows what it has, whatever it brings.
    assert!(!confirming(&clock()).defers());
}

/// No SDK runs a tool for a notification; an adapter of somebody's might.
#[test]
fn a_notification_of_a_confirmed_tool_is_dropped() {
    let guard = confirming(&clock());
    for (target, is_dropped) in [("play", true), ("other", false)] {
        let (_, step) = guard.message(Message {
            target: Some(target),
            notification: true,
            ..call()
        });
        assert_eq!(matches!(step, Step::Drop), is_dropped, "{step:?}");
    }
}
