//! The ledger in a SQLite file: `vectors/ledger.json`, locks, and files that are no ledger.

use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use rusqlite::{Connection, OptionalExtension as _, params};
use sealwax_mcp::ledger::{Command, Namespace, Sqlite};
use serde_json::Value;

use crate::common::list;
use crate::ledger_vectors::{command, is_of_another_process, texts, vectors};

const WRITE: &str = "INSERT OR REPLACE INTO sealwax_ledger VALUES (?, ?, ?)";

/// The folder of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("ledger.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_answers_and_keeps_as_the_vectors_have_it() {
    let folder = Folder::new("vectors");
    let ledger = Sqlite::open_normal(folder.file()).unwrap();
    let file = Connection::open(folder.file()).unwrap();
    file.execute_batch("PRAGMA synchronous = NORMAL").unwrap();
    let vectors = vectors();
    let own = list(&vectors["cases"])
        .iter()
        .filter(|case| !is_of_another_process(case));
    let mut played = 0;
    for case in own {
        while !plays(&ledger, &file, case) {}
        played += 1;
    }
    assert!(played > 300, "{played}");
}

/// Plays a case at the time of the file's own clock. Returns false where a second began meanwhile, so that nothing can
/// be compared.
fn plays(ledger: &Sqlite, file: &Connection, case: &Value) -> bool {
    let clock = || {
        file.query_row("SELECT CAST(strftime('%s', 'now') AS INTEGER)", (), |row| {
            row.get(0)
        })
        .unwrap()
    };
    let keys = list(&case["keys"]).iter().map(|key| key.as_str().unwrap());
    file.execute("DELETE FROM sealwax_ledger", ()).unwrap();
    let now: i64 = clock();
    for (key, value) in keys.zip(texts(&case["values"], now)) {
        if let Some(value) = value {
            let until: Option<i64> = None;
            file.execute(WRITE, params![key, value, until]).unwrap();
        }
    }
    let command: Command = serde_json::from_value(command(case, now)).unwrap();
    let reply = ledger.run(&command).unwrap();
    if clock() != now {
        return false;
    }
    let reply: Vec<_> = reply.into_iter().map(Some).collect();
    assert_eq!(reply, texts(&case["reply"], now), "{case}");
    for (key, left) in case["after"].as_object().unwrap() {
        let query = "SELECT value, until FROM sealwax_ledger WHERE key = ?";
        let kept = file.query_row(query, [key], |row| {
            let until: Option<i64> = row.get(1)?;
            Ok(vec![row.get(0)?, until.map(|until| until.to_string())])
        });
        let expected = left.is_array().then(|| texts(left, now));
        assert_eq!(kept.optional().unwrap(), expected, "{case}");
    }
    true
}

#[test]
fn a_write_sweeps_what_has_expired() {
    let folder = Folder::new("sweep");
    let ledger = Sqlite::open(folder.file()).unwrap();
    let file = Connection::open(folder.file()).unwrap();
    file.execute(WRITE, params!["old", "", 1]).unwrap();
    let open = Namespace::new("https://mcp.example.com", "").open();
    assert_eq!(ledger.run(&open).unwrap()[0], "ok");
    let left = "SELECT count(*) FROM sealwax_ledger WHERE key = 'old'";
    let left: u8 = file.query_row(left, (), |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn what_is_no_ledger_says_why() {
    let folder = Folder::new("noise");
    fs::write(
        folder.file(),
        "nothing that SQLite has written, however long it is read",
    )
    .unwrap();
    for path in [
        folder.file(),
        folder.0.clone(),
        folder.0.join("none/ledger.db"),
    ] {
        let failed = Sqlite::open(path).unwrap_err();
        assert!(failed.to_string().starts_with("sqlite: "), "{failed}");
        assert!(failed.source().is_some());
    }
}

/// Nobody may read or write the file meanwhile, as while another process makes it a ledger.
fn locked(path: PathBuf) -> Connection {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    other
}

#[test]
fn a_file_that_is_locked_is_waited_for() {
    loop {
        let folder = Folder::new("locked");
        let (begun, path) = (Instant::now(), folder.file());
        let other = locked(path.clone());
        let opening = thread::spawn(move || Sqlite::open(path));
        // Longer than SQLite itself waits.
        thread::sleep(Duration::from_millis(600));
        other.execute_batch("ROLLBACK").unwrap();
        let released = begun.elapsed();
        let opened = opening.join().unwrap();
        // Again, where this machine was so busy that the lock outlived the five seconds of `open`.
        if released < Duration::from_secs(2) {
            opened.unwrap();
            break;
        }
    }
}
