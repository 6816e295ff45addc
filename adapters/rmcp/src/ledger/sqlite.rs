//! A ledger in a SQLite file.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax_mcp::ledger;
use tokio::task::spawn_blocking;

use super::{Command, Ledger, LedgerError, Reply};

/// A ledger in a file: for the processes of one machine. It survives a restart.
///
/// Every command that was answered survives a loss of power. Do not put the file on a network drive, and do not
/// restore it from a backup.
///
/// ```
/// # let path = std::env::temp_dir().join(format!("sealwax-rmcp-{}.db", std::process::id()));
/// use sealwax_rmcp::ledger::Sqlite;
///
/// let ledger = Sqlite::open(&path)?;
/// # drop(ledger);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sqlite(Arc<ledger::Sqlite>);

impl Sqlite {
    /// Opens the file, or creates it. It blocks on the disk.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unavailable`] if the file cannot be opened and written, or contains something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let opened = ledger::Sqlite::open(path).map_err(failed)?;
        Ok(Self(Arc::new(opened)))
    }

    /// Opens the file as [`open`](Self::open) does, but commands that were answered survive only `kill -9`, and
    /// no loss of power. Commands take a fraction of the time.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_normal(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let opened = ledger::Sqlite::open_normal(path).map_err(failed)?;
        Ok(Self(Arc::new(opened)))
    }
}

impl Ledger for Sqlite {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        let (ledger, command) = (Arc::clone(&self.0), command.clone());
        // On a thread that may block on the disk.
        let done = spawn_blocking(move || ledger.run(&command));
        async move { done.await.map_err(failed)?.map_err(failed) }.boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}

fn failed(error: impl Error) -> LedgerError {
    LedgerError::Unavailable(error.to_string())
}
