//! The guard on real servers and real clients of rmcp, over HTTP and stdio.

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod accept;
mod bad_stores;
mod canary;
mod cancelled;
mod clients;
mod counter;
mod cursor;
mod example;
mod guard;
mod handle;
mod held_handle;
mod layer;
mod ledger;
mod request_state;
mod server;
mod session;
mod streams;
mod tally;
mod valkey;
