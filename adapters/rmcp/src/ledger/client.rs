//! The guard's access to its ledger, with a time limit. No answer never counts as a yes.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use sealwax_mcp::Failed;

use crate::accept::TimeLimit;
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
        limit: &TimeLimit,
    ) -> Result<Vec<String>, Failed> {
        // The ledger's code may panic before it returns a future.
        let asked = AssertUnwindSafe(async { self.ledger.run(command).await }).catch_unwind();
        let why = match limit.wait(self.timeout, asked).await {
            Some(Ok(Ok(reply))) => return Ok(reply),
            Some(Ok(Err(error))) => error.to_string(),
            Some(Err(_)) => "panicked".into(),
            None => format!("no answer in {:?}", self.timeout),
        };
        Err(Failed(format!("ledger: {why}")))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::future::{BoxFuture, pending};
    use sealwax_mcp::ledger::Script;

    use super::LedgerClient;
    use crate::accept::TimeLimit;
    use crate::ledger::{Command, Ledger, Reply};

    struct Silent;

    impl Ledger for Silent {
        fn run<'a>(&'a self, _: &'a Command) -> BoxFuture<'a, Reply> {
            Box::pin(pending())
        }
    }

    #[tokio::test]
    async fn a_command_has_three_tenths_of_the_time_limit() {
        let client = LedgerClient::new(Box::new(Silent), Duration::from_millis(200));
        let command = Command::new(Script::Open, Vec::new(), Vec::new());
        let late = TimeLimit::new(Duration::from_secs(60));
        let failed = client.record(&command, &late).await.unwrap_err();
        assert_eq!(failed.0, "ledger: no answer in 60ms");
    }
}
