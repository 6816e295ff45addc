//! The codec takes other keys while a guard is in use.

use super::*;
use crate::common::secret;
use sealwax::{Codec, Key, KeyRing};

fn rotated(codec: &Codec) {
    assert!(codec.set_keys(KeyRing::new([Key::generate().unwrap()]).unwrap()));
}

fn token(step: Step) -> String {
    match step {
        Step::Respond(respond) => respond.token.unwrap(),
        other => panic!("{other:?}"),
    }
}

fn refusal(guard: &Guard, message: Message<'_>) -> &'static str {
    let (mut exchange, _) = guard.message(message);
    exchange
        .refused()
        .first()
        .map_or("none", |first| first.code)
}

#[test]
fn an_exchange_ends_with_the_keys_that_it_began_with() {
    let codec = clock().codec();
    let guard = Guard::builder(codec.clone()).build().unwrap();
    let old = codec.view(&alice()).unwrap();
    let (mut exchange, _) = guard.message(call());
    rotated(&codec);
    let sealed = token(responded(&mut exchange, ASKS));
    let bound = RequestContext::new("tools/call", "play", Some(r#"{"id":7}"#)).unwrap();
    assert_eq!(
        old.request_state(&bound).open(&sealed).unwrap().payload(),
        b"asked"
    );

    // Alice's next request has the present keys, although the guard knew her.
    let again = || Message {
        token: ClientValue::Text(&sealed),
        ..call()
    };
    assert_eq!(refusal(&guard, again()), "unknown_key");
    assert!(codec.set_keys(clock().codec().ring()));
    assert_eq!(refusal(&guard, again()), "none");
}

#[test]
fn public_cursors_have_the_present_keys() {
    let codec = clock().codec();
    let guard = Guard::builder(codec.clone()).build().unwrap();
    let page = |token| Message {
        method: "tools/list",
        token,
        principal: Some(Ok(alice())),
        ..Message::default()
    };
    let public = || {
        let (mut exchange, _) = guard.message(page(ClientValue::Absent));
        let result = HandlerResult {
            outcome: Outcome::Complete,
            scope: Some(sealwax_mcp::Scope::Public),
            ..ASKS
        };
        token(responded(&mut exchange, result))
    };
    let before = public();
    assert_eq!(refusal(&guard, page(ClientValue::Text(&before))), "none");
    rotated(&codec);
    let after = public();
    assert_eq!(refusal(&guard, page(ClientValue::Text(&after))), "none");
    assert_eq!(
        refusal(&guard, page(ClientValue::Text(&before))),
        "unknown_key"
    );
}

/// As long as there are ids that it made, a key is needed, whatever sealed the latest states.
#[test]
fn a_session_tells_the_key_that_made_its_id() {
    let codec = clock().codec();
    let builder = Guard::builder(codec.clone()).events(true);
    let guard = builder.sessions(SessionSettings::default()).build();
    let view = || codec.view(&alice()).unwrap();
    let session = view().sessions().create(b"{}").unwrap();
    let [older, newer] = [1, 2].map(|byte| Key::from_secret(&secret::<32>(byte)).unwrap());
    let expected = Some(older.id());
    assert!(codec.set_keys(KeyRing::new([newer, older]).unwrap()));
    let opened = view().sessions().open(&session).unwrap();
    let renewed = view().sessions().renew(&opened, b"{}").unwrap();
    let (mut exchange, _) = guard.unwrap().message(Message {
        session: client_session(&renewed),
        ..call()
    });
    assert_eq!(exchange.events()[0].key_id, expected);
}
