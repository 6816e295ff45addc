//! The ledger in a SQLite file, by the crate `rusqlite`.

use std::error::Error as StdError;
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::{Answer, Next, Statement, StoreMachine};
use crate::ledger::Command;

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
        Self::opened(path.as_ref(), true)
    }

    /// As [`open`](Self::open), but an answered command survives only `kill -9`, not a loss of
    /// power. It takes a fraction of the time.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_normal(path: impl AsRef<Path>) -> Result<Self, SqliteError> {
        Self::opened(path.as_ref(), false)
    }

    fn opened(path: &Path, durable: bool) -> Result<Self, SqliteError> {
        create(path);
        let connection = Connection::open(path)?;
        talk(&connection, StoreMachine::open(durable))?;
        Ok(Self {
            connection: Mutex::new(connection),
        })
    }

    /// Runs a command, and returns the reply.
    ///
    /// # Errors
    ///
    /// [`SqliteError`] if nothing was done: the disk is full, the file is locked, or similar.
    pub fn run(&self, command: &Command) -> Result<Vec<String>, SqliteError> {
        let connection = self.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        talk(&connection, StoreMachine::begin(command.clone()))
    }
}

/// Does what a store machine says, and returns the ledger's reply.
fn talk(
    connection: &Connection,
    (mut machine, mut next): (StoreMachine, Next),
) -> Result<Vec<String>, SqliteError> {
    let mut failure = None;
    loop {
        let answer = match next {
            Next::Run(statements) => match rows(connection, &statements) {
                Ok(rows) => Answer::Rows(rows),
                Err(error) => {
                    let why = Answer::Error(error.to_string());
                    failure.get_or_insert(error);
                    why
                }
            },
            Next::Wait(time) => {
                failure = None;
                std::thread::sleep(time);
                Answer::Rows(Vec::new())
            }
            Next::Done(reply) => return Ok(reply),
            Next::Failed(_) => {
                return Err(failure.unwrap_or(rusqlite::Error::InvalidQuery).into());
            }
        };
        next = machine.on(answer);
    }
}

fn rows(
    connection: &Connection,
    statements: &[Statement],
) -> rusqlite::Result<Vec<Option<String>>> {
    let mut rows = Vec::new();
    for statement in statements {
        let mut prepared = connection.prepare_cached(statement.sql)?;
        let args = rusqlite::params_from_iter(&statement.args);
        let mut found = prepared.query(args)?;
        let row = found.next()?;
        if statement.reads {
            rows.push(row.map(|row| row.get(0)).transpose()?);
        }
    }
    Ok(rows)
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
