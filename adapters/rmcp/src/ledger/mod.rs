//! Ledgers: what remembers that a token was used, that a session ended, and which state is the latest.

mod memory;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::fmt;

use std::sync::Arc;

use futures::future::BoxFuture;
pub use sealwax::ledger::{Command, Script};

pub use self::memory::Memory;
#[cfg(feature = "redis")]
pub use self::redis::Redis;
#[cfg(feature = "sqlite")]
pub use self::sqlite::Sqlite;

/// A reply as LEDGER.md has it: a verdict, and what belongs to it.
pub type Reply = Result<Vec<String>, LedgerError>;

/// Remembers what a seal cannot say: that a token was used, that a session ended, which of two states is
/// the later one, that a user signed out everywhere.
///
/// [`Memory`] is for one process, `Sqlite` (feature `sqlite`) for one machine, `Redis` (feature `redis`) for a
/// fleet. LEDGER.md in the repository has what another store needs.
pub trait Ledger: Send + Sync + 'static {
    /// Does a command in one atomic step, and gives the reply as LEDGER.md says.
    ///
    /// Whatever fails refuses the request, as the server's own failure; the error's text goes to the log. A guard
    /// waits for three tenths of its `accept_timeout`, and tries once more.
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply>;

    /// Whether it is on this machine, as a file or in memory, so that there is one clock: false unless it says
    /// so.
    fn is_local(&self) -> bool {
        false
    }
}

/// One ledger of several guards.
impl<L: Ledger + ?Sized> Ledger for Arc<L> {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        (**self).run(command)
    }

    fn is_local(&self) -> bool {
        (**self).is_local()
    }
}

/// Why a ledger has no answer. The texts are for the log; they hold no address and no password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LedgerError {
    /// The store cannot be a ledger, for it would forget: what to change.
    Unfit(String),
    /// It does not answer, or it failed: whatever was asked, it is not known to have been done.
    Unavailable(String),
    /// What was asked makes no sense.
    InvalidArgument(String),
}

impl LedgerError {
    /// The code, the same in every language.
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
        match self {
            Self::Unfit(why) | Self::Unavailable(why) | Self::InvalidArgument(why) => {
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for LedgerError {}

impl From<sealwax::Error> for LedgerError {
    fn from(error: sealwax::Error) -> Self {
        Self::InvalidArgument(error.to_string())
    }
}
