//! The cipher by the assembly of `ring`.

use chacha20::R20;
use chacha20::hchacha;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use zeroize::Zeroizing;

use super::super::bytes::leading;
use super::{AeadTag, Error, Nonce};

/// Wiped when dropped. `ring` leaves the subkey of each token on the stack, which the caller wipes.
pub(crate) struct Cipher(Zeroizing<[u8; 32]>);

impl Cipher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Zeroizing::new(*key))
    }

    /// XChaCha20 is ChaCha20 under a key made by HChaCha20 of the nonce's first 16 bytes
    /// (draft-irtf-cfrg-xchacha-03, section 2.3).
    #[expect(clippy::expect_used, reason = "HChaCha20 gives a key of 32 bytes")]
    fn for_nonce(&self, nonce: &Nonce) -> (LessSafeKey, ring::aead::Nonce) {
        let subkey =
            Zeroizing::new(hchacha::<R20>((&*self.0).into(), &leading::<16>(nonce).into()).0);
        let subkey = UnboundKey::new(&CHACHA20_POLY1305, subkey.as_ref()).expect("32 bytes");
        let mut rest = [0; 12];
        rest[4..].copy_from_slice(&nonce[16..]);
        let rest = ring::aead::Nonce::assume_unique_for_key(rest);
        (LessSafeKey::new(subkey), rest)
    }

    #[expect(clippy::expect_used, reason = "no body reaches the cipher's limit")]
    pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> AeadTag {
        let (key, nonce) = self.for_nonce(nonce);
        let sealed = key.seal_in_place_separate_tag(nonce, Aad::from(aad), body);
        leading(sealed.expect("the body is within the limit").as_ref())
    }

    pub(crate) fn open(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        body: &mut [u8],
        tag: &AeadTag,
    ) -> Result<(), Error> {
        let (key, nonce) = self.for_nonce(nonce);
        let opened =
            key.open_in_place_separate_tag(nonce, Aad::from(aad), (*tag).into(), body, 0..);
        opened.map(drop).map_err(|_| Error::Unauthentic)
    }
}
