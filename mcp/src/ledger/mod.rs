//! The ledger: it remembers what a seal cannot hold. These are the used tokens, the ended sessions,
//! the latest state of each session, and the principals that were signed out.
//!
//! A [`Command`] is one atomic step at a store. Redis and Valkey run it as a Lua script
//! ([`Script::lua`]). A store with transactions uses [`Command::evaluate`]: in one transaction, it
//! reads the values of the command's keys, and writes what the evaluation says. [`Memory`] does so
//! in the memory of one process, `Sqlite` in a file (feature `sqlite`). LEDGER.md has keys, values
//! and scripts.

mod command;

mod evaluate;
mod memory;
mod namespace;
mod preflight;
pub mod redis;
mod reply;
pub mod sqlite;

pub(crate) use command::{Check, Subject};
pub use command::{Command, Script};
pub use evaluate::{Evaluation, Write};
pub use memory::Memory;
pub use namespace::{Namespace, RecordKind};
pub use preflight::Preflight;
pub use reply::{Confirmation, Done, Failure, Latest, Opened, Refusal, Reply};
#[cfg(feature = "sqlite")]
pub use sqlite::{Sqlite, SqliteError};

use std::time::Duration;

/// The longest life of anything that a ledger is asked about, from its beginning: 400 days. What
/// ended is remembered for so long, whatever lifetimes are configured then or later.
pub const CEILING: Duration = Duration::from_secs(400 * 24 * 60 * 60);

/// The largest clock tolerance that the format allows, in seconds. Ends and uses are remembered for so
/// much longer.
pub(crate) const LARGEST_CLOCK_TOLERANCE: u64 = 300;
