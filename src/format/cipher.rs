//! XChaCha20-Poly1305, in one of three ways that give the same bytes.
//!
//! RustCrypto's is the default: pure Rust, for every target. With the feature `ring`, its assembly
//! does the work behind RustCrypto's HChaCha20, in less than half the time (benches/). In WebAssembly
//! with vector instructions, `chacha20` does, between RustCrypto's HChaCha20 and Poly1305. All encrypt
//! or decrypt a body where it lies, and check the tag before a byte is decrypted. A body has 1 MiB
//! and some at most; the limit of the cipher is 256 GiB.

#[cfg(not(any(
    feature = "ring",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
pub(crate) use rustcrypto::Cipher;
#[cfg(feature = "ring")]
pub(crate) use with_ring::Cipher;
#[cfg(all(
    not(feature = "ring"),
    target_arch = "wasm32",
    target_feature = "simd128"
))]
pub(crate) use with_vectors::Cipher;

use super::error::Error;

pub(crate) const NONCE_LEN: usize = 24;
pub(crate) const TAG_LEN: usize = 16;

type Nonce = [u8; NONCE_LEN];
type Tag = [u8; TAG_LEN];

#[cfg(not(any(
    feature = "ring",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod rustcrypto {
    use chacha20poly1305::aead::AeadInOut as _;
    use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};

    use super::{Error, Nonce, Tag};

    /// Wiped when dropped.
    pub(crate) struct Cipher(XChaCha20Poly1305);

    impl Cipher {
        pub(crate) fn new(key: &[u8; 32]) -> Self {
            Self(XChaCha20Poly1305::new(key.into()))
        }

        #[expect(clippy::expect_used, reason = "no body reaches the cipher's limit")]
        pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> Tag {
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
            tag: &Tag,
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
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, UnboundKey};
    use zeroize::Zeroizing;

    use super::super::bytes::leading;
    use super::{Error, Nonce, Tag};

    /// Wiped when dropped. The subkey of each token is not: `ring` leaves it on the stack.
    pub(crate) struct Cipher(Zeroizing<[u8; 32]>);

    impl Cipher {
        pub(crate) fn new(key: &[u8; 32]) -> Self {
            Self(Zeroizing::new(*key))
        }

        /// XChaCha20 is ChaCha20 under a key made by HChaCha20 of the nonce's first 16 bytes
        /// (draft-irtf-cfrg-xchacha-03, section 2.3).
        #[expect(
            clippy::expect_used,
            reason = "HChaCha20 gives 32 bytes, which are a key"
        )]
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
        pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> Tag {
            let (key, nonce) = self.for_nonce(nonce);
            let sealed = key.seal_in_place_separate_tag(nonce, Aad::from(aad), body);
            leading(sealed.expect("the body is within the limit").as_ref())
        }

        pub(crate) fn open(
            &self,
            nonce: &Nonce,
            aad: &[u8],
            body: &mut [u8],
            tag: &Tag,
        ) -> Result<(), Error> {
            let (key, nonce) = self.for_nonce(nonce);
            key.open_in_place_separate_tag(nonce, Aad::from(aad), (*tag).into(), body, 0..)
                .map_err(|_| Error::Unauthentic)?;
            Ok(())
        }
    }
}

#[cfg(all(
    not(feature = "ring"),
    target_arch = "wasm32",
    target_feature = "simd128"
))]
mod with_vectors {
    use chacha20::R20;
    use chacha20::hchacha;
    use poly1305::Poly1305;
    use poly1305::universal_hash::{KeyInit as _, UniversalHash as _};
    use zeroize::Zeroizing;

    use super::super::bytes::leading;
    use super::super::chacha20::ChaCha20;
    use super::{Error, Nonce, Tag};

    /// Wiped when dropped.
    pub(crate) struct Cipher(Zeroizing<[u8; 32]>);

    impl Cipher {
        pub(crate) fn new(key: &[u8; 32]) -> Self {
            Self(Zeroizing::new(*key))
        }

        /// As `with_ring` does it.
        fn for_nonce(&self, nonce: &Nonce) -> ChaCha20 {
            let start = leading::<16>(nonce).into();
            let subkey = Zeroizing::new(hchacha::<R20>((&*self.0).into(), &start).0);
            ChaCha20::new(&subkey, &leading(&nonce[16..]))
        }

        pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> Tag {
            let stream = self.for_nonce(nonce);
            let mac_key = stream.mac_key();
            stream.apply(body);
            mac(&mac_key, aad, body).finalize().into()
        }

        pub(crate) fn open(
            &self,
            nonce: &Nonce,
            aad: &[u8],
            body: &mut [u8],
            tag: &Tag,
        ) -> Result<(), Error> {
            let stream = self.for_nonce(nonce);
            mac(&stream.mac_key(), aad, body)
                .verify(tag.into())
                .map_err(|_| Error::Unauthentic)?;
            stream.apply(body);
            Ok(())
        }
    }

    /// RFC 8439, section 2.8.
    fn mac(key: &[u8; 32], aad: &[u8], body: &[u8]) -> Poly1305 {
        let mut lengths = [0; 16];
        lengths[..8].copy_from_slice(&(aad.len() as u64).to_le_bytes());
        lengths[8..].copy_from_slice(&(body.len() as u64).to_le_bytes());
        let mut mac = Poly1305::new(key.into());
        mac.update_padded(aad);
        mac.update_padded(body);
        mac.update(&[lengths.into()]);
        mac
    }
}
