//! Tests that need more than the published crate: the examples of the repository, rmcp's sources, and
//! the `valkey-server` that `VALKEY_SERVER` names (`make test-rust` sets it).

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

#[path = "../common/clients.rs"]
mod clients;
mod contract;
mod counter;
mod example;
mod ledger;
mod otel;
mod programs;
mod readme;
#[path = "../common/serving.rs"]
mod serving;
mod stores;
mod valkey;
mod wire;
