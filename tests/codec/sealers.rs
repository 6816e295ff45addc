//! Each typed sealer binds what its name says, each of it alone, and equals the untyped one for that purpose.

use crate::common::{Clock, alice, ring};
use sealwax::{Codec, Inspected, Kind, Principal, Purpose, RequestContext, SessionMetadata, Token};

#[test]
fn each_typed_sealer_is_a_purpose() {
    let alice = alice();
    let id = alice.mint_session_id().unwrap();
    let context = RequestContext::new("tools/call", "rm", None).unwrap();
    let purpose = |kind, label, session_id, context| Purpose {
        kind,
        label,
        session_id,
        context,
    };
    let none: &[u8] = &[];
    let (id_text, context_bytes) = (id.as_str(), context.as_bytes().as_slice());
    let custom = alice
        .custom("report")
        .bound_to_session(&id)
        .bound_to_request(&context);
    let sealed = [
        alice.state(&id).seal(b"x").map(Token::into_string),
        alice
            .request_state(&context)
            .seal(b"x")
            .map(Token::into_string),
        alice.session().seal(b"x").map(Token::into_string),
        alice
            .cursor("tools/list")
            .seal(b"x")
            .map(Token::into_string),
        alice
            .handle_state("basket")
            .seal(b"x")
            .map(Token::into_string),
        custom.seal(b"x").map(Token::into_string),
    ];
    let purposes = [
        purpose(Kind::State, "", id_text, none),
        purpose(Kind::RequestState, "", "", context_bytes),
        purpose(Kind::Session, "", "", none),
        purpose(Kind::Cursor, "tools/list", "", none),
        purpose(Kind::HandleState, "basket", "", none),
        purpose(Kind::Custom, "report", id_text, context_bytes),
    ];
    for (token, bound) in sealed.iter().flatten().zip(purposes) {
        let opened = alice.sealer(bound).open(token).unwrap();
        assert_eq!(opened.payload(), b"x");
        let found = sealwax::inspect(token).unwrap();
        assert!(matches!(found, Inspected::Token { kind, .. } if kind == bound.kind));
        let Purpose {
            kind,
            label,
            session_id,
            context,
        } = bound;
        // Each binding counts alone; what a kind does not have cannot be given.
        for (without, other) in [
            (
                label.is_empty(),
                purpose(kind, "other", session_id, context),
            ),
            (
                session_id.is_empty(),
                purpose(kind, label, "other", context),
            ),
            (
                context.is_empty(),
                purpose(kind, label, session_id, &[7; 32]),
            ),
        ] {
            let found = alice.sealer(other).open(token).unwrap_err().code();
            let codes = ["unauthentic", "invalid_argument"];
            assert_eq!(found, codes[usize::from(without)], "{other:?}");
        }
    }
    assert!(sealed.iter().all(Result::is_ok));
}

/// For bindings, whose callers may give an id or none.
#[test]
fn an_id_that_is_given_binds_even_if_it_is_empty() {
    let alice = alice();
    let id = alice.mint_session_id().unwrap();
    let purpose = Purpose {
        kind: Kind::State,
        label: "",
        session_id: "",
        context: &[],
    };
    let bound = purpose.bound_to_session(id.as_str()).unwrap();
    let token = alice.sealer(bound).seal(b"x").unwrap();
    assert_eq!(alice.state(&id).open(&token).unwrap().payload(), b"x");
    let error = purpose.bound_to_session("").unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
}

#[test]
fn json_goes_in_and_comes_out() {
    let alice = alice();
    let token = alice.session().seal_json(&("page", 2)).unwrap();
    let opened = alice.session().open(&token).unwrap();
    assert_eq!(opened.json::<(String, u8)>().unwrap(), ("page".into(), 2));
    assert_eq!(opened.json::<u8>().unwrap_err().code(), "malformed");
    let id = alice.mint_session_id().unwrap();
    assert!(
        matches!(sealwax::inspect(id.as_str()).unwrap(), Inspected::SessionId { created_at_ms, .. } if created_at_ms == id.created_at_ms())
    );
    assert!(sealwax::inspect("sw2.").is_err_and(|error| error.code() == "unsupported"));
}

#[test]
fn a_text_field_has_1024_bytes_at_most() {
    let codec = |length| Codec::new(ring(), "a".repeat(length));
    assert_eq!(codec(1025).unwrap_err().code(), "invalid_argument");
    let alice = codec(1024)
        .unwrap()
        .view(&Principal::subject("a".repeat(1024)))
        .unwrap();
    assert!(alice.cursor(&"é".repeat(512)).seal(b"").is_ok());
    assert_eq!(
        alice.cursor(&"é".repeat(513)).seal(b"").unwrap_err().code(),
        "invalid_argument"
    );
}

/// SPEC.md, section 5: at most 32 bits, where they stop.
#[test]
fn the_generation_and_the_age_stop_where_no_larger_ones_fit() {
    let most = u32::MAX;
    let view = Clock::at_ms(2000 * u64::from(most)).view("alice");
    let session = view.session();
    let opened = session.open(session.renew_from(0, most, b"").unwrap());
    let opened = opened.unwrap();
    let stopped = (opened.generation(), opened.started_at());
    assert_eq!(stopped, (most, u64::from(most)));

    let sessions = view.sessions();
    let begun = sessions.create(b"").unwrap();
    let id = view.verify_session_id(&begun.session_id, None).unwrap();
    let state = view
        .state(&id)
        .renew_from(2 * u64::from(most), most, b"")
        .unwrap();
    let sent = SessionMetadata::new(begun.session_id, Some(state.into_string()));
    let renewed = sessions.renew(&sessions.open(&sent).unwrap(), b"").unwrap();
    let reopened = sessions.open(&renewed).unwrap();
    assert_eq!(reopened.state().generation(), most);
}
