//! A server whose sessions hold a number, and two replicas of it with one ledger.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::{ErrorData, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::Principal;
use sealwax_rmcp::ledger::{LedgerSettings, Memory, Redis, Sqlite};
use sealwax_rmcp::{Guard, GuardBuilder, Session, Sessions, State, from_claims};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::clients::{Client, client};
use crate::serving::{Refusals, fresh, serve, text};
use crate::valkey::{Valkey, folder};

#[derive(Clone)]
pub struct Tally(Arc<Gate>);

/// The point where handlers wait.
pub struct Gate {
    pub came: Semaphore,
    pub go: Semaphore,
}

impl Gate {
    async fn pass(&self, waits: bool) {
        if waits {
            self.came.add_permits(1);
            self.go.acquire().await.unwrap().forget();
        }
    }

    /// Waits until so many handlers wait.
    pub async fn all(&self, count: u32) {
        self.came.acquire_many(count).await.unwrap().forget();
    }
}

#[derive(Deserialize, JsonSchema)]
struct Waits {
    #[serde(default)]
    wait: bool,
}

#[tool_router]
impl Tally {
    #[tool(description = "What the session holds")]
    async fn read(&self, session: Session<u32>) -> CallToolResult {
        CallToolResult::structured(json!({"value": session.value()}))
    }

    #[tool(description = "One more")]
    async fn add(
        &self,
        Parameters(Waits { wait }): Parameters<Waits>,
        mut session: Session<u32>,
    ) -> Result<CallToolResult, ErrorData> {
        let value = session.value() + 1;
        session.write(value)?;
        self.0.pass(wait).await;
        Ok(CallToolResult::structured(json!({ "value": value })))
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
    Memory(Arc<Memory>),
    Sqlite(PathBuf),
    Valkey(Valkey),
}

/// The settings of a ledger of this name. Everything is on this machine, so there is one clock.
pub fn one_clock(label: &str) -> LedgerSettings {
    LedgerSettings {
        label: label.into(),
        clock_tolerance: Some(Duration::ZERO),
        ..LedgerSettings::default()
    }
}

impl Store {
    /// One of each.
    pub fn each() -> [Self; 3] {
        let memory = Self::Memory(Arc::new(Memory::default()));
        [memory, Self::sqlite(), Self::Valkey(Valkey::start())]
    }

    pub fn sqlite() -> Self {
        Self::Sqlite(folder("sqlite"))
    }

    /// Adds a ledger to a replica's guard. Each has its own client.
    fn of(&self, guard: GuardBuilder) -> GuardBuilder {
        match self {
            Self::Memory(memory) => guard.ledger(Arc::clone(memory)),
            Self::Sqlite(folder) => guard.ledger(Sqlite::open(folder.join("ledger.db")).unwrap()),
            Self::Valkey(valkey) => {
                guard.ledger_with(Redis::open(&valkey.url()).unwrap(), one_clock(""))
            }
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if let Self::Sqlite(folder) = self {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

pub struct Replica {
    pub uri: String,
    pub guard: Guard,
    pub gate: Arc<Gate>,
}

/// Two replicas with the same keys and one ledger.
pub struct Fleet {
    pub replicas: [Replica; 2],
    pub refusals: Refusals,
    /// It ends with the fleet.
    _store: Store,
}

/// Builds a guard with sessions that count, and serves with it.
pub async fn replica(guard: GuardBuilder) -> Replica {
    let sessions = Sessions::new(|_, _| async { Ok(0) });
    let guard = guard.sessions(sessions).build().unwrap();
    let gate = Arc::new(Gate {
        came: Semaphore::new(0),
        go: Semaphore::new(0),
    });
    let uri = serve(guard.protect(Tally(Arc::clone(&gate)))).await;
    Replica { uri, guard, gate }
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
        let replicas = [replica(guard()).await, replica(guard()).await];
        let fleet = Self {
            replicas,
            refusals,
            _store: store,
        };
        fleet.open().await;
        fleet
    }

    /// Makes the ledger begin before anything is sealed.
    pub async fn open(&self) {
        for replica in &self.replicas {
            let nobody = Principal::subject("nobody");
            replica.guard.revoke(&nobody, None).await.unwrap();
        }
        another_second().await;
    }

    /// Connects a client to each replica.
    pub async fn clients(&self, user: &str) -> [Client; 2] {
        let [one, two] = &self.replicas;
        [client(&one.uri, user).await, client(&two.uri, user).await]
    }
}

/// Waits until the next second has begun.
pub async fn another_second() {
    tokio::time::sleep(Duration::from_millis(1100)).await;
}
