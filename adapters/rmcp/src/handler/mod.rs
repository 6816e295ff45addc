//! The guard around a server's handlers, and what these use.

pub(crate) mod exchange;
pub(crate) mod handles;
pub(crate) mod links;
pub(crate) mod pages;
pub(crate) mod params;
pub(crate) mod questions;
pub(crate) mod reference_handles;
pub(crate) mod results;
pub(crate) mod sdk;
pub(crate) mod self_contained_handles;
pub(crate) mod session;
pub(crate) mod sessions;
pub(crate) mod state;

/// The session's member of `_meta`.
pub(crate) const SESSION: &str = "io.modelcontextprotocol/session";
