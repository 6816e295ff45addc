#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![no_std]
#![cfg_attr(not(any(feature = "std", feature = "hazmat")), allow(dead_code))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod base64url;
mod bytes;
mod carried;
mod cipher;
mod clock;
mod codec;
mod context;
mod environment;
mod error;
mod handle;
#[cfg(feature = "hazmat")]
#[doc(hidden)]
pub mod hazmat;
mod inspect;
#[cfg(feature = "jcs")]
mod json;
mod key;
mod pae;
mod principal;
mod profile;
mod purpose;
mod ring;
mod sealed;
mod sealer;
mod session;
mod session_id;
mod text;
mod token;
mod ulid;

pub use carried::Carried;
pub use codec::{Codec, CodecBuilder, View};
pub use context::RequestContext;
pub use error::Error;
pub use handle::Handle;
pub use inspect::{Inspected, inspect};
pub use key::{Key, KeyId};
pub use principal::{Claims, Principal};
pub use profile::{Answer, ErrorData, Profile, RpcError, TextContent, ToolResult};
pub use purpose::{Kind, Purpose};
pub use ring::KeyRing;
pub use sealer::{Sealer, check_ttl};
pub use session::{Session, SessionMetadata, Sessions};
pub use session_id::SessionId;
pub use token::{Opened, Token, TokenId, Untrusted, kind};
