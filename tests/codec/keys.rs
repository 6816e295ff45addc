//! Rotation of keys, and what is a secret. That none is printed is in messages.rs.

use crate::common::{AUDIENCE, secret};
use sealwax::{Codec, Error, Key, KeyRing, Principal, RequestContext, View};

/// What an older key made is told by the vectors; here is what follows from it.
#[test]
fn what_an_older_key_made_is_renewed_by_the_first_one() {
    let view = |keys: &[u8]| {
        let key = |byte: &u8| Key::from_secret(&secret::<32>(*byte)).unwrap();
        let codec = Codec::new(KeyRing::new(keys.iter().map(key)).unwrap(), AUDIENCE);
        codec.unwrap().view(&Principal::subject("alice")).unwrap()
    };
    let token = view(&[1, 2]).session().seal(b"kept").unwrap();
    let rotated = view(&[2, 1]);
    let opened = rotated.session().open(&token).unwrap();
    assert!(opened.needs_reseal() && opened.needs_renewal());
    let renewed = rotated.session().renew(&opened, b"kept").unwrap();
    let opened = view(&[2]).session().open(&renewed).unwrap();
    assert!(!opened.needs_reseal());
}

#[test]
fn a_codec_takes_other_keys_and_its_views_keep_theirs() {
    let key = |byte| Key::from_secret(&secret::<32>(byte)).unwrap();
    let ring = |keys: &[u8]| KeyRing::new(keys.iter().copied().map(key)).unwrap();
    let alice = Principal::subject("alice");
    let codec = Codec::new(ring(&[1]), AUDIENCE).unwrap();
    let clone = codec.clone();
    let before = codec.view(&alice).unwrap();
    let token = before.session().seal(b"kept").unwrap();

    assert!(!codec.set_keys(ring(&[1])), "the same keys");
    assert!(before.is_current());
    assert!(codec.set_keys(ring(&[2])));
    assert_eq!(clone.ring(), ring(&[2]));
    assert!(!before.is_current() && !before.clone().is_current());
    before.session().open(&token).unwrap();
    let late = before.session().seal(b"kept").unwrap();

    let after = clone.view(&alice).unwrap();
    assert!(after.is_current());
    for token in [&token, &late] {
        let refused = after.session().open(token).unwrap_err();
        assert_eq!(refused.code(), "unknown_key");
    }
    assert!(codec.set_keys(ring(&[2, 1])));
    assert!(!after.is_current());
    let opened = codec.view(&alice).unwrap().session().open(&token).unwrap();
    assert!(opened.needs_reseal());
    assert!(codec.set_keys(ring(&[1, 2])), "their order counts");
}

#[test]
#[cfg(not(target_family = "wasm"))]
fn every_view_has_one_whole_ring_while_the_keys_change() {
    let [one, two] = [1, 100].map(|first| {
        let key = |byte| Key::from_secret(&secret::<32>(byte)).unwrap();
        KeyRing::new((first..first + 16).map(key)).unwrap()
    });
    let codec = Codec::new(one.clone(), AUDIENCE).unwrap();
    let alice = Principal::subject("alice");
    let rounds = if cfg!(miri) { 3 } else { 300 };
    std::thread::scope(|scope| {
        let readers = [(); 2].map(|()| {
            scope.spawn(|| {
                for _ in 0..rounds {
                    let view = codec.view(&alice).unwrap();
                    let token = view.session().seal(b"kept").unwrap();
                    assert!(!view.session().open(&token).unwrap().needs_reseal());
                }
            })
        });
        while !readers.iter().all(|reader| reader.is_finished()) {
            assert!(codec.set_keys(two.clone()));
            assert!(codec.set_keys(one.clone()));
        }
    });
}

#[test]
fn secrets_of_other_systems_are_imported_if_long_enough() {
    assert_eq!(
        Key::from_secret(&secret::<31>(7)).unwrap_err().code(),
        "invalid_key"
    );
    let long = Key::from_secret(&secret::<33>(7)).unwrap();
    assert!(long.to_text().is_none(), "it has no text form");
    let short = Key::from_secret(&secret::<32>(7)).unwrap();
    assert_ne!(long, short);
    assert_eq!(short, short.to_text().unwrap().parse().unwrap());
    assert_ne!(short, Key::generate().unwrap());
}

