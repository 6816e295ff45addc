//! What the engine asks the author's check and the ledger. No answer in time never counts as a yes.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt as _;
use sealwax::Principal;
use sealwax_mcp::{Failed, Question, Verdict};
use tokio::time::timeout;

use crate::accept::{self, Accept};
use crate::cause;
use crate::ledger::{Command, Ledger};

/// Whom the engine asks.
#[derive(Default)]
pub(crate) struct Asked {
    pub accept: Option<Box<dyn Accept>>,
    pub ledger: Option<Box<dyn Ledger>>,
}

impl Asked {
    /// Asks the author's check about what `principal` presents.
    pub(crate) async fn accept(
        &self,
        question: Question,
        principal: Option<&Principal>,
        within: Duration,
    ) -> Verdict {
        let (Some(accept), Some(principal)) = (&self.accept, principal) else {
            // The engine asks only if there is an `Accept`, and after the principal is known.
            return Verdict::Unavailable(Failed("accept: none".into()));
        };
        let answer = async {
            let answer = accept::ask(&**accept, question, principal).await;
            answer.map_err(|error| match cause::code(&*error) {
                Some(code) => format!("it failed: {code}"),
                None => "it failed".into(),
            })
        };
        let answer = in_time("accept", within, answer).await;
        answer.unwrap_or_else(Verdict::Unavailable)
    }

    /// Runs a command on the ledger.
    pub(crate) async fn record(&self, command: &Command) -> Result<Vec<String>, Failed> {
        let Some(ledger) = &self.ledger else {
            // The engine sends commands only to a guard with a ledger.
            return Err(Failed("ledger: none".into()));
        };
        // The ledger's code may panic before it returns a future.
        let reply = async { ledger.run(command).await };
        in_time("ledger", command.within, reply).await
    }
}

/// Waits for an answer.
async fn in_time<T, E: ToString>(
    name: &str,
    within: Duration,
    answer: impl Future<Output = Result<T, E>>,
) -> Result<T, Failed> {
    let why = match timeout(within, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(Ok(answer))) => return Ok(answer),
        Ok(Ok(Err(error))) => error.to_string(),
        Ok(Err(_)) => "panicked".into(),
        Err(_) => format!("no answer in {within:?}"),
    };
    Err(Failed(format!("{name}: {why}")))
}
