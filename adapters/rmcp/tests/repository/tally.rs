//! A server whose sessions hold a number, and two replicas of it with one ledger.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::*;
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use sealwax::Principal;
use sealwax_rmcp::ledger::{LedgerSettings, Redis, Sqlite};
use sealwax_rmcp::{Guard, GuardBuilder, Session, Sessions, State, from_claims};
use serde_json::json;

use crate::clients::{Client, client};
use crate::serving::{Refusals, fresh, serve, text};
use crate::valkey::{Valkey, folder};

#[derive(Clone)]
pub struct Tally;

#[tool_router]
impl Tally {
    #[tool(description = "What the session holds")]
    async fn read(&self, session: Session<u32>) -> CallToolResult {
        CallToolResult::structured(json!({"value": session.value()}))
    }

    #[tool(description = "Asks back once")]
    async fn sure(&self, state: State<u32>) -> Result<CallToolResponse, ErrorData> {
        match state.get() {
            None => Ok(InputRequiredResult::from_request_state(state.write(&1)?).into()),
            Some(_) => Ok(text("sure").into()),
        }
    }
}

#[tool_handler]
impl ServerHandler for Tally {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// The store of a fleet's ledger.
pub enum Store {
    Sqlite(PathBuf),
    Valkey(Valkey),
    /// Of one node.
    Cluster(Valkey),
}

impl Store {
    pub fn each() -> [Self; 3] {
        let node = Valkey::with(&["--cluster-enabled", "yes"]);
        node.ask::<()>("CLUSTER ADDSLOTSRANGE 0 16383");
        [
            Self::Sqlite(folder("sqlite")),
            Self::Valkey(Valkey::start()),
            Self::Cluster(node),
        ]
    }

    /// Adds a ledger to a replica's guard. Each has its own client.
    fn of(&self, guard: GuardBuilder) -> GuardBuilder {
        let redis = match self {
            Self::Sqlite(folder) => {
                return guard.ledger(Sqlite::open(folder.join("ledger.db")).unwrap());
            }
            Self::Valkey(valkey) => Redis::open(&valkey.url()).unwrap(),
            Self::Cluster(node) => {
                let client = redis::cluster::ClusterClient::new([node.url()]);
                Redis::cluster(client.unwrap())
            }
        };
        guard.ledger_with(redis, one_clock())
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Self::Sqlite(folder) = self {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Everything is on this machine.
pub fn one_clock() -> LedgerSettings {
    LedgerSettings {
        clock_tolerance: Some(Duration::ZERO),
        ..LedgerSettings::default()
    }
}

/// Two replicas with the same keys and one ledger.
pub struct Fleet {
    uris: [String; 2],
    pub guards: [Guard; 2],
    pub refusals: Refusals,
    /// It ends with the fleet.
    _store: Store,
}

/// Builds a guard with sessions that count, and serves with it.
pub async fn replica(guard: GuardBuilder) -> (String, Guard) {
    let sessions = Sessions::new(|_, _| async { Ok(0) });
    let guard = guard.sessions(sessions).build().unwrap();
    (serve(guard.protect(Tally)).await, guard)
}

impl Fleet {
    pub async fn on(store: Store) -> Self {
        let (codec, refusals) = (fresh(), Refusals::default());
        let guard = || {
            let builder = Guard::builder(codec.clone(), from_claims)
                // A busy machine is not what these tests are about.
                .time_limit(Duration::from_secs(20))
                .on_refused(refusals.hook());
            store.of(builder)
        };
        let ((one, its), (two, others)) = (replica(guard()).await, replica(guard()).await);
        let fleet = Self {
            uris: [one, two],
            guards: [its, others],
            refusals,
            _store: store,
        };
        // The ledger begins before anything is sealed.
        for guard in &fleet.guards {
            let nobody = Principal::subject("nobody");
            guard.revoke(&nobody, None).await.unwrap();
        }
        another_second().await;
        fleet
    }

    /// Connects a client to each replica.
    pub async fn clients(&self, user: &str) -> [Client; 2] {
        let [one, two] = &self.uris;
        [client(one, user).await, client(two, user).await]
    }
}

/// Waits until the next second of the store's own clock has begun.
pub async fn another_second() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}
