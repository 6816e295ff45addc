//! The guard's side of its ledger: asked in time, and never taken for a yes.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use sealwax::mcp::Failed;
use tokio::time::{Instant, timeout_at};

use crate::ledger::{Command, Ledger};

/// Has a ledger do what the engine asks.
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

    /// Does a command, and gives the reply as an event has it.
    pub(crate) async fn record(
        &self,
        command: &Command,
        deadline: Instant,
    ) -> Result<Vec<String>, Failed> {
        let at = deadline.min(Instant::now() + self.timeout);
        // It may panic before there is a future.
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
