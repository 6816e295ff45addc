//! The guard's access to its ledger, with a time limit. No answer never counts as a yes.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use sealwax::mcp::Failed;
use tokio::time::{Instant, timeout_at};

use crate::ledger::{Command, Ledger};

/// Runs the engine's commands on a ledger.
pub(crate) struct LedgerClient {
    ledger: Box<dyn Ledger>,
    timeout: Duration,
}

impl LedgerClient {
    /// One command may take three tenths of the time limit, so that the engine can try it once more.
    pub(crate) fn new(ledger: Box<dyn Ledger>, limit: Duration) -> Self {
        Self {
            ledger,
            timeout: limit * 3 / 10,
        }
    }

    /// Runs a command, and returns the reply for the engine.
    pub(crate) async fn record(
        &self,
        command: &Command,
        deadline: Instant,
    ) -> Result<Vec<String>, Failed> {
        let at = deadline.min(Instant::now() + self.timeout);
        // The ledger's code may panic before it returns a future.
        let asked = AssertUnwindSafe(async { self.ledger.run(command).await }).catch_unwind();
        let why = match timeout_at(at, asked).await {
            Ok(Ok(Ok(reply))) => return Ok(reply),
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(_)) => "panicked".into(),
            Err(_) => format!("no answer in {:?}", self.timeout),
        };
        Err(Failed(format!("ledger: {why}")))
    }
}
