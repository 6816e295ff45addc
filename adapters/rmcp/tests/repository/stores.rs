//! The connections of a ledger to a Valkey that is far away, has a replica, or would forget; tests/ledger has stores that fail.

use std::time::{Duration, Instant};

use sealwax::Principal;
use sealwax_rmcp::ledger::Redis;
use sealwax_rmcp::{Guard, from_claims};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::clients::{call, client, state};
use crate::ledger::{again, another_second, one_clock};
use crate::serving::{Refusals, Rounds, fresh, serve, until};
use crate::valkey::Valkey;

/// Returns the port of a proxy that delays everything: `round_trip` is the way there and back.
async fn far(port: u16, round_trip: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let near = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((here, _)) = listener.accept().await {
            let there = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let ((here_in, here_out), (there_in, there_out)) =
                (here.into_split(), there.into_split());
            tokio::spawn(delay(here_in, there_out, round_trip / 2));
            tokio::spawn(delay(there_in, here_out, round_trip / 2));
        }
    });
    near
}

async fn delay(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, by: Duration) {
    let (tell, mut told) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    tokio::spawn(async move {
        while let Some((at, bytes)) = told.recv().await {
            tokio::time::sleep_until(at.into()).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        let at = Instant::now() + by;
        if tell.send((at, bytes[..read].to_vec())).is_err() {
            return;
        }
    }
}

/// A connection takes three round trips, and a command one, within 600 ms here: from one place no command has the time to connect,
/// from the other to connect and to hear an answer.
#[tokio::test]
async fn it_is_served_though_no_command_has_the_time_to_connect() {
    let from = |round_trip| served_from(Duration::from_millis(round_trip));
    tokio::join!(from(400), from(160));
}

async fn served_from(round_trip: Duration) {
    let valkey = Valkey::start();
    let url = format!("redis://127.0.0.1:{}/", far(valkey.port, round_trip).await);
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims)
        .time_limit(Duration::from_secs(2))
        .on_refused(refusals.hook())
        .ledger_with(Redis::open(&url).unwrap(), one_clock());
    let server = guard.build().unwrap().protect(Rounds);
    let alice = client(&serve(server).await, "alice").await;
    let served = async || {
        let sealed = state(&alice, call("count", json!({}))).await;
        again(&alice, &sealed).await.is_ok()
    };
    let mut tries = 0;
    while !served().await {
        tries += 1;
        assert!(tries < 30, "{:?}", refusals.take());
    }
    // From then on one round trip is enough.
    another_second().await;
    refusals.take();
    for _ in 0..5 {
        assert!(served().await, "{:?}", refusals.take());
    }
}

/// `WAIT` on a connection that wrote nothing counts replicas that have nothing of it.
#[tokio::test]
async fn an_end_is_not_confirmed_on_a_connection_that_did_not_write_it() {
    let round_trip = Duration::from_millis(400);
    let valkey = Valkey::start();
    let follower = Valkey::with(&["--replicaof", &format!("127.0.0.1 {}", valkey.port)]);
    until(|| follows(&follower)).await;
    let url = format!("redis://127.0.0.1:{}/", far(valkey.port, round_trip).await);
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims)
        .on_refused(refusals.hook())
        .time_limit(Duration::from_secs(30))
        .ledger(Redis::open(&url).unwrap())
        .build()
        .unwrap();
    let [one, two] = ["one", "two"].map(Principal::subject);
    guard.revoke(&one, None).await.unwrap();
    assert!(refusals.is_empty());
    follower.signal("STOP");
    // While the second one waits for its answer, somebody else lets go of the connection.
    let impatient = tokio::time::timeout(round_trip / 4, guard.revoke(&one, None));
    let (gone, revoked) = tokio::join!(impatient, guard.revoke(&two, None));
    follower.signal("CONT");
    assert!(gone.is_err());
    revoked.unwrap();
    assert_eq!(refusals.code(), "ledger_unconfirmed");
}

fn follows(valkey: &Valkey) -> bool {
    let info: String = valkey.ask("INFO replication");
    info.contains("master_link_status:up")
}

#[tokio::test]
async fn one_that_would_forget_is_unfit() {
    let evicts = Valkey::with(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]);
    let ledger = Redis::open(&evicts.url()).unwrap();
    assert_eq!(ledger.check().await.unwrap_err().code(), "ledger_unfit");
    // Settings may change while the server runs.
    evicts.ask::<()>("CONFIG SET maxmemory-policy noeviction");
    let warnings = ledger.check().await.unwrap();
    assert!(warnings[0].contains("appendonly"), "{warnings:?}");
}

/// The checks of a program that starts wait for nobody.
#[tokio::test]
async fn one_that_says_nothing_is_unavailable() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}/", silent.local_addr().unwrap());
    let ledger = Redis::open(&url).unwrap();
    let checked = tokio::time::timeout(Duration::from_secs(60), ledger.check());
    let failed = checked.await.expect("in time").unwrap_err();
    assert_eq!(failed.code(), "ledger_unavailable");
}

#[tokio::test]
async fn its_password_is_nowhere() {
    let valkey = Valkey::with(&["--requirepass", "right"]);
    let url = format!("redis://:s3cret@127.0.0.1:{}/", valkey.port);
    let ledger = Redis::open(&url).unwrap();
    assert!(!format!("{ledger:?}").contains("s3cret"));
    let failed = ledger.check().await.unwrap_err();
    assert!(failed.to_string().starts_with("redis: "), "{failed}");
    assert!(!format!("{failed} {failed:?}").contains("s3cret"));
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
