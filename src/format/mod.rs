//! Version 1 of the token format, to the byte: SPEC.md in code, and nothing else.
//!
//! Its inputs are keys, tags, audience, purpose, nonce and time. It knows no codec, no system clock
//! or randomness, and no MCP. Read it side by side with SPEC.md:
//!
//! | SPEC.md | here |
//! |---|---|
//! | Building blocks | `pae`, `cipher`, `base32`, `base64url`, `text` |
//! | Keys | `key` |
//! | Principal tag | `principal_keys` |
//! | Sealed token | `purpose`, `sealed` |
//! | Session id, Handle | `ulid`, `session_id`, `handle` |
//! | Request context | `context`, `canonical` |
//! | Opening, time | `clock`, `error` |

pub(crate) mod base32;
pub(crate) mod base64url;
pub(crate) mod bytes;
pub(crate) mod canonical;
pub(crate) mod cipher;
pub(crate) mod clock;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod handle;
pub(crate) mod key;
pub(crate) mod key_id;
pub(crate) mod pae;
pub(crate) mod principal_keys;
pub(crate) mod purpose;
pub(crate) mod sealed;
pub(crate) mod session_id;
pub(crate) mod text;
pub(crate) mod ulid;
pub(crate) mod wipe;
