//! XChaCha20-Poly1305, by one of four implementations that give the same bytes.
//!
//! RustCrypto's is the default: pure Rust, for every target. With the feature `ring`, its assembly
//! runs after RustCrypto's HChaCha20, in less than half the time (benches/). In WebAssembly with
//! vector instructions, `chacha20` does. With `--cfg sealwax_host_cipher`, the host of a WebAssembly
//! module does (bindings/c/portable.md). All encrypt and decrypt in place. If the tag is wrong, no
//! plaintext is left: `ring` decrypts at once with checking, and then clears the body; the others
//! check first, and leave it. A body has little more than 1 MiB at most; the cipher's limit is 256 GiB.

#[cfg(sealwax_host_cipher)]
#[path = "by_host.rs"]
mod chosen;
#[cfg(all(feature = "ring", not(sealwax_host_cipher)))]
#[path = "by_ring.rs"]
mod chosen;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(any(feature = "ring", sealwax_host_cipher))
))]
#[path = "by_simd128.rs"]
mod chosen;
#[cfg(not(any(
    feature = "ring",
    all(target_arch = "wasm32", target_feature = "simd128"),
    sealwax_host_cipher
)))]
#[path = "by_rustcrypto.rs"]
mod chosen;
#[cfg(test)]
mod wycheproof;

pub(crate) use chosen::Cipher;
#[cfg(sealwax_host_cipher)]
pub use chosen::{HostCipher, set_host_cipher};

use super::error::Error;

pub(crate) const NONCE_LEN: usize = 24;
pub(crate) const TAG_LEN: usize = 16;

type Nonce = [u8; NONCE_LEN];
type AeadTag = [u8; TAG_LEN];
