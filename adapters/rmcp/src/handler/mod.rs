//! The guard around a server's handlers, and what these use.

pub(crate) mod confirm;
pub(crate) mod links;
pub(crate) mod operation;
pub(crate) mod pages;
pub(crate) mod params;
pub(crate) mod protected;
pub(crate) mod reference_handles;
pub(crate) mod refused;
pub(crate) mod results;
pub(crate) mod self_contained_handles;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod state;

/// The session's member of `_meta`.
pub(crate) const SESSION: &str = "io.modelcontextprotocol/session";
