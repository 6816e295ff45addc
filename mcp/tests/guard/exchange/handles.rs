//! What the operations on a handle tell the handler, and the log.

use super::*;

fn operate(exchange: &Exchange, kind: HandleOpKind<'_>) -> (Exchange, Step) {
    let handle_type = "basket";
    exchange.handle(HandleOp { handle_type, kind })
}

fn check(handle: &str, max_age: Option<Duration>) -> HandleOpKind<'_> {
    HandleOpKind::Check {
        handle: ClientValue::Text(handle),
        max_age,
    }
}

#[test]
fn a_handle_tells_its_ulid_and_its_end() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    for (max_age, expected) in [(seconds(60), Some("2027-01-15T08:01:00Z")), (None, None)] {
        let (_, step) = operate(&exchange, HandleOpKind::Mint { max_age });
        let Step::Done(minted) = step else {
            panic!("{step:?}")
        };
        assert_eq!(minted.expires_at.as_deref(), expected);
        let text = minted.handle.as_deref().unwrap();
        let handle = clock
            .view("alice")
            .verify_handle("basket", text, None)
            .unwrap();
        let ulid: String = handle
            .ulid()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(minted.id, ulid);
        let (_, step) = operate(&exchange, check(text, max_age));
        let Step::Done(checked) = step else {
            panic!("{step:?}")
        };
        assert_eq!(
            (checked.id, checked.expires_at.as_deref()),
            (ulid, expected)
        );
    }
}

/// An id is logged of a handle that was verified, and of a token as it claims it; any other text has none.
#[test]
fn a_refused_handle_is_logged_by_its_id() {
    let clock = clock();
    let guard = guard_with_ledger(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    let logged = |mut operation: Exchange| operation.refused().remove(0).id;
    let view = clock.view("alice");
    let handle = view.mint_handle("basket").unwrap();
    let (mut operation, step) = operate(&exchange, check(handle.as_str(), None));
    assert_eq!(command(step).script, Script::Admit);
    let ended = Event::Ledger(Ok(vec!["ended".into(), "0".into()]));
    assert_eq!(code(operation.on(ended).unwrap()), -32602);
    let ulid = u128::from_be_bytes(*handle.ulid());
    assert_eq!(logged(operation), Some(format!("{ulid:032x}")));

    let token = view.handle_state("cart").seal(b"1").unwrap();
    let opened = HandleOpKind::Open {
        handle: ClientValue::Text(token.as_str()),
        max_age: None,
        once: false,
    };
    let (operation, step) = operate(&exchange, opened);
    assert_eq!(code(step), -32602);
    assert_eq!(logged(operation), Some(token.id().to_string()));

    let (operation, step) = operate(&exchange, check("basket_1", None));
    assert_eq!(code(step), -32602);
    assert_eq!(logged(operation), None);
}
