//! Project Wycheproof's vectors, through the cipher of this build and through RustCrypto's: with the feature `ring`
//! both run. `key` has those of HMAC and HKDF.
#![allow(clippy::unwrap_used)]
// `expect` needs no reason in tests, and the file below is read as one.
#![allow(unfulfilled_lint_expectations)]

#[cfg(feature = "ring")]
#[path = "by_rustcrypto.rs"]
mod by_rustcrypto;

use wycheproof::TestResult;
use wycheproof::aead::{TestName, TestSet};

use super::{AeadTag, Error, NONCE_LEN, Nonce};

/// How many vectors were sealed and opened, had to be refused, and have a nonce of a length that our types exclude.
#[derive(Debug, Default, PartialEq)]
struct Count {
    valid: usize,
    invalid: usize,
    other_nonces: usize,
}

macro_rules! all {
    ($name:ident, $cipher:ty) => {
        #[test]
        fn $name() {
            let mut count = Count::default();
            let set = TestSet::load(TestName::XChaCha20Poly1305).unwrap();
            let number_of_tests = set.number_of_tests;
            for test in set.test_groups.into_iter().flat_map(|group| group.tests) {
                let Ok(nonce) = <&Nonce>::try_from(&test.nonce[..]) else {
                    assert_ne!(test.nonce.len(), NONCE_LEN);
                    count.other_nonces += 1;
                    continue;
                };
                let cipher = <$cipher>::new(test.key[..].try_into().unwrap());
                let tag: AeadTag = test.tag[..].try_into().unwrap();
                let mut body = test.ct.to_vec();
                let opened = cipher.open(nonce, &test.aad, &mut body, &tag);
                if test.result == TestResult::Valid {
                    opened.unwrap();
                    assert_eq!(body, test.pt[..], "{}", test.tc_id);
                    assert_eq!(cipher.seal(nonce, &test.aad, &mut body), tag);
                    assert_eq!(body, test.ct[..], "{}", test.tc_id);
                    count.valid += 1;
                } else {
                    assert_eq!(opened, Err(Error::Unauthentic), "{}", test.tc_id);
                    assert_ne!(cipher.seal(nonce, &test.aad, &mut test.pt.to_vec()), tag);
                    // No plaintext: `ring` clears it, the others leave the ciphertext.
                    let cleared = body.iter().all(|byte| *byte == 0);
                    assert!(cleared || body == test.ct[..], "{}", test.tc_id);
                    count.invalid += 1;
                }
            }
            let expected = Count {
                valid: 246,
                invalid: 60,
                other_nonces: 9,
            };
            assert_eq!((count, number_of_tests), (expected, 315));
        }
    };
}

all!(by_this_builds_cipher, super::Cipher);
#[cfg(feature = "ring")]
all!(by_rustcryptos, by_rustcrypto::Cipher);
