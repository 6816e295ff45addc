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

/// The time limit that a guard has by default.
fn impatient(guard: GuardBuilder) -> GuardBuilder {
    guard.time_limit(Duration::from_secs(1))
}

/// Starts a fleet on a good store, for a test to break.
async fn good(settings: &[&str]) -> (Fleet, Had) {
    let fleet = Fleet::with(Store::Valkey(Valkey::with(settings)), impatient).await;
    let [alice, _] = fleet.clients("alice").await;
    let had = Had::of(alice, &fleet.refusals).await;
    (fleet, had)
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
async fn one_that_is_down() {
    let (mut fleet, had) = good(&["--appendonly", "yes", "--appendfsync", "always"]).await;
    fleet.valkey().kill();
    all_say(&had.presents().await, "redis: I/O error");
    let revoked = fleet.replicas[0]
        .guard
        .revoke(&Principal::subject("alice"), None)
        .await;
    assert_eq!(revoked.unwrap_err().code(), "ledger_unavailable");
    // The client has kept its session, and continues it.
    fleet.valkey().restart();
    for _ in 0..200 {
        if call_in(&had.alice, "read", json!({}), &had.session)
            .await
            .is_ok()
        {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(value(&had.alice, &had.session).await, 0);
}

#[tokio::test]
async fn one_that_never_answers() {
    let (mut fleet, had) = good(&[]).await;
    fleet.valkey().signal("STOP");
    let begun = Instant::now();
    let told = had.presents().await;
    // Two questions, each asked twice for 300 ms at most.
    assert!(begun.elapsed() < Duration::from_secs(30));
    all_say(&told, "expected an answer in time, found none");
    fleet.valkey().signal("CONT");
    another_second().await;
    let again = state(&had.alice, call("sure", json!({}))).await;
    assert!(sure(&had.alice, &again).await.is_ok());
}

/// What an operator does to it, or another program.
#[tokio::test]
async fn one_that_has_changed() {
    let master = Valkey::start();
    let follow = format!("REPLICAOF 127.0.0.1 {}", master.port);
    let began = |command: &'static str| ["DEL {}", command];
    for (commands, says) in [
        (&["CONFIG SET maxmemory 1"][..], "OOM"),
        (&[&*follow], "expected a master"),
        // A new connection is checked, whoever ended the last one.
        (
            &[
                "CONFIG SET maxmemory 100mb",
                "CONFIG SET maxmemory-policy allkeys-lru",
                "CLIENT KILL TYPE normal",
            ],
            "noeviction",
        ),
        (&began("SET {} garbage"), "found another value"),
        (&began("LPUSH {} garbage"), "WRONGTYPE"),
    ] {
        let (mut fleet, had) = good(&[]).await;
        let valkey = fleet.valkey();
        let [key]: [String; 1] = valkey.ask("KEYS swl1:*:began");
        for command in commands {
            valkey.ask::<redis::Value>(&command.replace("{}", &key));
        }
        all_say(&had.presents().await, says);
        if says == "OOM" {
            fleet.valkey().ask::<()>("CONFIG SET maxmemory 0");
            // Nothing was used up.
            assert!(sure(&had.alice, &had.state).await.is_ok());
        }
    }
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

/// Starts a server that gives everybody the same answer, and returns its URL.
fn talks(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut read = [0; 4096];
                while stream.read(&mut read).is_ok_and(|read| read > 0) {
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("redis://user:s3cret@127.0.0.1:{port}/")
}

#[tokio::test]
async fn one_that_is_something_else() {
    for answer in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "+OK\r\n",
        ":1\r\n",
        "$-1\r\n",
        "*1\r\n$2\r\nok\r\n",
        "-s3cret s3cret\r\n",
        "\u{0}\r\n",
    ] {
        let had = bad(&fresh(), Redis::open(&talks(answer)).unwrap()).await;
        for told in had.presents().await {
            assert!(told.starts_with("ledger: "), "{told}");
            assert!(!told.contains("user") && told.len() < 200, "{told}");
        }
    }
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
