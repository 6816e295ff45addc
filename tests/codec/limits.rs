//! Limits, and mistakes of an author that must not go unnoticed.

use std::time::Duration;

use crate::common::{AUDIENCE, alice, ring};
use sealwax::{Codec, Kind, Principal};

#[test]
fn limits_are_configurable_up_to_their_hard_limits() {
    let alice = |payload_limit| {
        let codec = Codec::builder(ring(), AUDIENCE)
            .payload_limit(payload_limit)
            .build()
            .unwrap();
        codec.view(&Principal::subject("alice")).unwrap()
    };
    let full = alice(1 << 20).session().seal(&vec![7; 1 << 20]).unwrap();
    let opened = alice(1 << 20).session().open(&full).unwrap();
    assert_eq!(opened.into_payload(), vec![7; 1 << 20]);
    let refused = alice(4096).session().open(&full).unwrap_err();
    assert_eq!(refused.code(), "too_large");
    let refused = alice(4096).session().seal(&[7; 4097]).unwrap_err();
    assert!(refused.to_string().contains("payload_limit"), "{refused}");
    assert_eq!(alice(4096).codec().token_limit(), 5580);
    let too_much = Codec::builder(ring(), AUDIENCE)
        .payload_limit((1 << 20) + 1)
        .build();
    assert_eq!(too_much.unwrap_err().code(), "invalid_argument");
    let tolerant = |seconds| {
        Codec::builder(ring(), AUDIENCE)
            .clock_tolerance(Duration::from_secs(seconds))
            .build()
    };
    let five_minutes = Duration::from_secs(300);
    assert_eq!(tolerant(300).unwrap().clock_tolerance(), five_minutes);
    assert_eq!(tolerant(301).unwrap_err().code(), "invalid_argument");
}

#[test]
fn nobody_is_no_principal() {
    let codec = Codec::new(ring(), AUDIENCE).unwrap();
    for nobody in [
        Principal::subject(""),
        Principal::client(""),
        Principal::subject("alice").with_issuer(""),
        Principal::subject("alice").with_client(""),
        Principal::anonymous().with_client("cli-7"),
        Principal::subject("a".repeat(1025)),
    ] {
        let refused = codec.view(&nobody).unwrap_err();
        assert_eq!(refused.code(), "invalid_argument", "{nobody:?}");
    }
    assert!(Principal::from_parts(Some("https://idp.example.com"), None, None).is_err());
}

#[test]
fn each_kind_lives_as_long_as_the_format_says() {
    const DAY: u32 = 86_400;
    let expected = [DAY, 600, 30 * DAY, DAY, DAY, DAY];
    assert_eq!(Kind::ALL.map(Kind::default_ttl), expected);
    let token = alice().session().seal(b"").unwrap();
    let lives = token.expires_at().map(|end| end - token.issued_at());
    assert_eq!(lives, Some(u64::from(30 * DAY)));
}
