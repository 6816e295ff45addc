//! What the operations on a handle tell the handler, and by which id the log names what is refused.

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
    let sealed = HandleOpKind::Seal {
        value: "1",
        ttl: seconds(60),
        predecessor: None,
        once: false,
    };
    let sealed = done(operate(&exchange, "basket", sealed).1);
    let end = Some("2027-01-15T08:01:00Z");
    assert_eq!((sealed.id.len(), sealed.expires_at.as_deref()), (32, end));
    let open = HandleOpKind::Open {
        handle: sealed.handle.as_deref().into(),
        max_age: None,
        once: false,
    };
    let opened = done(operate(&exchange, "basket", open).1);
    let known = |one: &HandleResult| (one.id.clone(), one.expires_at.clone());
    assert_eq!(known(&opened), known(&sealed));
}

/// An id is logged of a handle that was verified, and of a token as it claims it; any other text has none.
#[test]
fn what_is_refused_is_logged_by_its_id() {
    let clock = clock();
    let guard = guard_with_ledger(&clock, |guard| guard.sessions(SessionSettings::default()));
    let logged = |mut exchange: Exchange| {
        let refused = exchange.refused().remove(0);
        assert_eq!(refused.origin.target.as_deref(), Some("play"));
        (refused.code, refused.id)
    };
    let ended = || Event::Ledger(Ok(vec!["ended".into(), "0".into()]));
    let view = clock.view("alice");
    let (exchange, _) = guard.message(call());
    let handle = view.mint_handle("basket").unwrap();
    let (mut operation, step) = operate(&exchange, "basket", check(handle.as_str(), None));
    assert_eq!(command(step).script, Script::Admit);
    assert_eq!(code(operation.on(ended()).unwrap()), -32602);
    let ulid = format!("{:032x}", u128::from_be_bytes(*handle.ulid()));
    assert_eq!(logged(operation), ("ended", Some(ulid)));

    let token = view.handle_state("cart").seal(b"1").unwrap();
    let opened = HandleOpKind::Open {
        handle: ClientValue::Text(token.as_str()),
        max_age: None,
        once: false,
    };
    let claimed = Some(token.id().to_string());
    let (operation, _) = operate(&exchange, "basket", opened);
    assert_eq!(logged(operation), ("unauthentic", claimed));
    let (operation, _) = operate(&exchange, "basket", check("basket_1", None));
    assert_eq!(logged(operation), ("malformed", None));

    let session = created(&clock);
    let of_session = |who| Message {
        session: client_session(&session),
        principal: Some(Ok(Principal::subject(who))),
        ..call()
    };
    let (mut exchange, _) = guard.message(of_session("alice"));
    exchange.on(ok()).unwrap();
    let ulid = exchange.session().unwrap().ulid();
    let (mut exchange, _) = guard.message(of_session("alice"));
    assert_eq!(code(exchange.on(ended()).unwrap()), -32043);
    assert_eq!(logged(exchange), ("ended", Some(ulid)));
    // Nothing but the id of its state can be read of another's.
    let (exchange, _) = guard.message(of_session("mallory"));
    let (code, id) = logged(exchange);
    assert_eq!((code, id.unwrap().len()), ("principal_mismatch", 32));

    let of_bob = clock.view("bob").session().seal(b"{}").unwrap();
    let (mut exchange, _) = over_http(&guard, ClientValue::Text(of_bob.as_str()), LIST);
    let refused = exchange.refused().remove(0);
    assert_eq!(refused.code, "principal_mismatch");
    assert_eq!(refused.id, Some(of_bob.id().to_string()));
}
