//! The ledger of two replicas, in SQLite, in a Valkey and in a Cluster.

use std::time::Duration;

use futures::future::join_all;
use redis::cluster::ClusterClient;
use sealwax::Principal;
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::{LedgerSettings, Redis, Sqlite};
use sealwax_rmcp::{Guard, GuardBuilder, from_claims};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::clients::{Client, call, client, json_of, refusal, state};
use crate::serving::{Refusals, Rounds, fresh, serve};
use crate::valkey::Valkey;

/// Everything is on this machine.
pub fn one_clock() -> LedgerSettings {
    LedgerSettings {
        clock_tolerance: Some(Duration::ZERO),
        ..LedgerSettings::default()
    }
}

/// Waits until the next second of the store's own clock has begun.
pub async fn another_second() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}

/// Brings a state back.
pub async fn again(client: &Client, state: &str) -> Result<Value, Value> {
    let again = call("count", json!({})).with_request_state(state);
    json_of(client.call_tool_once(again).await.map(|_| ()))
}

#[tokio::test]
async fn a_request_state_comes_back_once_wherever_it_does() {
    let folder = TempDir::new().unwrap();
    let sqlite = |guard: GuardBuilder| {
        let file = folder.path().join("ledger.db");
        guard.ledger(Sqlite::open(file).unwrap())
    };
    let valkey = Valkey::start();
    let one_server = |guard: GuardBuilder| {
        let redis = Redis::open(&valkey.url()).unwrap();
        guard.ledger_with(redis, one_clock())
    };
    let node = Valkey::with(&["--cluster-enabled", "yes"]);
    node.ask::<()>("CLUSTER ADDSLOTSRANGE 0 16383");
    let cluster = |guard: GuardBuilder| {
        let client = ClusterClient::new([node.url()]).unwrap();
        guard.ledger_with(Redis::cluster(client), one_clock())
    };
    let stores: [&dyn Fn(GuardBuilder) -> GuardBuilder; 3] = [&sqlite, &one_server, &cluster];
    for with_ledger in stores {
        let (codec, refusals) = (fresh(), Refusals::default());
        // Each replica has its own client of the store.
        let replica = async || {
            let guard = Guard::builder(codec.clone(), from_claims)
                // A busy machine is not what this is about.
                .time_limit(Duration::from_secs(20))
                .on_refused(refusals.hook());
            let guard = with_ledger(guard).build().unwrap();
            // The ledger begins before anything is sealed.
            let nobody = Principal::subject("nobody");
            guard.revoke(&nobody, None).await.unwrap();
            client(&serve(guard.protect(Rounds)).await, "alice").await
        };
        let (here, there) = (replica().await, replica().await);
        another_second().await;
        let sealed = state(&here, call("count", json!({}))).await;
        let all = (0..16).map(|at| again(if at % 2 == 0 { &here } else { &there }, &sealed));
        let (won, lost): (Vec<_>, Vec<_>) =
            join_all(all).await.into_iter().partition(Result::is_ok);
        assert_eq!((won.len(), lost.len()), (1, 15));
        let refused = Err(refusal(Profile::RequestState));
        assert!(lost.iter().all(|lost| *lost == refused), "{lost:?}");
        let told = refusals.take();
        assert_eq!(told.len(), 15);
        assert!(told.iter().all(|told| told.code == "used"), "{told:?}");
    }
}
