//! Ledgers: records of used tokens, of ends, and of the latest state of each session.

#[cfg(feature = "redis")]
mod cause;
mod memory;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod redis_connections;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
pub use sealwax_mcp::LedgerSettings;
pub use sealwax_mcp::ledger::{Command, Script};

pub use self::memory::Memory;
#[cfg(feature = "redis")]
pub use self::redis::Redis;
#[cfg(feature = "sqlite")]
pub use self::sqlite::Sqlite;

/// A reply as LEDGER.md defines it: a verdict, and what belongs to it.
pub type Reply = Result<Vec<String>, LedgerError>;

/// Records what a sealed token cannot prove: that it was used, that a session ended, which of two states is the
/// latest, that a user signed out everywhere.
///
/// [`Memory`] is for one process, `Sqlite` (feature `sqlite`) for one machine, `Redis` (feature `redis`) for a
/// fleet. LEDGER.md in the repository specifies the commands, for other stores.
pub trait Ledger: Send + Sync + 'static {
    /// Runs a command as one atomic step, and returns the reply as LEDGER.md defines it.
    ///
    /// On an error the request is refused with an internal error, and the error's text is logged. A guard waits for
    /// three tenths of its `time_limit`, and tries once more.
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply>;

    /// Returns whether the ledger is on this machine, as a file or in memory, so that all replicas share one
    /// clock: false by default.
    fn is_local(&self) -> bool {
        false
    }
}

/// Shares one ledger among several guards.
impl<L: Ledger + ?Sized> Ledger for Arc<L> {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        (**self).run(command)
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }
}

/// The reason why a ledger gave no answer. The texts are for the log; they contain no address and no password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// The store cannot be a ledger, because it would forget. The text says what to change.
    Unfit(String),
    /// The store does not answer, or it failed. The command may or may not have been done.
    Unavailable(String),
    /// The command makes no sense.
    InvalidArgument(String),
}

impl LedgerError {
    /// Returns the error's code, which is the same in every language.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unfit(_) => "ledger_unfit",
            Self::Unavailable(_) => "ledger_unavailable",
            Self::InvalidArgument(_) => "invalid_argument",
        }
    }
}

impl fmt::Display for LedgerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Unfit(why) | Self::Unavailable(why) | Self::InvalidArgument(why)) = self;
        f.write_str(why)
    }
}

impl std::error::Error for LedgerError {}

impl From<sealwax::Error> for LedgerError {
    fn from(error: sealwax::Error) -> Self {
        Self::InvalidArgument(error.to_string())
    }
}
