//! XChaCha20-Poly1305, by one of two libraries that give the same bytes.
//!
//! RustCrypto's is the default: pure Rust, for every target. With the feature `ring`, the
//! assembly of `ring` does the work behind RustCrypto's HChaCha20, in less than half the time
//! (benches/); it is what the C library and the Python wheel are built with.

#[cfg(not(feature = "ring"))]
pub(crate) use rustcrypto::Cipher;
#[cfg(feature = "ring")]
pub(crate) use with_ring::Cipher;

use crate::Error;

pub(crate) const NONCE_LEN: usize = 24;
pub(crate) const TAG_LEN: usize = 16;

/// The two operations. `body` is encrypted, or decrypted, where it lies; the tag is checked
/// before a byte is decrypted.
pub(crate) trait Aead: Sized {
    fn new(key: &[u8; 32]) -> Self;
    fn seal(&self, nonce: &[u8; NONCE_LEN], aad: &[u8], body: &mut [u8]) -> [u8; TAG_LEN];
    fn open(
        &self,
        nonce: &[u8; NONCE_LEN],
        aad: &[u8],
        body: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error>;
}

#[cfg(not(feature = "ring"))]
mod rustcrypto {
    use chacha20poly1305::aead::AeadInOut as _;
    use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};

    use super::{Aead, NONCE_LEN, TAG_LEN};
    use crate::Error;

    /// Wiped when dropped.
    pub(crate) struct Cipher(XChaCha20Poly1305);

    impl Aead for Cipher {
        fn new(key: &[u8; 32]) -> Self {
            Self(XChaCha20Poly1305::new(key.into()))
        }

        fn seal(&self, nonce: &[u8; NONCE_LEN], aad: &[u8], body: &mut [u8]) -> [u8; TAG_LEN] {
            let sealed = self
                .0
                .encrypt_inout_detached(nonce.into(), aad, body.into());
            #[expect(
                clippy::expect_used,
                reason = "the limit is 256 GiB; a payload has 1 MiB at most"
            )]
            sealed
                .expect("the body is within the cipher's limit")
                .into()
        }

        fn open(
            &self,
            nonce: &[u8; NONCE_LEN],
            aad: &[u8],
            body: &mut [u8],
            tag: &[u8; TAG_LEN],
        ) -> Result<(), Error> {
            let opened = self
                .0
                .decrypt_inout_detached(nonce.into(), aad, body.into(), tag.into());
            opened.map_err(|_| Error::Unauthentic)
        }
    }
}

#[cfg(feature = "ring")]
mod with_ring {
    use chacha20::R20;
    use chacha20::hchacha;
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, Tag, UnboundKey};
    use zeroize::Zeroizing;

    use super::{Aead, NONCE_LEN, TAG_LEN};
    use crate::Error;
    use crate::bytes::leading;

    /// Wiped when dropped. The subkey of each token is not: `ring` leaves it on the stack.
    pub(crate) struct Cipher(Zeroizing<[u8; 32]>);

    impl Cipher {
        /// XChaCha20 is ChaCha20 under a key made by HChaCha20 of the nonce's first 16 bytes
        /// (draft-irtf-cfrg-xchacha-03, section 2.3).
        fn for_nonce(&self, nonce: &[u8; NONCE_LEN]) -> (LessSafeKey, Nonce) {
            let subkey =
                Zeroizing::new(hchacha::<R20>((&*self.0).into(), &leading::<16>(nonce).into()).0);
            #[expect(
                clippy::expect_used,
                reason = "HChaCha20 gives the 32 bytes that ChaCha20 takes"
            )]
            let subkey =
                UnboundKey::new(&CHACHA20_POLY1305, subkey.as_ref()).expect("32 bytes are a key");
            let mut rest = [0; 12];
            rest[4..].copy_from_slice(&nonce[16..]);
            (LessSafeKey::new(subkey), Nonce::assume_unique_for_key(rest))
        }
    }

    impl Aead for Cipher {
        fn new(key: &[u8; 32]) -> Self {
            Self(Zeroizing::new(*key))
        }

        fn seal(&self, nonce: &[u8; NONCE_LEN], aad: &[u8], body: &mut [u8]) -> [u8; TAG_LEN] {
            let (key, nonce) = self.for_nonce(nonce);
            let sealed = key.seal_in_place_separate_tag(nonce, Aad::from(aad), body);
            #[expect(
                clippy::expect_used,
                reason = "the limit is 256 GiB; a payload has 1 MiB at most"
            )]
            leading(
                sealed
                    .expect("the body is within the cipher's limit")
                    .as_ref(),
            )
        }

        fn open(
            &self,
            nonce: &[u8; NONCE_LEN],
            aad: &[u8],
            body: &mut [u8],
            tag: &[u8; TAG_LEN],
        ) -> Result<(), Error> {
            let (key, nonce) = self.for_nonce(nonce);
            key.open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(*tag), body, 0..)
                .map_err(|_| Error::Unauthentic)?;
            Ok(())
        }
    }
}