#[test]
fn what_is_plainly_no_secret_is_refused() {
    let hex = "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc";
    let no_secrets: [&[u8]; 6] = [
        &[0; 32],
        &[0xff; 32],
        &[7; 100],
        b"correct horse battery staple, correct horse\n",
        hex.as_bytes(),
        &[b'a'; 32],
    ];
    for no_secret in no_secrets {
        let error = Key::from_secret(no_secret).unwrap_err();
        assert_eq!(error.code(), "invalid_key");
        let told = error.to_string();
        assert!(told.contains("neither printable text"), "{told}");
        assert!(!told.contains("horse") && !told.contains("931f"), "{told}");
    }
    // One byte that is no text, or differs, is enough: this is no measure of randomness.
    let mut almost = [b'a'; 32];
    almost[31] = 0x80;
    assert!(Key::from_secret(&almost).is_ok());
    assert!(Key::from_secret(&[&[0; 31][..], &[1]].concat()).is_ok());

    // A key text of such a secret is refused, too.
    let zeros = "swk1_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABRqCea";
    let error = zeros.parse::<Key>().unwrap_err();
    assert!(error.to_string().contains("nor one byte repeated"));
}

#[test]
fn a_secret_that_is_refused_is_told_by_its_place() {
    let secret = "c2VjcmV0IHRleHQgdGhhdCBpcyBnZW5lcmF0ZWQ";
    let derived =
        |secret: &str, fallbacks: &str| KeyRing::derive(secret, fallbacks).unwrap_err().to_string();
    let told = derived(secret, &format!("{secret}2 short"));
    assert!(
        told.starts_with("fallback 2: expected a secret of 32"),
        "{told}"
    );
    assert!(derived("short", secret).starts_with("expected a secret of 32"));
    // Two secrets of Latin-1, as a decoder that loses bytes gives them.
    let told = derived("Z\u{fffd}rich-0123456789abcdefghijklmnopqrstu", "");
    assert!(told.contains("LC_ALL=C.UTF-8"), "{told}");
}

/// An editor, or another program, may show other lines than a server reads: a key behind a CR survived a rotation.
#[test]
fn a_ring_has_lines_that_everybody_reads_alike() {
    let key = Key::from_secret(&secret::<32>(1)).unwrap();
    let key = key.to_text().unwrap().to_string();
    for (text, found) in [
        (format!("# mine\n{key}\r"), "a CR without LF"),
        (format!("# mine\r\r\n{key}"), "a CR without LF"),
        (
            format!("\u{feff}# mine\n{key}"),
            "a byte order mark, found one",
        ),
    ] {
        let error = text.parse::<KeyRing>().unwrap_err();
        assert!(error.to_string().ends_with(found), "{error}");
    }
}

#[test]
fn an_idempotency_key_stays_in_a_rotation() {
    let (old, new) = (Key::generate().unwrap(), Key::generate().unwrap());
    let view = |keys: [&Key; 2]| {
        let ring = KeyRing::new(keys.map(Key::clone)).unwrap();
        let codec = Codec::new(ring, "https://mcp.example.com").unwrap();
        codec.view(&Principal::subject("alice")).unwrap()
    };
    let request = RequestContext::new("tools/call", "pay", None).unwrap();
    let (before, after) = (view([&old, &new]), view([&new, &old]));
    let key = |view: &View, of: Option<&Key>| {
        view.idempotency_key(&request, of.map(Key::id), b"token")
            .unwrap()
    };
    assert_eq!(key(&before, Some(&old)), key(&after, Some(&old)));
    assert_eq!(key(&before, None), key(&after, Some(&old)));
    assert_eq!(key(&after, None), key(&before, Some(&new)));
    assert_ne!(key(&before, None), key(&after, None));
    let mallory = before.codec().view(&Principal::subject("mallory")).unwrap();
    let alices = key(&before, None);
    assert_ne!(key(&mallory, None), alices);
    assert_ne!(
        before.idempotency_key(&request, None, b"another").unwrap(),
        alices
    );
    let gone = Key::generate().unwrap().id();
    let refused = before.idempotency_key(&request, Some(gone), b"token");
    assert_eq!(refused.unwrap_err(), Error::UnknownKey(gone));
}
