//! Alters sealed tokens anywhere: they open only if nothing was changed.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sealwax::{Codec, Key, KeyRing, Principal, View};

static ALICE: LazyLock<View> = LazyLock::new(|| {
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    Codec::new(ring, "urn:fuzz").unwrap().view(&Principal::subject("alice")).unwrap()
});

fuzz_target!(|input: (&[u8], u16, &str)| {
    let (payload, at, splice) = input;
    let sealer = ALICE.session();
    let Ok(token) = sealer.seal(payload) else { return assert!(payload.len() > 4096) };
    let text = token.as_str();
    let at = usize::from(at) % (text.len() + 1);
    let end = (at + splice.len()).min(text.len());
    for altered in [format!("{}{splice}{}", &text[..at], &text[at..]), format!("{}{splice}{}", &text[..at], &text[end..])] {
        match sealer.open(altered.as_str()) {
            Ok(opened) => assert!(altered == text && opened.payload() == payload),
            Err(_) => assert_ne!(altered, text),
        }
    }
});
