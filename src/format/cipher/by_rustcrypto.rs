//! The default cipher, for every target.

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};

use super::{AeadTag, Error, Nonce};

/// Wiped when dropped.
pub(crate) struct Cipher(XChaCha20Poly1305);

impl Cipher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(key.into()))
    }

    #[expect(clippy::expect_used, reason = "no body reaches the cipher's limit")]
    pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> AeadTag {
        let sealed = self
            .0
            .encrypt_inout_detached(nonce.into(), aad, body.into());
        sealed.expect("the body is within the limit").into()
    }

    pub(crate) fn open(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        body: &mut [u8],
        tag: &AeadTag,
    ) -> Result<(), Error> {
        let opened = self
            .0
            .decrypt_inout_detached(nonce.into(), aad, body.into(), tag.into());
        opened.map_err(|_| Error::Unauthentic)
    }
}
