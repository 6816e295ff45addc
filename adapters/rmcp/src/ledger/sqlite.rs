//! In a SQLite file.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::ledger;
use tokio::task::spawn_blocking;

use super::{Command, Ledger, LedgerError, Reply};

/// A ledger in a file: for the processes of one machine, and for what follows a restart.
///
/// What was answered survives a loss of power. A file on a network is none of this, and neither is a backup
/// that was put back.
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
    /// Opens the file, and makes it where it is not there. It waits for the disk.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unavailable`] for what cannot be opened and written, and for a file of something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LedgerError> {
        let opened = ledger::Sqlite::open(path).map_err(failed)?;
        Ok(Self(Arc::new(opened)))
    }

    /// As [`open`](Self::open), but what was answered survives `kill -9` alone, and no loss of power. It takes
    /// a fraction of the time.
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
        // In a thread that may wait for the disk.
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
