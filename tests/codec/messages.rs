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
    let said = |error: Error| {
        // Those are the server's own; of any other, the client is told that its token is refused.
        let own = ["invalid_argument", "invalid_key", "entropy_unavailable"];
        assert_eq!(error.is_refusal(), !own.contains(&error.code()), "{error}");
        format!("{}: {error}", error.code())
    };
    let minute = Duration::from_secs(60);
    let token = alice_at(1000).session().ttl(minute).seal(b"").unwrap();
    let open = |view: View, text: &str| said(view.session().open(text).unwrap_err());
    let nobody = alice_at(1000)
        .codec()
        .view(&Principal::anonymous())
        .unwrap();
    let elsewhere = alice().cursor("tools/list").open(token.as_str());
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
            open(view_without_the_key(), token.as_str()),
            "unknown_key: no key a8ca0d4a in the ring: retired too early, or not yet known to this replica",
        ),
        (
            open(alice_at(1000), &changed),
            "unauthentic: forged, altered, or bound to another audience, session, request or label; a handle also to another principal or a retired key",
        ),
        (
            open(nobody, token.as_str()),
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
            said(elsewhere.unwrap_err()),
            "wrong_purpose: expected a token of kind cursor, found one of kind session",
        ),
        (
            said(alice().cursor("").seal(b"").unwrap_err()),
            "invalid_argument: label: required for kind cursor",
        ),
        (
            said(format!("{KEY} swk1_x").parse::<KeyRing>().unwrap_err()),
            "invalid_key: key 2 of the ring: expected a key text: swk1_ and 48 characters, from `sealwax keygen`, `npx sealwax keygen` or `python -m sealwax keygen`. Another secret belongs in SEALWAX_SECRET, or in Key.derive",
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
    let late = alice_at(1061);
    let found = late.verify_session_id(id.as_str(), minute).unwrap_err();
    assert_eq!(found, expired);
    let found = late.verify_handle("basket", handle.as_str(), minute);
    assert_eq!(found.unwrap_err(), expired);
    let early = Error::NotYetValid {
        issued_at: 1000,
        now: 900,
    };
    let found = alice_at(900).verify_session_id(id.as_str(), None);
    assert_eq!(found.unwrap_err(), early);
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
        let refused = RequestContext::from_bytes(&vec![0; length]).unwrap_err();
        assert_eq!(refused.code(), "invalid_argument");
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
    let created = alice_at(0).sessions().no_expiry().create(b"").unwrap();
    assert_eq!(created.expires_at.as_deref(), Some("1970-01-31T00:00:00Z"));
}

/// Gives what is secret to all that fails or shows, wherever a text goes, and searches what it says.
#[test]
fn nothing_that_is_said_holds_a_secret() {
    const PAYLOAD: &[u8] = br#"{"password":"hunter2"}"#;
    let key: Key = KEY.parse().unwrap();
    let ring = KeyRing::new([key.clone()]).unwrap();
    let alice = alice_at(1000);
    let token = alice.session().ttl(Duration::from_secs(60)).seal(PAYLOAD);
    let token = token.unwrap();
    let opened = alice.session().open(&token).unwrap();
    let mut said = vec![
        format!("{key:?} {ring:?} {alice:?} {token:?} {opened:?}"),
        format!("{:?} {:?}", alice.codec(), alice.session()),
        format!("{:?}", Codec::builder(ring, AUDIENCE)),
        format!("{:?}", sealwax::KeysFile::new("keys")),
        format!("{:?}", sealwax::inspect(KEY)),
    ];
    let shown = [
        "Codec { audience: \"https://mcp.example.com\", ring: [KeyId(",
        "View { codec: Codec",
        "Token(122 characters)",
        "Opened { token_id: TokenId(",
    ];
    for part in shown {
        assert!(said[..2].concat().contains(part), "no {part} in {said:?}");
    }
    let mut codes = std::collections::BTreeSet::new();
    let mut failed = |error: Error| {
        codes.insert(error.code());
        said.push(format!("{error} {error:?} {:?}", Some(Box::new(&error))));
    };
    let altered = format!("{}x", &KEY[..52]);
    for text in [
        &altered,
        &KEY[..50],
        &KEY.to_uppercase(),
        &format!("{KEY}{KEY}"),
    ] {
        failed(text.parse::<Key>().unwrap_err());
        failed(text.parse::<KeyRing>().unwrap_err());
        failed(sealwax::inspect(text).unwrap_err());
    }
    failed(format!("{KEY} {KEY}").parse::<KeyRing>().unwrap_err());
    failed(KeyRing::read(KEY).unwrap_err());
    failed(Key::from_secret(b"hunter2hunter2hunter2hunter2hunter2").unwrap_err());
    for text in [KEY, token.as_str(), "hunter2"] {
        failed(text.parse::<sealwax::Kind>().unwrap_err());
        failed(alice.cursor("tools/list").open(text).unwrap_err());
        failed(alice.verify_session_id(text, None).unwrap_err());
        failed(alice.verify_handle("basket", text, None).unwrap_err());
        failed(alice.mint_handle(&text.to_uppercase()).unwrap_err());
        failed(RequestContext::new("tools/call", "x", Some(text)).unwrap_err());
    }
    failed(opened.json::<Vec<u8>>().unwrap_err());
    failed(alice_at(1060).session().open(&token).unwrap_err());
    failed(alice_at(900).session().open(&token).unwrap_err());
    let mallory = alice.codec().view(&Principal::subject("mallory")).unwrap();
    failed(mallory.session().open(&token).unwrap_err());
    failed(view_without_the_key().session().open(&token).unwrap_err());
    let changed = format!("{}AAAA", token.as_str());
    failed(alice.session().open(&changed).unwrap_err());
    failed(alice.session().seal(&PAYLOAD.repeat(1000)).unwrap_err());
    failed(alice.session().open("sw9.hunter2").unwrap_err());
    failed(Error::EntropyUnavailable);
    assert_eq!(codes.len(), 12, "every code: {codes:?}");

    let secret = &key.to_text().unwrap()[5..];
    for text in &said {
        let found = [
            &secret[..8],
            &secret[20..28],
            &token.as_str()[60..72],
            "unter2",
        ]
        .into_iter()
        .find(|needle| text.to_lowercase().contains(&needle.to_lowercase()));
        assert_eq!(found, None, "{text}");
    }
}

fn view_without_the_key() -> View {
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let codec = Codec::builder(ring, AUDIENCE).build_in(Fixed {
        now_ms: 1_000_500,
        random: None,
    });
    codec.unwrap().view(&Principal::subject("alice")).unwrap()
}
