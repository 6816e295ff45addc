//! The cipher by the host of a WebAssembly module: Go's assembly or Java's intrinsics are several
//! times as fast as what their translation of the module computes.
//!
//! The subkey of one token, for one call, is then in the host's memory too.

use std::sync::OnceLock;

use chacha20::R20;
use chacha20::hchacha;
use zeroize::Zeroizing;

use super::super::bytes::leading;
use super::{AeadTag, Error, Nonce};

/// ChaCha20-Poly1305 (RFC 8439) of the host, in place.
pub trait HostCipher: Sync {
    /// Encrypts the body, and returns its tag; nothing if the host fails.
    fn seal(&self, key: &Key, nonce: &[u8; 12], aad: &[u8], body: &mut [u8]) -> Option<AeadTag>;

    /// Decrypts the body if the tag is right; else leaves it, and returns `false`.
    fn open(&self, key: &Key, nonce: &[u8; 12], aad: &[u8], body: &mut [u8], tag: &AeadTag)
    -> bool;
}

type Key = [u8; 32];

static HOST: OnceLock<&dyn HostCipher> = OnceLock::new();

/// Sets the cipher of this module, before its first token; the first one stays.
pub fn set_host_cipher(host: &'static dyn HostCipher) {
    HOST.get_or_init(|| host);
}

#[expect(clippy::expect_used, reason = "the module sets it when it begins")]
fn host() -> &'static dyn HostCipher {
    *HOST.get().expect("the cipher of the host is set")
}

/// Wiped when dropped.
pub(crate) struct Cipher(Zeroizing<Key>);

impl Cipher {
    pub(crate) fn new(key: &Key) -> Self {
        Self(Zeroizing::new(*key))
    }

    /// XChaCha20 is ChaCha20 under a key made by HChaCha20 of the nonce's first 16 bytes
    /// (draft-irtf-cfrg-xchacha-03, section 2.3).
    ///
    /// A function of its own in the module, where tests/assurance/constant-time reads its branches.
    #[inline(never)]
    fn for_nonce(&self, nonce: &Nonce) -> (Zeroizing<Key>, [u8; 12]) {
        let start = leading::<16>(nonce).into();
        let subkey = Zeroizing::new(hchacha::<R20>((&*self.0).into(), &start).0);
        let mut rest = [0; 12];
        rest[4..].copy_from_slice(&nonce[16..]);
        (subkey, rest)
    }

    #[expect(clippy::expect_used, reason = "a host whose cipher fails cannot go on")]
    pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> AeadTag {
        let (key, nonce) = self.for_nonce(nonce);
        let sealed = host().seal(&key, &nonce, aad, body);
        sealed.expect("the host seals")
    }

    pub(crate) fn open(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        body: &mut [u8],
        tag: &AeadTag,
    ) -> Result<(), Error> {
        let (key, nonce) = self.for_nonce(nonce);
        if host().open(&key, &nonce, aad, body, tag) {
            Ok(())
        } else {
            Err(Error::Unauthentic)
        }
    }
}
