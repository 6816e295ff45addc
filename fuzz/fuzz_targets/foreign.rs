//! Reads texts that are not tokens: nothing opens, nothing panics, and a key prints as it was read.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sealwax::{Codec, Key, KeyRing, Principal, SessionMetadata, View};

static ALICE: LazyLock<View> = LazyLock::new(|| {
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    Codec::new(ring, "urn:fuzz").unwrap().view(&Principal::subject("alice")).unwrap()
});

fuzz_target!(|text: &str| {
    assert!(ALICE.session().open(text).is_err());
    assert!(ALICE.verify_session_id(text, None).is_err());
    assert!(ALICE.verify_handle("basket", text, None).is_err());
    if let Ok(metadata) = SessionMetadata::from_json(text) {
        assert!(ALICE.sessions().open(&metadata).is_err());
    }
    let _ = sealwax::inspect(text);
    let _ = text.parse::<KeyRing>();
    if let Ok(key) = text.parse::<Key>() {
        assert_eq!(key.to_text().unwrap().as_str(), text);
    }
});
