//! The ledger in a Valkey that has a replica, or is a Cluster: the rest is in tests/ledger.

use std::time::Duration;

use sealwax::Principal;
use sealwax_mcp::Profile;
use sealwax_rmcp::ledger::Redis;
use sealwax_rmcp::{Guard, from_claims};
use serde_json::json;

use crate::clients::{call, client, refusal, state};
use crate::far_store::far;
use crate::ledger::sure;
use crate::serving::{Refusals, fresh, until};
use crate::tally::{another_second, one_clock, replica};
use crate::valkey::Valkey;

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
async fn a_cluster_is_one_ledger() {
    let nodes = [(); 3].map(|()| Valkey::with(&["--cluster-enabled", "yes"]));
    for (at, node) in nodes.iter().enumerate() {
        let slots = [(0, 5460), (5461, 10922), (10923, 16383)][at];
        node.ask::<()>(&format!("CLUSTER ADDSLOTSRANGE {} {}", slots.0, slots.1));
        node.ask::<()>(&format!("CLUSTER MEET 127.0.0.1 {}", nodes[0].port));
    }
    let joined = || {
        nodes.iter().all(|node| {
            let info = node.ask::<String>("CLUSTER INFO");
            info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:3")
        })
    };
    until(joined).await;
    let codec = fresh();
    for label in ["a", "b", "c", "d"] {
        let refusals = Refusals::default();
        let urls: Vec<_> = nodes.iter().map(Valkey::url).collect();
        let client_of = redis::cluster::ClusterClient::new(urls).unwrap();
        let guard = Guard::builder(codec.clone(), from_claims)
            .time_limit(Duration::from_secs(20))
            .ledger_with(Redis::cluster(client_of), one_clock(label))
            .on_refused(refusals.hook());
        let served = replica(guard).await;
        let nobody = Principal::subject("nobody");
        served.guard.revoke(&nobody, None).await.unwrap();
        another_second().await;
        let alice = client(&served.uri, "alice").await;
        let sealed = state(&alice, call("sure", json!({}))).await;
        assert!(sure(&alice, &sealed).await.is_ok());
        assert_eq!(
            sure(&alice, &sealed).await,
            Err(refusal(Profile::RequestState))
        );
        assert_eq!(refusals.code(), "used");
    }
}
