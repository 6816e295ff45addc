//! The ledger in a SQLite file, by the crate `rusqlite`.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, TransactionBehavior, params};

use super::{CONNECT, CREATE, DELETE, NORMAL, NOW, READ, SWEEP, WRITE};
use crate::ledger::Command;

/// The time to try to open the file while other processes open it too.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A ledger in a SQLite file: for the processes of one machine, and across restarts.
///
/// An answered command survives a loss of power. This does not hold for a file on a network, or a
/// restored backup. Each command waits for the disk, and up to 250 ms for another process.
///
/// ```
/// use sealwax::Principal;
/// use sealwax_mcp::ledger::{Namespace, Sqlite};
/// # let path = std::env::temp_dir().join(format!("sealwax-{}.db", std::process::id()));
///
/// let ledger = Sqlite::open(&path)?;
/// // Sign out everywhere:
/// let namespace = Namespace::new("https://mcp.example.com", "");
/// let now = std::time::UNIX_EPOCH.elapsed()?.as_secs();
/// let revoke = namespace.revoke(&Principal::subject("alice"), None, now)?;
/// assert_eq!(ledger.run(&revoke)?[0], "ok");
/// # drop(ledger);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sqlite {
    connection: Mutex<Connection>,
}

impl Sqlite {
    /// Opens the file, or creates it; on Unix, for its owner alone.
    ///
    /// # Errors
    ///
    /// [`SqliteError`] if the file cannot be opened and written, or is not a ledger.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        let path = path.as_ref();
        create(path);
        let connection = Connection::open(path)?;
        let until = Instant::now() + TIMEOUT;
        loop {
            // SQLite does not wait for a lock while a file changes to WAL.
            match connection.execute_batch(CONNECT) {
                Err(error) if is_busy(&error) && Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                connected => break connected?,
            }
        }
        connection.execute_batch(CREATE)?;
        Ok(Self {
            connection: Mutex::new(connection),
        })
    }

    /// As [`open`](Self::open), but an answered command survives only `kill -9`, not a loss of
    /// power. It takes a fraction of the time.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_normal(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        let mut ledger = Self::open(path)?;
        let connection = ledger.connection.get_mut();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection.execute_batch(NORMAL)?;
        Ok(ledger)
    }

    /// Runs a command, and returns the reply.
    ///
    /// # Errors
    ///
    /// [`SqliteError`] if nothing was done: the disk is full, the file is locked, or similar.
    pub fn run(&self, command: &Command) -> Result<Vec<String>, SqliteError> {
        let connection = self.connection.lock();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        // As `BEGIN` says; it rolls back if anything fails.
        let sql = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let now: i64 = sql.prepare_cached(NOW)?.query_row([], |row| row.get(0))?;
        let mut values: Vec<Option<String>> = Vec::new();
        for key in &command.keys {
            let read = (key, now);
            let value = sql.prepare_cached(READ)?.query_row(read, |row| row.get(0));
            values.push(value.optional()?);
        }
        let judged = command.judge(now.unsigned_abs(), &values);
        for write in &judged.writes {
            match &write.value {
                Some(value) => {
                    let until = write
                        .until
                        .map(|until| i64::try_from(until).unwrap_or(i64::MAX));
                    let kept = params![write.key, value, until];
                    sql.prepare_cached(WRITE)?.execute(kept)?
                }
                None => sql.prepare_cached(DELETE)?.execute([&write.key])?,
            };
        }
        if !judged.writes.is_empty() {
            sql.prepare_cached(SWEEP)?.execute([now])?;
        }
        sql.commit()?;
        Ok(judged.reply)
    }
}

/// The reason why SQLite did nothing.
#[derive(Debug)]
pub struct SqliteError(rusqlite::Error);

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error)
    }
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sqlite: {}", self.0)
    }
}

impl StdError for SqliteError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

/// The contents of the file are not logged.
impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sqlite")
    }
}

/// Creates the file, if it is missing, so that only its owner can read and write it. SQLite gives the
/// files beside it the same mode. It also reports why there can be no such file.
fn create(path: &Path) {
    // SQLite's own names for a database that is no file, or has options.
    let named = path.to_str().unwrap_or_default();
    if named.is_empty() || named == ":memory:" || named.starts_with("file:") {
        return;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let _ = options.open(path);
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Sqlite;

    #[cfg(unix)]
    #[test]
    fn the_files_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = std::env::temp_dir().join(format!("sealwax-modes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("ledger.db");
        let modes = || {
            let files = std::fs::read_dir(&folder).unwrap();
            let mode = |file: std::io::Result<std::fs::DirEntry>| {
                file.unwrap().metadata().unwrap().permissions().mode() & 0o777
            };
            files.map(mode).collect::<Vec<_>>()
        };
        let ledger = Sqlite::open(&path).unwrap();
        // With those of the journal.
        assert!(
            modes().len() > 1 && modes().iter().all(|&mode| mode == 0o600),
            "{:?}",
            modes()
        );
        drop(ledger);
        // What the operator chose stays.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660)).unwrap();
        drop(Sqlite::open(&path).unwrap());
        assert_eq!(modes(), [0o660]);
        std::fs::remove_dir_all(&folder).unwrap();
        let no_file = std::path::Path::new(":memory:");
        // Of a run that failed.
        let _ = std::fs::remove_file(no_file);
        drop(Sqlite::open(no_file).unwrap());
        assert!(!no_file.exists());
    }

    #[test]
    fn what_survives_no_loss_of_power_is_chosen() {
        let path = std::env::temp_dir().join(format!("sealwax-normal-{}.db", std::process::id()));
        let synchronous = |ledger: Sqlite| -> u8 {
            let connection = ledger.connection.into_inner().unwrap();
            let query = "PRAGMA synchronous";
            connection.query_row(query, (), |row| row.get(0)).unwrap()
        };
        assert_eq!(synchronous(Sqlite::open(&path).unwrap()), 2);
        assert_eq!(synchronous(Sqlite::open_normal(&path).unwrap()), 1);
        std::fs::remove_file(&path).unwrap();
    }
}
