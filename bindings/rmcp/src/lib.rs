#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accept;
mod boundary;
mod caller;
mod guard;
mod handles;
mod held_handles;
mod kind;
mod layer;
mod metadata;
mod negotiated;
mod principal;
mod protected;
mod refusal;
mod refused;
mod rewrite;
mod session;
mod session_boundary;
mod sessions;
mod single_use;
mod state;
mod streams;
mod wire;

pub use accept::{Accept, BoxError, Presented};
pub use guard::{Guard, GuardBuilder};
pub use handles::{Handle, Handles};
pub use held_handles::{Held, HeldHandles, SealedHandle};
pub use kind::Kind;
pub use layer::{SessionLayer, SessionService};
pub use negotiated::{ClientInfo, Negotiated};
pub use principal::{IntoPrincipal, VerifiedClaims, anonymous, from_claims};
pub use protected::Protected;
pub use refusal::Refusal;
pub use refused::Refused;
pub use session::Session;
pub use sessions::{Sessions, SessionsBuilder};
pub use single_use::SingleUse;
pub use state::State;
pub use streams::Streams;
