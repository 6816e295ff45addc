//! Ledgers that fail: the client gets an internal error, the log gets the reason, and nothing is accepted.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sealwax::{Codec, Principal};
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::{Command, Ledger, LedgerError, Memory, Redis, Reply, Script, Sqlite};
use sealwax_rmcp::{Guard, GuardBuilder, from_claims};
use serde_json::{Value, json};

use crate::clients::{Client, call, call_in, client, create, internal, state, tool};
use crate::ledger::sure;
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
    handle: Value,
    cart: Value,
}

impl Had {
    async fn of(client: Client, refusals: &Refusals) -> Self {
        Self {
            state: state(&client, call("sure", json!({}))).await,
            session: create(&client).await,
            handle: tool(&client, "mint", json!({})).await["structuredContent"].clone(),
            cart: tool(&client, "cart", json!({})).await["structuredContent"].clone(),
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
        for (name, handle) in [
            ("check", &self.handle),
            ("end", &self.handle),
            ("look", &self.cart),
            ("put", &self.cart),
        ] {
            let failed = tool(&self.alice, name, handle.clone()).await;
            assert_eq!(failed, internal(Profile::Handle), "{name}");
        }
        let told = self.refusals.take();
        for told in &told {
            assert_eq!(told.code, "ledger_unavailable", "{told:?}");
        }
        // A failure to open the ledger may be reported too.
        let tokens = told.iter().filter(|told| told.id.is_some());
        assert_eq!(tokens.count(), 6, "{told:?}");
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
    let had = Had::of(client(&without.uri, "alice").await, &refusals);
    // A cart of single use cannot be opened without a ledger, but can be made.
    let mut had = had.await;
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
    let mut read = json!(null);
    for _ in 0..200 {
        match call_in(&had.alice, "read", json!({}), &had.session).await {
            Ok(served) => {
                read = served;
                break;
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    assert_eq!(read["structuredContent"]["value"], 0);
}

#[tokio::test]
async fn one_that_never_answers() {
    let (mut fleet, had) = good(&[]).await;
    fleet.valkey().signal("STOP");
    let begun = Instant::now();
    let told = had.presents().await;
    // Six questions, each asked twice for 300 ms at most.
    assert!(begun.elapsed() < Duration::from_secs(30));
    all_say(&told, "expected an answer in time, found none");
    fleet.valkey().signal("CONT");
    another_second().await;
    let again = state(&had.alice, call("sure", json!({}))).await;
    assert!(sure(&had.alice, &again).await.is_ok());
}

#[tokio::test]
async fn one_that_is_full() {
    let (mut fleet, had) = good(&[]).await;
    fleet.valkey().ask::<()>("CONFIG SET maxmemory 1");
    let told = had.presents().await;
    all_say(&told, "OOM");
    fleet.valkey().ask::<()>("CONFIG SET maxmemory 0");
    // Nothing was used up.
    assert!(sure(&had.alice, &had.state).await.is_ok());
}

#[tokio::test]
async fn one_that_became_a_replica() {
    let (mut fleet, had) = good(&[]).await;
    let master = Valkey::start();
    let follow = format!("REPLICAOF 127.0.0.1 {}", master.port);
    fleet.valkey().ask::<()>(&follow);
    // The second try checks the server again.
    all_say(&had.presents().await, "expected a master");
}

/// A new connection is checked, whoever ended the last one.
#[tokio::test]
async fn one_that_began_to_evict_while_nobody_was_connected() {
    let (mut fleet, had) = good(&[]).await;
    let valkey = fleet.valkey();
    valkey.ask::<()>("CONFIG SET maxmemory 100mb");
    valkey.ask::<()>("CONFIG SET maxmemory-policy allkeys-lru");
    valkey.ask::<i64>("CLIENT KILL TYPE normal");
    all_say(&had.presents().await, "noeviction");
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
async fn one_that_holds_what_is_not_ours() {
    for (how, says) in [
        ("SET {} garbage", "found another value"),
        ("SET {} 9:1", "found another value"),
        ("LPUSH {} garbage", "WRONGTYPE"),
    ] {
        let (mut fleet, had) = good(&[]).await;
        let began: Vec<String> = fleet.valkey().ask("KEYS swl1:*:began");
        fleet.valkey().ask::<()>(&format!("DEL {}", began[0]));
        fleet.valkey().ask::<()>(&how.replace("{}", &began[0]));
        all_say(&had.presents().await, says);
    }
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
async fn a_memory_that_is_full() {
    // About two records of one principal.
    let memory = Store::Memory(Arc::new(Memory::new(2200)));
    let fleet = Fleet::on(memory).await;
    let [alice, _] = fleet.clients("alice").await;
    let mut taken = 0;
    let full = loop {
        let sealed = state(&alice, call("sure", json!({}))).await;
        match sure(&alice, &sealed).await {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
    };
    assert!(taken > 0);
    assert_eq!(full, internal(Profile::RequestState));
    let told = fleet.refusals.take();
    assert_eq!((told.len(), told[0].code), (1, "ledger_unavailable"));
    assert!(told[0].message.contains("no room"), "{told:?}");
}

#[tokio::test]
async fn a_file_that_is_locked_or_no_database() {
    let store = Store::sqlite();
    let Store::Sqlite(folder) = &store else {
        panic!("expected a file");
    };
    let path = folder.join("ledger.db");
    let noise = folder.join("noise.db");
    std::fs::write(
        &noise,
        "nothing that SQLite has written, however long it is read",
    )
    .unwrap();
    for path in [&noise, &folder.join("nowhere/ledger.db"), folder] {
        let failed = Sqlite::open(path).unwrap_err();
        assert_eq!(failed.code(), "ledger_unavailable");
        assert!(failed.to_string().starts_with("sqlite: "), "{failed}");
    }
    let fleet = Fleet::with(store, impatient).await;
    let [alice, _] = fleet.clients("alice").await;
    let had = Had::of(alice, &fleet.refusals).await;
    let other = rusqlite::Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let told = had.presents().await;
    for told in told {
        assert!(
            told.contains("locked") || told.contains("in time"),
            "{told}"
        );
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert!(sure(&had.alice, &had.state).await.is_ok());
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
    let replies: fn() -> BoxFuture<'static, Reply> = || async { Ok(Vec::new()) }.boxed();
    let strange: fn() -> BoxFuture<'static, Reply> =
        || async { Ok(["yes", "0"].map(Into::into).into()) }.boxed();
    let misplaced: fn() -> BoxFuture<'static, Reply> =
        || async { Ok(["used", "17"].map(Into::into).into()) }.boxed();
    for (answer, says) in [
        (failed, "it rains"),
        (replies, "expected a reply as LEDGER.md specifies"),
        (strange, "expected a reply as LEDGER.md specifies"),
        (misplaced, "expected a reply as LEDGER.md specifies"),
        (|| panic!("it hails"), "found a panic"),
        (
            || std::future::pending().boxed(),
            "expected an answer in time, found none",
        ),
    ] {
        let had = bad(&fresh(), Odd(answer)).await;
        all_say(&had.presents().await, says);
    }
}

/// Loses every second answer. The same attempt again is no second use.
struct Lossy(Memory, std::sync::atomic::AtomicUsize);

impl Ledger for Lossy {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        let lost = self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2 == 1;
        let done = self.0.run(command);
        async move {
            match (done.await, lost && command.script != Script::Open) {
                (_, true) => Err(LedgerError::Unavailable("lost on its way".into())),
                (reply, false) => reply,
            }
        }
        .boxed()
    }

    fn is_local(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn a_request_whose_first_answer_was_lost_is_served() {
    let refusals = Refusals::default();
    let ledger = Lossy(Memory::default(), Default::default());
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let served = replica(guard.ledger(ledger)).await;
    let alice = client(&served.uri, "alice").await;
    for _ in 0..4 {
        let sealed = state(&alice, call("sure", json!({}))).await;
        assert!(sure(&alice, &sealed).await.is_ok());
        let session = create(&alice).await;
        let added = call_in(&alice, "add", json!({}), &session).await.unwrap();
        assert_eq!(added["structuredContent"]["value"], 1, "{added}");
        let cart = tool(&alice, "cart", json!({})).await["structuredContent"].clone();
        assert_eq!(tool(&alice, "put", cart).await["isError"], false);
    }
    assert!(refusals.is_empty());
}
