#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accept;
mod acting;
mod caller;
mod guard;
mod handles;
mod held_handles;
mod http_transport;
mod incoming;
mod layer;
pub mod ledger;
mod ledger_client;
mod message;
mod negotiated;
mod open_requests;
mod outgoing;
mod params;
mod principal;
mod protected;
mod refusal;
mod refused;
mod relay;
mod results;
mod rewrite;
mod serve;
mod session;
mod sessions;
mod state;
mod streams;
mod transport;

pub use accept::{Accept, BoxError, Presented};
pub use caller::Received;
pub use guard::{Guard, GuardBuilder};
pub use handles::{Handle, Handles};
pub use held_handles::{Held, HeldHandles, SealedHandle};
pub use layer::{SessionLayer, SessionService};
pub use negotiated::{ClientInfo, Negotiated};
pub use principal::{IntoPrincipal, VerifiedClaims, anonymous, from_claims};
pub use protected::Protected;
pub use refusal::Refusal;
pub use refused::Refused;
pub use results::HandlerResult;
/// The kinds of tokens that a guard seals and opens. Their names are the same in every language.
pub use sealwax::mcp::Item as Kind;
pub use session::Session;
pub use sessions::{Sessions, SessionsBuilder};
pub use state::State;
pub use streams::Streams;
