//! A support case: "Alice, 14:02, Session not found", from what a server writes without any set-up.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, str};

use sealwax::{Codec, Environment, Error, Key, KeyRing, System};

use crate::layer_fleet::{begin, fleet, post, who};

/// Set in the server's process: nobody subscribes to `tracing` there.
const DAY: &str = "SEALWAX_TEST_OF_A_DAY";

/// 2026-11-23, 13:30.
const BEGIN_MS: u64 = 1_795_440_600_000;

#[derive(Clone)]
struct Clock(Arc<AtomicU64>);

impl Environment for Clock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        System.fill(bytes)
    }
}

#[tokio::test]
async fn a_day_of_the_server() {
    if env::var_os(DAY).is_none() {
        return;
    }
    let clock = Clock(Arc::new(BEGIN_MS.into()));
    let at = |minutes: u64, ms: u64| {
        let now = BEGIN_MS + minutes * 60_000 + ms;
        clock.0.store(now, Ordering::Relaxed);
    };
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let codec = Codec::builder(ring, "https://mcp.example.com");
    let codec = codec.session_max_age(Duration::from_secs(1800));
    let fleet = fleet(codec.build_in(clock.clone()).unwrap(), |it| it, |it| it).await;
    let alice = begin(&fleet.uri, "alice").await;
    at(20, 0);
    let bob = begin(&fleet.uri, "bob").await;
    at(29, 7_000);
    assert_eq!(
        post(&fleet.uri, "alice", Some(&bob), who()).await.status,
        404
    );
    at(32, 11_123);
    assert_eq!(
        post(&fleet.uri, "alice", Some(&alice), who()).await.status,
        404
    );
    assert_eq!(post(&fleet.uri, "bob", Some(&bob), who()).await.status, 200);
    assert_eq!(
        post(&fleet.uri, "mallory", Some(&alice), who())
            .await
            .status,
        404
    );
}

#[test]
fn her_line_is_found_by_her_name_and_the_time() {
    let served = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "support_case::a_day_of_the_server",
            "--nocapture",
        ])
        .env(DAY, "1")
        .output()
        .unwrap();
    let log = str::from_utf8(&served.stderr).unwrap();
    assert!(served.status.success(), "{log}");
    let hers: Vec<_> = log
        .lines()
        .filter(|line| line.starts_with("2026-11-23T14:02") && line.contains("subject=\"alice\""))
        .collect();
    let [line] = hers[..] else {
        panic!("expected one line, found {hers:?} in {log}");
    };
    let (before, id) = line.split_once(" id=").unwrap();
    assert_eq!(
        before,
        "2026-11-23T14:02:11.123Z WARN sealwax: expired kind=session method=\"tools/call\" target=\"who\" \
         issuer=\"https://idp.example.com\" client=\"cli\" subject=\"alice\""
    );
    let (id, message) = id.split_once(" message=").unwrap();
    assert_eq!(
        (id.len(), message),
        (32, "\"expired at 1795442400, and it is 1795442531\"")
    );
}
