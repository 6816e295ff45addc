//! Ledgers: what remembers that a token was used, that a session ended, and which state is the latest.

mod memory;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;

use futures::future::BoxFuture;
pub use sealwax::ledger::{Command, Script};

pub use self::memory::Memory;
#[cfg(feature = "redis")]
pub use self::redis::Redis;
#[cfg(feature = "sqlite")]
pub use self::sqlite::Sqlite;
use crate::BoxError;

/// Remembers what a seal cannot say: that a token was used, that a session ended, which of two states is
/// the later one, that a user signed out everywhere.
///
/// [`Memory`] is for one process, `Sqlite` (feature `sqlite`) for one machine, `Redis` (feature `redis`) for a
/// fleet. LEDGER.md in the repository has what another store needs.
pub trait Ledger: Send + Sync + 'static {
    /// Does a command in one atomic step, and gives the reply as LEDGER.md says.
    ///
    /// Whatever fails refuses the request, as the server's own failure; the error's text goes to the log, 64
    /// characters of it. A guard waits for 300 ms, and tries once more.
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Result<Vec<String>, BoxError>>;
}

/// The store cannot be a ledger, for it would forget: the text says what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerUnfit(String);

impl LedgerUnfit {
    /// Why it is unfit, for the log.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for LedgerUnfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LedgerUnfit {}
