//! XChaCha20-Poly1305, in one of three ways that give the same bytes.
//!
//! RustCrypto's is the default: pure Rust, for every target. With the feature `ring`, its assembly
//! does the work behind RustCrypto's HChaCha20, in less than half the time (benches/). In WebAssembly
//! with vector instructions, `chacha20` does. All encrypt or decrypt a body where it lies, and check
//! the tag before a byte is decrypted. A body has 1 MiB and some at most; the limit of the cipher is
//! 256 GiB.

#[cfg(feature = "ring")]
mod by_ring;
#[cfg(not(any(
    feature = "ring",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
mod by_rustcrypto;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(feature = "ring")
))]
mod by_simd128;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(feature = "ring")
))]
mod chacha20;

#[cfg(feature = "ring")]
pub(crate) use by_ring::Cipher;
#[cfg(not(any(
    feature = "ring",
    all(target_arch = "wasm32", target_feature = "simd128")
)))]
pub(crate) use by_rustcrypto::Cipher;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(feature = "ring")
))]
pub(crate) use by_simd128::Cipher;

use super::error::Error;

pub(crate) const NONCE_LEN: usize = 24;
pub(crate) const TAG_LEN: usize = 16;

type Nonce = [u8; NONCE_LEN];
type Tag = [u8; TAG_LEN];
