//! The ledger in a SQLite file: for the processes of one machine.
//!
//! Each command is one transaction: [`BEGIN`], [`NOW`], [`READ`] for each key, the command's
//! [judgement](super::Command::judge), [`WRITE`] or [`DELETE`] for each write, [`SWEEP`] if there was one, `COMMIT`.

#[cfg(feature = "sqlite")]
mod engine;

#[cfg(feature = "sqlite")]
pub use engine::{Sqlite, SqliteError};

/// Once for each connection, each line by itself: readers do not wait, what was answered survives a loss of
/// power, and a lock held elsewhere is waited for.
pub const CONNECT: &str = "\
PRAGMA busy_timeout = 250;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;";

/// After it, where an author chose so: what was answered survives `kill -9`, and no loss of power.
pub const NORMAL: &str = "PRAGMA synchronous = NORMAL";

/// Makes the table.
pub const CREATE: &str = "\
CREATE TABLE IF NOT EXISTS sealwax_ledger (key TEXT PRIMARY KEY, value TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS sealwax_ledger_until ON sealwax_ledger (until) WHERE until IS NOT NULL;";

/// Begins a transaction that may write.
pub const BEGIN: &str = "BEGIN IMMEDIATE";

/// The clock, in Unix seconds.
pub const NOW: &str = "SELECT CAST(strftime('%s', 'now') AS INTEGER)";

/// The value of a key at a time.
pub const READ: &str =
    "SELECT value FROM sealwax_ledger WHERE key = ? AND (until IS NULL OR until > ?)";

/// Keeps a value under a key until a time, or for ever.
pub const WRITE: &str = "INSERT INTO sealwax_ledger VALUES (?, ?, ?) \
     ON CONFLICT (key) DO UPDATE SET value = excluded.value, until = excluded.until";

/// Forgets a key.
pub const DELETE: &str = "DELETE FROM sealwax_ledger WHERE key = ?";

/// Clears away a few that are gone at a time.
pub const SWEEP: &str = "DELETE FROM sealwax_ledger WHERE key IN \
     (SELECT key FROM sealwax_ledger WHERE until <= ? ORDER BY until LIMIT 16)";
