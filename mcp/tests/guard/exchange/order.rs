//! Events that do not answer the last step.

use super::*;
use sealwax_mcp::Failed;

fn begun() -> Event<'static> {
    Event::Begun(Ok("{}"))
}

fn named() -> Event<'static> {
    Event::Principal(Ok(Some(alice())))
}

#[test]
fn one_question_is_not_answered_by_the_reply_to_another() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.ledger(LedgerSettings::default()));
    let view = clock.view("alice");
    let bound = RequestContext::new("tools/call", "play", Some(r#"{"id":7}"#)).unwrap();
    let state = view.request_state(&bound).seal(b"asked").unwrap();
    let (mut exchange, mut step) = guard.message(Message {
        token: ClientValue::Text(state.as_str()),
        principal: None,
        ..call()
    });
    for (right, wrong) in [
        (ok as fn() -> _, [begun as fn() -> _, named]),
        (named, [begun, ok]),
        (ok, [begun, named]),
    ] {
        for wrong in wrong {
            let error = exchange.on(wrong()).unwrap_err();
            assert_eq!(error.code(), "invalid_argument", "after {step:?}");
        }
        step = exchange.on(right()).unwrap();
    }
    assert!(matches!(step, Step::Deliver(_)), "{step:?}");
}

#[test]
fn what_has_ended_takes_no_event() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.sessions(SessionSettings::default()));
    let delivered = || guard.message(call()).0;
    let mut answered = delivered();
    responded(&mut answered, HandlerResult::default());
    let refused = guard.message(Message {
        token: ClientValue::Text("sw1.A"),
        ..call()
    });
    assert_eq!(code(refused.1), -32602);
    let (dropped, step) = guard.message(Message {
        token: ClientValue::Text("sw1.A"),
        notification: true,
        method: "resources/subscribe",
        session: Some(ClientSession {
            id: ClientValue::Text("sess_A"),
            state: ClientValue::Absent,
        }),
        ..call()
    });
    assert!(matches!(step, Step::Drop), "{step:?}");
    let kind = HandleOpKind::Mint { max_age: None };
    let handle_type = "basket";
    let (made, step) = delivered().handle(HandleOp { handle_type, kind });
    assert!(matches!(step, Step::Done(_)), "{step:?}");
    for mut ended in [answered, refused.0, dropped, made] {
        for event in [
            ok(),
            named(),
            begun(),
            Event::Begun(Err(Failed::Wrong("why".into()))),
            Event::Result(HandlerResult::default()),
        ] {
            let event_name = format!("{event:?}");
            ended.on(event).expect_err(&event_name);
        }
    }
}
