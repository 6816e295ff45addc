#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod caller;
#[cfg(feature = "redis")]
mod cause;
mod event;
mod guard;
mod handler;
pub mod ledger;
mod log;
#[cfg(feature = "otel")]
mod otel;
mod principal;
mod question;
mod refusal;
mod sessions;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;
mod value;

pub use event::TokenEvent;
pub use guard::{Guard, GuardBuilder};
pub use handler::links::{LinkRefused, Links, OpenedLink};
pub use handler::pages::Pages;
pub use handler::protected::Protected;
pub use handler::reference_handles::{ReferenceHandle, ReferenceHandles};
pub use handler::refused::HandleRefused;
pub use handler::self_contained_handles::{
    SealedHandle, SelfContainedHandle, SelfContainedHandles,
};
pub use handler::session::Session;
pub use handler::state::State;
pub use principal::{IntoPrincipal, VerifiedClaims, anonymous, from_claims};
pub use refusal::Refusal;
/// The kinds of tokens that a guard seals and opens. Their names are the same in every language.
pub use sealwax_mcp::Item as Kind;
pub use sealwax_mcp::{Happened, Level};
pub use sessions::Sessions;
pub use transport::layer::{SessionLayer, SessionService};
pub use transport::negotiated::Negotiated;
pub use transport::streams::Streams;

/// A request, as handlers receive it.
type Context = rmcp::service::RequestContext<rmcp::RoleServer>;
