#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod caller;
mod engine;
mod foreign;
mod guard;
mod handler;
mod hooks;
pub mod ledger;
mod options;
#[cfg(feature = "otel")]
mod otel;
mod principal;
mod refusal;
#[cfg(feature = "testing")]
pub mod testing;
mod transport;
mod value;

pub use guard::Guard;
pub use handler::links::{Links, OpenedLink};
pub use handler::pages::Pages;
pub use handler::reference_handles::{ReferenceHandle, ReferenceHandles};
pub use handler::sdk::Protected;
pub use handler::self_contained_handles::{
    SealedHandle, SelfContainedHandle, SelfContainedHandles,
};
pub use handler::session::Session;
pub use handler::sessions::Sessions;
pub use handler::state::State;
pub use hooks::{Refusal, TokenEvent};
pub use options::GuardBuilder;
pub use principal::{IntoPrincipal, VerifiedClaims, anonymous, from_claims};
pub use refusal::{HandleRefused, LinkRefused};
/// The kinds of tokens that a guard seals and opens. Their names are the same in every language.
pub use sealwax_mcp::Item as Kind;
pub use sealwax_mcp::{Happened, Level};
pub use transport::layer::{SessionLayer, SessionService};
pub use transport::negotiated::Negotiated;
pub use transport::streams::Streams;

/// A request, as handlers receive it.
type Context = rmcp::service::RequestContext<rmcp::RoleServer>;
