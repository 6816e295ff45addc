//! The ledger: what a seal cannot say. That a token was used already, that a session ended, which of two
//! states of a session is the later one, that a user signed out everywhere.
//!
//! A [`Command`] is one atomic step at a store. Redis and Valkey take it as a Lua script
//! ([`Script::lua`]). A store with transactions takes it as [`Command::judge`]: in one transaction, read
//! the values of the command's keys, and write what the judgement says. [`Memory`] does so in the memory of
//! one process, `Sqlite` in a file (feature `sqlite`). LEDGER.md has keys, values and scripts.

mod command;
mod fitness;
mod judge;
mod memory;
mod namespace;
pub mod sqlite;

pub use command::{Command, Script};
#[cfg(feature = "jcs")]
pub(crate) use command::{Commit, Mode, Subject};
pub use fitness::Fitness;
pub use judge::{Judgement, Write};
pub use memory::Memory;
pub use namespace::{Namespace, Tag};
#[cfg(feature = "sqlite")]
pub use sqlite::{Sqlite, SqliteError};

use crate::Error;

/// No replica's clock is further ahead than the largest skew that the format allows, in seconds. What ended or was
/// used is remembered for so much longer.
pub(crate) const LARGEST_SKEW: u64 = 300;

/// A text that a store needs, by the name that every language has for it: the scripts' names, and those of
/// [`sqlite`] as `sqlite-connect`.
///
/// # Errors
///
/// [`Error::InvalidArgument`] for another name.
pub fn text(name: &str) -> Result<&'static str, Error> {
    let script = Script::ALL.into_iter().find(|script| script.name() == name);
    Ok(match (name, script) {
        (_, Some(script)) => script.lua(),
        ("sqlite-connect", _) => sqlite::CONNECT,
        ("sqlite-normal", _) => sqlite::NORMAL,
        ("sqlite-create", _) => sqlite::CREATE,
        ("sqlite-begin", _) => sqlite::BEGIN,
        ("sqlite-now", _) => sqlite::NOW,
        ("sqlite-read", _) => sqlite::READ,
        ("sqlite-write", _) => sqlite::WRITE,
        ("sqlite-delete", _) => sqlite::DELETE,
        ("sqlite-sweep", _) => sqlite::SWEEP,
        _ => {
            return Err(Error::argument(
                "ledger: expected the name of a script, or of a statement of SQLite",
            ));
        }
    })
}
