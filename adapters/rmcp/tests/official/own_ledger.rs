//! A ledger of an author's own, beside a memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax_rmcp::ledger::{Command, Ledger, Memory, Reply, Script};

/// The time limit of a guard with a slow ledger.
pub const LIMIT: Duration = Duration::from_secs(4);

/// How it answers to `admit`.
#[derive(Clone, Copy, PartialEq)]
pub enum How {
    Panics,
    /// At the second attempt: that takes more than half of [`LIMIT`], and not enough for two.
    Slowly,
}

#[derive(Clone)]
pub struct Own {
    memory: Arc<Memory>,
    how: How,
    pub ran: Arc<Mutex<Vec<Script>>>,
}

impl Own {
    pub fn new(how: How) -> Self {
        let (memory, ran) = Default::default();
        Self { memory, how, ran }
    }

    /// Returns how often it was asked to admit.
    pub fn admits(&self) -> usize {
        let ran = self.ran.lock().unwrap();
        ran.iter().filter(|it| **it == Script::Admit).count()
    }
}

impl Ledger for Own {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.ran.lock().unwrap().push(command.script);
        let is_first = self.admits() % 2 == 1;
        async move {
            if command.script == Script::Admit {
                match self.how {
                    How::Panics => panic!("it hails"),
                    How::Slowly if is_first => tokio::time::sleep(LIMIT).await,
                    How::Slowly => tokio::time::sleep(LIMIT / 4).await,
                }
            }
            self.memory.run(command).await
        }
        .boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}
