//! Code of others that the guard calls: how its failures are worded for the engine.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use rmcp::ErrorData;
use sealwax_mcp::Failed;

/// Waits for code of others, in which a panic is a failure.
pub(crate) async fn caught<T>(foreign: impl Future<Output = T>) -> Result<T, Failed> {
    let caught = AssertUnwindSafe(foreign).catch_unwind().await;
    caught.map_err(panicked)
}

/// Words a panic, whose text may hold anything.
pub(crate) fn panicked<P>(_: P) -> Failed {
    Failed::Threw("a panic".into())
}

/// Words an error whose text is for the log.
pub(crate) fn wrong(error: impl ToString) -> Failed {
    Failed::Wrong(error.to_string())
}

/// Words an error of a handler's, whose message may hold anything.
pub(crate) fn threw(error: ErrorData) -> Failed {
    Failed::Threw(format!("an error {}", error.code.0))
}
