//! An exhaustive model of the ledger: replicas of a service, their clients, the network and a store that fails. The
//! promises of LEDGER.md hold in every state that can be reached within a scenario's bounds.
//!
//! The store's verdicts are those of the core ([`Command::evaluate`](sealwax_mcp::ledger::Command::evaluate)); only the fence
//! of Redis is written again here, and compared with the scripts by `tests/vectors/ledger.json`.

mod ask;
mod explore;
mod fault;
mod guard;
mod model;
mod observer;
mod past;
mod scenario;
pub mod scenarios;
mod step;
mod store;
mod world;

pub use explore::Explored;
pub use fault::Fault;
pub use past::{Past, Promise};
pub use scenario::{Bounds, Scenario, Settings};
pub use store::{Process, Store};
pub use world::{Action, Answer, Kind, World};
