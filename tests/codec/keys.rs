//! Rotation of keys; secrets are never printed.

use crate::common::AUDIENCE;
use sealwax::{Codec, Key, KeyRing, Principal};

#[test]
fn rotation_loses_nobody_and_a_removed_key_is_unknown() {
    let key = |byte| Key::from_secret(&[byte; 32]).unwrap();
    let view = |ring: Vec<Key>| {
        let codec = Codec::new(KeyRing::new(ring).unwrap(), AUDIENCE).unwrap();
        codec.view(&Principal::subject("alice")).unwrap()
    };
    let before = view(vec![key(1), key(2)]);
    let token = before.session().seal(b"kept").unwrap();
    let id = before.mint_session_id().unwrap();
    let handle = before.mint_handle("basket").unwrap();
    assert!(!before.session().open(&token).unwrap().needs_reseal());

    let rotated = view(vec![key(2), key(1)]);
    let opened = rotated.session().open(&token).unwrap();
    assert_eq!(opened.payload(), b"kept");
    assert!(opened.needs_reseal() && opened.needs_renewal());
    assert!(
        rotated
            .verify_session_id(id.as_str(), None)
            .unwrap()
            .needs_reseal()
    );
    assert!(
        rotated
            .verify_handle("basket", handle.as_str(), None)
            .unwrap()
            .needs_reseal()
    );
    let renewed = rotated.session().renew(&opened, b"kept").unwrap();

    let retired = view(vec![key(2)]);
    assert!(!retired.session().open(&renewed).unwrap().needs_reseal());
    assert_eq!(
        retired.session().open(&token).unwrap_err().code(),
        "unknown_key"
    );
    assert_eq!(
        retired
            .verify_session_id(id.as_str(), None)
            .unwrap_err()
            .code(),
        "unknown_key"
    );
    let code = retired
        .verify_handle("basket", handle.as_str(), None)
        .unwrap_err()
        .code();
    assert_eq!(code, "unauthentic", "a handle names no key");
}

#[test]
fn nothing_secret_is_ever_printed() {
    let key = Key::from_secret(&[0x5a; 32]).unwrap();
    let text = key.to_text().unwrap();
    let printed = format!("{key:?}");
    assert_eq!(printed, format!("Key({})", key.id()));
    let codec = Codec::new(KeyRing::new([key]).unwrap(), AUDIENCE).unwrap();
    let view = codec.view(&Principal::subject("alice")).unwrap();
    let token = view.session().seal(b"payload").unwrap();
    let opened = view.session().open(&token).unwrap();
    let printed = format!("{codec:?} {view:?} {token:?} {opened:?}");
    let shown = [
        "Codec { audience: \"https://mcp.example.com\", ring: [KeyId(",
        "View { codec: Codec",
        "Token(110 characters)",
        "Opened { token_id: TokenId(",
    ];
    for part in shown {
        assert!(printed.contains(part), "no {part} in {printed}");
    }
    for secret in [&text[5..20], "90, 90", &token.as_str()[4..30], "112, 97"] {
        assert!(!printed.contains(secret), "{secret} in {printed}");
    }
    let mistyped = format!("{}A", &text[..text.len() - 1]);
    let message = mistyped.parse::<KeyRing>().unwrap_err().to_string();
    assert!(!message.contains(&text[5..20]), "{message}");
}

#[test]
fn secrets_of_other_systems_are_imported_if_long_enough() {
    assert_eq!(
        Key::from_secret(&[7; 31]).unwrap_err().code(),
        "invalid_key"
    );
    let long = Key::from_secret(&[7; 33]).unwrap();
    assert!(long.to_text().is_none(), "it has no text form");
    let short = Key::from_secret(&[7; 32]).unwrap();
    assert_ne!(long, short);
    assert_eq!(short, short.to_text().unwrap().parse().unwrap());
    assert_ne!(short, Key::generate().unwrap());
}
