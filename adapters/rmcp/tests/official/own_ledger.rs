//! A ledger of an author's own, beside a memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax_rmcp::ledger::{Command, Ledger, LedgerError, Memory, Reply, Script};

/// The time limit of a guard with a slow ledger.
pub const LIMIT: Duration = Duration::from_secs(4);

/// How it answers to `admit`.
#[derive(Clone, Copy)]
pub enum How {
    Panics,
    Fails,
    Oddly,
    /// At the second attempt: that takes more than half of [`LIMIT`], and not enough for two.
    Slowly,
}

#[derive(Clone)]
pub struct Own(std::sync::Arc<(Memory, AtomicUsize)>, How);

impl Own {
    pub fn new(how: How) -> Self {
        Self(std::sync::Arc::default(), how)
    }
}

impl Ledger for Own {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        let (memory, admits) = &*self.0;
        async move {
            if command.script == Script::Admit {
                let is_first = admits.fetch_add(1, Ordering::SeqCst) % 2 == 0;
                match self.1 {
                    How::Panics => panic!("it hails"),
                    How::Fails => return Err(LedgerError::Unavailable("it rains".into())),
                    How::Oddly => return Ok(["used", "17"].map(Into::into).into()),
                    How::Slowly if is_first => tokio::time::sleep(LIMIT).await,
                    How::Slowly => tokio::time::sleep(LIMIT / 4).await,
                }
            }
            memory.run(command).await
        }
        .boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}
