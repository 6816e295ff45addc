//! A ledger in the memory of one process.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use sealwax::{Environment as _, System};
use sealwax_mcp::ledger;

use super::{Command, Ledger, Reply};

/// A ledger in the memory of this process. Other replicas do not share it, and a restart loses it.
///
/// It never forgets a record that still matters: when it is full, it refuses new ones. One principal can fill at most
/// half of it.
///
/// ```
/// use sealwax_rmcp::ledger::Memory;
///
/// let ledger = Memory::default(); // 64 MiB: about 250,000 used tokens
/// let small = Memory::new(1 << 20);
/// ```
pub struct Memory {
    memory: Mutex<ledger::Memory>,
    /// Returns the Unix time in seconds.
    now: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Memory {
    pub(crate) const CAPACITY: usize = ledger::Memory::CAPACITY;

    /// Makes a ledger of about so many bytes.
    #[must_use]
    pub fn new(room: usize) -> Self {
        Self::on(room, || System.now_ms() / 1000)
    }

    /// As [`new`](Self::new), on another clock than the system's.
    pub(crate) fn on(room: usize, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self {
            memory: Mutex::new(ledger::Memory::new(room, now())),
            now: Box::new(now),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new(Self::CAPACITY)
    }
}

impl Ledger for Memory {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        ready(Ok(memory.run(command, (self.now)()))).boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}

/// Logs get the size, and no content.
impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.fmt(f)
    }
}
