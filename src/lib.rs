#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

mod format;

mod codec;
mod context;
mod current_keys;
mod environment;
mod error;
mod handle;
#[cfg(feature = "hazmat")]
#[doc(hidden)]
pub mod hazmat;
mod idempotency_key;
mod inspect;
mod key_ring;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod key_source;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod keys_file;
pub mod kind;
mod principal;
pub mod report;
mod sealer;
mod session_id;
mod sessions;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod system;
#[cfg(all(
    feature = "testing",
    not(all(target_arch = "wasm32", target_os = "unknown"))
))]
pub mod testing;
mod token;
mod variables;
mod view;

pub use codec::{Codec, CodecBuilder};
pub use context::{RequestContext, canonical_json};
pub use environment::{Environment, mix_time};
pub use error::Error;
#[cfg(sealwax_host_cipher)]
#[doc(hidden)]
pub use format::cipher::{HostCipher, set_host_cipher};
pub use format::key::Key;
pub use format::key_id::KeyId;
pub use handle::Handle;
pub use inspect::{Inspected, inspect};
pub use key_ring::KeyRing;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use keys_file::KeysFile;
pub use kind::{Kind, Purpose};
pub use principal::{JwtClaims, Principal, PrincipalParts};
pub use sealer::{Sealer, Ttl, check_ttl};
pub use session_id::SessionId;
pub use sessions::{OpenedSession, SessionMetadata, Sessions};
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use system::System;
pub use token::{Opened, Token, TokenId};
#[doc(hidden)]
pub use variables::Variables;
pub use view::View;
