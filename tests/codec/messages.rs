//! Messages for the operator: they say what was expected, and everything in them is safe to log.

use std::time::Duration;

use crate::common::{AUDIENCE, Fixed, alice};
use sealwax::{Codec, Error, Key, KeyRing, Principal, RequestContext, View};

const KEY: &str = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";

fn alice_at(seconds: u64) -> View {
    let environment = Fixed {
        now_ms: seconds * 1000 + 500,
        random: None,
    };
    let codec = Codec::builder(KEY.parse().unwrap(), AUDIENCE).build_in(environment);
    codec.unwrap().view(&Principal::subject("alice")).unwrap()
}

#[test]
fn every_code_has_a_message_that_says_what_to_do() {
    let said = |error: Error| format!("{}: {error}", error.code());
    let token = alice_at(1000)
        .session()
        .ttl(Duration::from_secs(60))
        .seal(b"")
        .unwrap();
    let open = |view: View, text: &str| said(view.session().open(text).unwrap_err());
    let other = Codec::new(KeyRing::new([Key::generate().unwrap()]).unwrap(), AUDIENCE).unwrap();
    let changed = format!("{}AAAA", token.as_str());
    let long = "x".repeat(5581);
    for (found, expected) in [
        (
            open(alice_at(1060), token.as_str()),
            "expired: expired at 1060, and it is 1060",
        ),
        (
            open(alice_at(939), token.as_str()),
            "not_yet_valid: issued at 1000, but it is 939 here: compare the replicas' clocks",
        ),
        (
            open(other.view(&Principal::anonymous()).unwrap(), token.as_str()),
            "unknown_key: no key a8ca0d4a in the ring: retired too early, or not yet known to this replica",
        ),
        (
            open(alice_at(1000), &changed),
            "unauthentic: forged, altered, or bound to another audience, session, request or label; a handle also to another principal or a retired key",
        ),
        (
            open(
                alice_at(1000)
                    .codec()
                    .view(&Principal::anonymous())
                    .unwrap(),
                token.as_str(),
            ),
            "principal_mismatch: issued to another principal",
        ),
        (
            open(alice(), &long),
            "too_large: expected a token of at most 5580 bytes, found 5581",
        ),
        (
            open(alice(), "sw2.x"),
            "unsupported: the version of the token is not known to this version of sealwax",
        ),
        (
            open(alice(), "x"),
            "malformed: expected a sealed token, which begins with sw1.",
        ),
        (
            said(
                alice()
                    .cursor("tools/list")
                    .open(token.as_str())
                    .unwrap_err(),
            ),
            "wrong_purpose: expected a token of kind cursor, found one of kind session",
        ),
        (
            said(alice().cursor("").seal(b"").unwrap_err()),
            "invalid_argument: label: required for kind cursor",
        ),
        (
            said(format!("{KEY} swk1_x").parse::<KeyRing>().unwrap_err()),
            "invalid_key: key 2 of the ring: expected a key text: swk1_ and 48 characters, from `sealwax keygen`, `npx sealwax keygen` or `python -m sealwax keygen`",
        ),
        (
            said(Error::EntropyUnavailable),
            "entropy_unavailable: the system gave no randomness, so nothing was sealed",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn ids_that_expired_say_when_in_seconds() {
    let minute = Some(Duration::from_secs(60));
    let id = alice_at(1000).mint_session_id().unwrap();
    assert_eq!(id.created_at_ms(), 1_000_500);
    assert_eq!(id.ends_at_ms(Duration::from_secs(60)), 1_060_500);
    let handle = alice_at(1000).mint_handle("basket").unwrap();
    assert_eq!(handle.ends_at_ms(Duration::from_secs(60)), 1_060_500);
    let expired = Error::Expired {
        at: 1060,
        now: 1061,
    };
    assert_eq!(
        alice_at(1061)
            .verify_session_id(id.as_str(), minute)
            .unwrap_err(),
        expired
    );
    assert_eq!(
        alice_at(1061)
            .verify_handle("basket", handle.as_str(), minute)
            .unwrap_err(),
        expired
    );
    let early = Error::NotYetValid {
        issued_at: 1000,
        now: 900,
    };
    assert_eq!(
        alice_at(900)
            .verify_session_id(id.as_str(), None)
            .unwrap_err(),
        early
    );
}

#[test]
fn ids_print_as_text_and_are_logged_by_what_continues_nothing() {
    let id = alice().mint_session_id().unwrap();
    assert_eq!(id.to_string(), id.as_str());
    let handle = alice().mint_handle("basket").unwrap();
    assert_eq!(handle.to_string(), handle.as_str());
    for (logged, text) in [
        (format!("{id:?}"), id.as_str()),
        (format!("{handle:?}"), handle.as_str()),
    ] {
        assert!(
            logged.ends_with(')') && !logged.contains(&text[text.len() - 8..]),
            "{logged}"
        );
    }
    let sent = alice().sessions().create(b"x").unwrap();
    let logged = format!("{sent:?}");
    assert!(
        logged.contains("expires_at") && !logged.contains(&sent.session_id),
        "{logged}"
    );
}

#[test]
fn a_context_comes_back_from_its_bytes() {
    let context = RequestContext::new("tools/call", "x", None).unwrap();
    assert_eq!(RequestContext::from_bytes(context.as_bytes()), Ok(context));
    assert_eq!(format!("{context:?}"), format!("RequestContext({context})"));
    for length in [0, 31, 33] {
        assert_eq!(
            RequestContext::from_bytes(&vec![0; length])
                .unwrap_err()
                .code(),
            "invalid_argument"
        );
    }
}

#[test]
fn inspect_looks_at_two_mebibytes_at_most() {
    let code = |length| sealwax::inspect(&"x".repeat(length)).unwrap_err().code();
    assert_eq!(
        [code(2 << 20), code((2 << 20) + 1)],
        ["malformed", "too_large"]
    );
}

#[test]
fn sessions_last_thirty_days_at_most_unless_told_otherwise() {
    let ends = |started| {
        alice_at(started)
            .sessions()
            .no_expiry()
            .create(b"")
            .unwrap()
            .expires_at
    };
    assert_eq!(ends(0).as_deref(), Some("1970-01-31T00:00:00Z"));
}
