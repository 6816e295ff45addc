//! What links and cursors of results tell the author, the model, the browser and the log.

use super::*;
use sealwax_mcp::{Happened, Item};

fn link(guard: &Guard, link: &str) -> (Exchange, Step) {
    guard.link(HandleOp {
        handle_type: "report",
        kind: HandleOpKind::OpenLink {
            link: ClientValue::Text(link),
            keep: false,
            by: None,
        },
    })
}

fn tool_text(step: Step) -> String {
    reply(step).tool.unwrap().content[0].text.to_string()
}

#[test]
fn a_link_is_a_part_of_a_url_whose_owner_is_logged() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.events(true));
    let (exchange, _) = guard.message(call());
    let sealed = done(operate(&exchange, "report", seal_link(seconds(60))).1);
    let text = sealed.handle.unwrap();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    assert!(text.bytes().all(is_plain), "{text}");
    assert_eq!(sealed.expires_at.as_deref(), Some("2027-01-15T08:01:00Z"));
    let (mut exchange, step) = link(&guard, &text);
    let opened = done(step);
    let found = (opened.id, opened.expires_at);
    assert_eq!(found, (sealed.id, sealed.expires_at));
    let event = exchange.events().remove(0);
    assert_eq!((event.event, event.item), (Happened::Opened, Item::Link));
    assert_eq!(event.origin.principal.as_deref(), Some(&alice()));

    let (mut exchange, step) = link(&guard, "report_7");
    let reply = reply(step);
    assert_eq!((reply.status, reply.tool), (Some(404), None));
    assert_eq!(exchange.refused()[0].code, "malformed");
}

#[test]
fn the_name_of_a_link_is_the_authors() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    for name in ["", "Report", "a/b", "r\u{e9}"] {
        let (mut exchange, step) = operate(&exchange, name, seal_link(None));
        assert!(matches!(step, Step::Reply(_)), "{name}");
        assert_eq!(exchange.refused()[0].code, "invalid_argument");
    }
}

#[test]
fn a_model_hears_what_to_do_about_a_cursor() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let asks = |arguments: &str, kind| {
        let (exchange, _) = guard.message(Message {
            arguments: Some(arguments),
            ..call()
        });
        operate(&exchange, "after", kind).1
    };
    let position = |list| HandleOpKind::Position { list };
    let cursor = |list| HandleOpKind::Cursor {
        position: "20",
        ttl: None,
        list,
    };
    let made = done(asks(r#"{"q":1}"#, cursor(Some("v1")))).handle.unwrap();
    for (q, list, why) in [
        (1, "v2", "The list has changed since then."),
        (
            2,
            "v1",
            "It may be mistyped, expired, not yours, or of a call with other arguments.",
        ),
    ] {
        let again = format!(r#"{{"q":{q},"after":"{made}"}}"#);
        assert_eq!(
            tool_text(asks(&again, position(Some(list)))),
            format!("This after is not valid. {why} Call play without after for the first page.")
        );
    }
    let ledger = guard_with_ledger(&clock, |guard| guard);
    let arguments = format!(r#"{{"q":1,"after":"{made}"}}"#);
    let (exchange, _) = ledger.message(Message {
        arguments: Some(&arguments),
        ..call()
    });
    let (mut operation, _) = operate(&exchange, "after", position(Some("v1")));
    assert_eq!(operation.opened(), Some("20"));
    let opened = done(asks(&arguments, position(Some("v1"))));
    assert!(opened.id.len() == 32 && opened.expires_at.is_some());
    let revoked = Event::Ledger(Ok(vec!["revoked".into(), "0".into()]));
    let heard = tool_text(operation.on(revoked).unwrap());
    assert!(heard.contains("It may be mistyped"), "{heard}");
    for unbound in [r#"{"q":9007199254740993}"#, r#"{"q":1e400}"#] {
        let heard = tool_text(asks(unbound, cursor(None)));
        assert!(heard.starts_with("Invalid arguments. "), "{heard}");
    }
}

#[test]
fn a_cursor_is_of_a_tool() {
    let guard = guard_with(&clock(), |guard| guard);
    let (exchange, _) = guard.message(Message {
        method: "prompts/get",
        ..call()
    });
    let kind = HandleOpKind::Position { list: None };
    let (mut exchange, step) = operate(&exchange, "cursor", kind);
    assert_eq!(tool_text(step), "The server failed. Try again later.");
    let refused = exchange.refused().remove(0);
    let why = "cursor: expected a call of a tool, in its handler";
    assert_eq!(refused.message, why);
}

#[test]
fn a_page_that_is_sent_again_was_not_sealed_again() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.events(true));
    let sealed = clock.view("alice").cursor("tools/list").seal(b"2").unwrap();
    let token = ClientValue::Text(sealed.as_str());
    let (mut exchange, _) = guard.message(Message {
        method: "tools/list",
        token,
        ..call()
    });
    assert_eq!(exchange.events()[0].event, Happened::Opened);
    let step = responded(
        &mut exchange,
        HandlerResult {
            token: ClientValue::Text("2"),
            ..HandlerResult::default()
        },
    );
    assert!(matches!(step, Step::Respond(leave) if leave.token.as_deref() == token.text()));
    assert_eq!(exchange.events(), []);
}
