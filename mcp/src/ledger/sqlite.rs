//! The ledger in a SQLite file: for the processes of one machine.
//!
//! Each command is one transaction: the time, the value of each key, the command's [evaluation](super::Command::evaluate), its
//! writes, and a few expired records less if there was one. [`StoreMachine`] has that order, for every client of SQLite.

#[cfg(feature = "sqlite")]
mod engine;
mod machine;

#[cfg(feature = "sqlite")]
pub use engine::{Sqlite, SqliteError};
pub use machine::{Answer, Next, Statement, StoreMachine};

/// Run once for each connection, line by line: readers do not wait, an answered command survives a
/// loss of power, and a lock of another process is waited for.
const CONNECT: &str = "\
PRAGMA busy_timeout = 250;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;";

/// Run after [`CONNECT`], if the author chose it: an answered command survives `kill -9`, but not a
/// loss of power.
const NORMAL: &str = "PRAGMA synchronous = NORMAL";

/// Makes the table.
const CREATE: &str = "\
CREATE TABLE IF NOT EXISTS sealwax_ledger (key TEXT PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sealwax_ledger_until ON sealwax_ledger (until) WHERE until IS NOT NULL;";

/// A transaction that may write.
const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

/// Reads the clock, in Unix seconds.
pub const NOW: &str = "SELECT strftime('%s', 'now')";

/// Reads the value of a key at a time.
pub const READ: &str =
    "SELECT value FROM sealwax_ledger WHERE key = ? AND (until IS NULL OR until > ?)";

/// Writes a value under a key until a time, or for ever.
const WRITE: &str = "INSERT INTO sealwax_ledger VALUES (?, ?, ?) \
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until";

/// Deletes a key.
const DELETE: &str = "DELETE FROM sealwax_ledger WHERE key = ?";

/// Deletes a few expired records at a time.
const SWEEP: &str = "DELETE FROM sealwax_ledger WHERE key IN \
     (SELECT key FROM sealwax_ledger WHERE until <= ? ORDER BY until LIMIT 16)";
