//! Makes keys whose bytes valgrind takes for undefined, and uses them. So it reports each branch and each address that
//! depends on a key, on what is derived from it, or on what was decrypted by it. `expected.supp` has those that there are,
//! and why each is harmless.
//!
//! With the argument `naive` it compares a MAC as one must not: valgrind has to report that.

use std::ffi::c_void;
use std::time::Duration;

use sealwax::{Codec, Key, KeyRing, Principal};

const AUDIENCE: &str = "https://mcp.example.com";

unsafe extern "C" {
    fn taint(bytes: *const c_void, len: usize);
}

fn tainted<T: AsRef<[u8]>>(secret: T) -> T {
    let bytes = secret.as_ref();
    // SAFETY: it tells valgrind something about these bytes, and changes none.
    unsafe { taint(bytes.as_ptr().cast(), bytes.len()) };
    secret
}

/// Compares byte by byte, and stops at the first that differs.
#[inline(never)]
fn naive(secret: &[u8], given: &[u8]) -> bool {
    secret
        .iter()
        .zip(given)
        .all(|(secret, given)| secret == given)
}

fn main() {
    let secret: [u8; 32] = std::array::from_fn(|at| (at * 37 + 200) as u8);
    if std::env::args().nth(1).as_deref() == Some("naive") {
        println!("{}", naive(&*tainted(secret.to_vec()), &secret));
        return;
    }
    let key = Key::from_secret(&tainted(secret)).unwrap();
    let again = Key::from_secret(&tainted(secret)).unwrap();
    println!("equal: {}", key == again);
    let ring = KeyRing::new([key.clone()]).unwrap();
    let codec = Codec::new(ring, AUDIENCE).unwrap();
    let alice = codec.view(&Principal::subject("alice")).unwrap();
    let mallory = codec.view(&Principal::subject("mallory")).unwrap();

    for length in [0, 1, 63, 64, 65, 192, 193, 1000, 4096] {
        let payload = tainted(vec![7; length]);
        let token = alice.session().seal(&payload).unwrap().into_string();
        let opened = alice.session().open(&token).unwrap();
        assert_eq!(opened.payload().len(), length);
        let code = |opened: Result<_, sealwax::Error>| opened.err().map(|error| error.code());
        assert_eq!(
            code(mallory.session().open(&token)),
            Some("principal_mismatch")
        );
        let mut wrong = token.into_bytes();
        wrong[60] = if wrong[60] == b'A' { b'B' } else { b'A' };
        let wrong = String::from_utf8(wrong).unwrap();
        assert_eq!(code(alice.session().open(&wrong)), Some("unauthentic"));
    }

    let age = Some(Duration::from_secs(60));
    let id = alice.mint_session_id().unwrap();
    alice.verify_session_id(id.as_str(), age).unwrap();
    mallory.verify_session_id(id.as_str(), age).unwrap_err();
    let handle = alice.mint_handle("basket").unwrap();
    alice.verify_handle("basket", handle.as_str(), age).unwrap();
    mallory
        .verify_handle("basket", handle.as_str(), age)
        .unwrap_err();
    let text = key.to_text().unwrap();
    let parsed: Key = text.parse().unwrap();
    println!("parsed: {}", parsed == key);
}
