//! What the operations on a handle tell the handler, and the log.

use super::*;

#[test]
fn a_handle_tells_its_ulid_and_its_end() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    for (max_age, expected) in [(seconds(60), Some("2027-01-15T08:01:00Z")), (None, None)] {
        let minted = done(operate(&exchange, "basket", HandleOpKind::Mint { max_age }).1);
        assert_eq!(minted.expires_at.as_deref(), expected);
        let text = minted.handle.as_deref().unwrap();
        let handle = clock.view("alice").verify_handle("basket", text, None);
        let ulid = u128::from_be_bytes(*handle.unwrap().ulid());
        assert_eq!(minted.id, format!("{ulid:032x}"));
        let checked = done(operate(&exchange, "basket", check(text, max_age)).1);
        assert_eq!(
            (checked.id, checked.expires_at),
            (minted.id, minted.expires_at)
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
    let (mut operation, step) = operate(&exchange, "basket", check(handle.as_str(), None));
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
    let (operation, step) = operate(&exchange, "basket", opened);
    assert_eq!(code(step), -32602);
    assert_eq!(logged(operation), Some(token.id().to_string()));

    let (operation, step) = operate(&exchange, "basket", check("basket_1", None));
    assert_eq!(code(step), -32602);
    assert_eq!(logged(operation), None);
}
