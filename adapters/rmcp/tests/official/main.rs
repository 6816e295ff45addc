//! The guard on servers and clients of rmcp, over HTTP and streams: what the transcripts of tests/vectors/guard.json, which are
//! played on rmcp too, cannot show. The published crate contains these tests.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod cancelled;
#[path = "../common/clients.rs"]
mod clients;
mod confirm;
mod guard;
mod inner;
mod layer;
mod links;
mod own_ledger;
mod pipe;
mod principal;
mod request_state;
mod server;
#[path = "../common/serving.rs"]
mod serving;
mod session;
mod streams;
#[cfg(feature = "testing")]
mod testing;
