//! Ledgers that fail: the client gets an internal error, the log gets the reason, and nothing is accepted.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::{Codec, Principal};
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::{Command, Ledger, LedgerError, Redis, Reply, Script, Sqlite};
use sealwax_rmcp::{Guard, GuardBuilder, from_claims};
use serde_json::{Value, json};

use crate::clients::{Client, call, client, create, internal, state};
use crate::ledger::{call_in, sure, value};
use crate::serving::{Refusals, fresh};
use crate::tally::{Fleet, Store, another_second, replica};
use crate::valkey::Valkey;

const INTERNAL: i64 = -32603;

/// The tokens that a client got before its server's ledger failed.
struct Had {
    alice: Client,
    refusals: Refusals,
    state: String,
    session: Value,
}

impl Had {
    async fn of(client: Client, refusals: &Refusals) -> Self {
        Self {
            state: state(&client, call("sure", json!({}))).await,
            session: create(&client).await,
            alice: client,
            refusals: refusals.clone(),
        }
    }

    /// Presents them all, and returns the reported reasons.
    async fn presents(&self) -> Vec<String> {
        let state = sure(&self.alice, &self.state).await;
        assert_eq!(state, Err(internal(Profile::RequestState)));
        let read = call_in(&self.alice, "read", json!({}), &self.session).await;
        assert_eq!(read.unwrap_err()["code"], INTERNAL);
        let told = self.refusals.take();
        for told in &told {
            assert_eq!(told.code, "ledger_unavailable", "{told:?}");
        }
        // A failure to open the ledger may be reported too.
        let tokens = told.iter().filter(|told| told.id.is_some());
        assert_eq!(tokens.count(), 2, "{told:?}");
        told.into_iter().map(|told| told.message).collect()
    }
}

fn all_say(told: &[String], what: &str) {
    for told in told {
        assert!(told.contains(what), "expected {what}, found {told}");
    }
}

/// Starts a server whose ledger is bad from the start.
async fn bad(codec: &Codec, ledger: impl Ledger) -> Had {
    let refusals = Refusals::default();
    let guard =
        |hook: &Refusals| Guard::builder(codec.clone(), from_claims).on_refused(hook.hook());
    let without = replica(guard(&refusals)).await;
    let with = guard(&refusals).ledger(ledger);
    let mut had = Had::of(client(&without.uri, "alice").await, &refusals).await;
    had.alice = client(&replica(with).await.uri, "alice").await;
    had
}

#[tokio::test]
async fn one_that_would_forget() {
    let evicts = Valkey::with(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    let unfit = Redis::open(&evicts.url())
        .unwrap()
        .check()
        .await
        .unwrap_err();
    assert_eq!(unfit.code(), "ledger_unfit");
    let had = bad(&fresh(), Redis::open(&evicts.url()).unwrap()).await;
    all_say(&had.presents().await, "noeviction");
    // Settings may change while the server runs: it is checked again after a failure.
    evicts.ask::<()>("CONFIG SET maxmemory-policy noeviction");
    let warnings = Redis::open(&evicts.url()).unwrap().check().await.unwrap();
    assert!(warnings[0].contains("appendonly"), "{warnings:?}");
}

#[tokio::test]
async fn its_password_is_nowhere() {
    let valkey = Valkey::with(&["--requirepass", "right"]);
    let url = format!("redis://:s3cret@127.0.0.1:{}/", valkey.port);
    let ledger = Redis::open(&url).unwrap();
    assert!(!format!("{ledger:?}").contains("s3cret"));
    let failed = ledger.check().await.unwrap_err();
    assert!(!format!("{failed} {failed:?}").contains("s3cret"));
    let had = bad(&fresh(), ledger).await;
    let told = had.presents().await;
    all_say(&told, "redis: ");
    assert!(!told.concat().contains("s3cret"), "{told:?}");
    for url in [
        "redis//:s3cret@here",
        "http://:s3cret@here",
        "redis://:s3cret@[",
        "",
    ] {
        let failed = Redis::open(url).unwrap_err();
        assert!(!format!("{failed} {failed:?}").contains("s3cret"));
    }
}

#[tokio::test]
async fn a_file_is_opened_by_many_at_once() {
    let Store::Sqlite(folder) = &Store::sqlite() else {
        panic!("expected a file");
    };
    let opened = (0..16).map(|_| {
        let path = folder.join("many.db");
        std::thread::spawn(move || Sqlite::open(path).map(drop))
    });
    for opened in opened.collect::<Vec<_>>() {
        opened.join().unwrap().unwrap();
    }
}

/// Gives a fixed answer.
struct Odd(fn() -> BoxFuture<'static, Reply>);

impl Ledger for Odd {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        if command.script == Script::Open {
            return async { Ok(["ok", "1", "1", "1", "0"].map(Into::into).into()) }.boxed();
        }
        (self.0)()
    }
}

#[tokio::test]
async fn one_of_the_authors_own() {
    let failed: fn() -> BoxFuture<'static, Reply> =
        || async { Err(LedgerError::Unavailable("it rains".into())) }.boxed();
    for (answer, says) in [
        (failed, "it rains"),
        (
            || async { Ok(["used", "17"].map(Into::into).into()) }.boxed(),
            "expected a reply as LEDGER.md specifies",
        ),
        (
            || std::future::pending().boxed(),
            "expected an answer in time, found none",
        ),
    ] {
        let had = bad(&fresh(), Odd(answer)).await;
        all_say(&had.presents().await, says);
    }
}
