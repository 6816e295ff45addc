//! The cipher by our own ChaCha20, with RustCrypto's HChaCha20 and Poly1305.

#[path = "chacha20.rs"]
mod ours;

use chacha20::R20;
use chacha20::hchacha;
use poly1305::Poly1305;
use poly1305::universal_hash::{KeyInit as _, UniversalHash as _};
use zeroize::Zeroizing;

use super::super::bytes::leading;
use super::{AeadTag, Error, Nonce};
use ours::ChaCha20;

/// Wiped when dropped.
pub(crate) struct Cipher(Zeroizing<[u8; 32]>);

impl Cipher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        Self(Zeroizing::new(*key))
    }

    /// Derives the subkey, as `by_ring` does.
    fn for_nonce(&self, nonce: &Nonce) -> ChaCha20 {
        let start = leading::<16>(nonce).into();
        let subkey = Zeroizing::new(hchacha::<R20>((&*self.0).into(), &start).0);
        ChaCha20::new(&subkey, &leading(&nonce[16..]))
    }

    pub(crate) fn seal(&self, nonce: &Nonce, aad: &[u8], body: &mut [u8]) -> AeadTag {
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
        tag: &AeadTag,
    ) -> Result<(), Error> {
        let stream = self.for_nonce(nonce);
        mac(&stream.mac_key(), aad, body)
            .verify(tag.into())
            .map_err(|_| Error::Unauthentic)?;
        stream.apply(body);
        Ok(())
    }
}

/// Computes the tag (RFC 8439, section 2.8).
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
