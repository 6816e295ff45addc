//! Tests that need more than the published crate: the transcripts and examples of the repository, rmcp's sources, and
//! the `valkey-server` that `VALKEY_SERVER` names (`make test-rust` sets it).

#![expect(clippy::expect_used, clippy::unwrap_used, reason = "a test may panic")]

mod bad_stores;
mod canary;
#[path = "../common/clients.rs"]
mod clients;
mod counter;
mod example;
mod far_store;
mod ledger;
#[path = "../../../../mcp/tests/guard/matching.rs"]
mod matching;
mod messages;
mod otel;
mod over_http;
mod over_streams;
mod readme;
mod script;
mod scripted_ledger;
mod scripted_server;
#[path = "../common/serving.rs"]
mod serving;
mod stdio_process;
mod tally;
mod transcripts;
mod valkey;
mod valkey_ledger;
#[path = "../../../../mcp/tests/guard/world.rs"]
#[expect(dead_code, reason = "the engine's own guard is not asked here")]
mod world;
#[path = "../../../../mcp/tests/guard/world_ledger.rs"]
mod world_ledger;
