//! The connections to a Redis or a Valkey: made when they are needed, checked, shared, and let go of after a failure.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Shared, join_all};
use futures::{FutureExt as _, TryFutureExt as _};
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisError, RedisFuture, RedisResult, Value};
use sealwax_mcp::ledger::redis::{Answer, Next, Redis as Machines};
use tokio::time::timeout;

use super::{LedgerError, cause};
use crate::hooks::warn;
use crate::value::said;

/// The time limit for a connection and its checks. A command waits for it only as long as the guard lets it.
const CONNECT: Duration = Duration::from_secs(10);

/// The connections of a ledger: for most commands, and for those that a replica should confirm.
pub(super) struct Connections {
    store: Arc<Store>,
    connected: Mutex<[Option<Connecting>; 2]>,
}

/// The server, and what the log was told of it.
struct Store {
    machines: Machines,
    connect: Box<dyn Fn() -> RedisFuture<'static, Arc<dyn Connection>> + Send + Sync>,
    warned: Once,
}

/// A connection that is being made, or was made. All who wait for it share it.
pub(super) type Connecting = Shared<BoxFuture<'static, Result<Arc<dyn Connection>, LedgerError>>>;

/// A connection to one server, or to a Cluster. Commands take turns.
pub(super) trait Connection: Send + Sync {
    fn send(&self, command: Cmd) -> RedisFuture<'static, Value>;

    /// Sends a command to the server of a key, and returns a text.
    fn ask(&self, key: &str, command: Cmd) -> RedisFuture<'static, String>;
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> Connection for C {
    fn send(&self, command: Cmd) -> RedisFuture<'static, Value> {
        let mut connection = self.clone();
        async move { command.query_async(&mut connection).await }.boxed()
    }

    fn ask(&self, key: &str, command: Cmd) -> RedisFuture<'static, String> {
        let mut connection = self.clone();
        let mut asked = Pipeline::new();
        // A command without a key goes where the one before it goes.
        asked.cmd("EXISTS").arg(key).ignore().add_command(command);
        async move {
            let (text,) = asked.query_async(&mut connection).await?;
            Ok(text)
        }
        .boxed()
    }
}

impl Connections {
    pub(super) fn new<C, F>(
        machines: Machines,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: Connection + 'static,
        F: Future<Output = RedisResult<C>> + Send + 'static,
    {
        let shared = |connection| Arc::new(connection) as Arc<dyn Connection>;
        let store = Store {
            machines,
            connect: Box::new(move || connect().map_ok(shared).boxed()),
            warned: Once::new(),
        };
        Self {
            store: Arc::new(store),
            connected: Mutex::default(),
        }
    }

    /// Connects, and returns which of the server's settings may lose records.
    pub(super) async fn check(&self) -> Result<Vec<String>, LedgerError> {
        let (_, warnings) = self.store.connect("swl1:began").await?;
        Ok(warnings)
    }

    /// Returns a connection to the server of a key. If there is none, a task begins to connect, and goes on if nobody waits
    /// any more.
    pub(super) fn get(&self, key: &str, own: bool) -> Connecting {
        self.connected()[usize::from(own)]
            .get_or_insert_with(|| {
                let connecting = Arc::clone(&self.store).connected(key.to_owned());
                let connecting = connecting.boxed().shared();
                drop(tokio::spawn(connecting.clone()));
                connecting
            })
            .clone()
    }

    /// Lets go of a connection: another server may have taken over. It lets go of none that was made since.
    pub(super) fn forget(&self, failed: &Connecting) {
        let mut connected = self.connected();
        if connected.iter().flatten().any(|it| it.ptr_eq(failed)) {
            *connected = [None, None];
        }
    }

    fn connected(&self) -> MutexGuard<'_, [Option<Connecting>; 2]> {
        let connected = self.connected.lock();
        connected.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Connects, and warns once.
    async fn connected(self: Arc<Self>, key: String) -> Result<Arc<dyn Connection>, LedgerError> {
        let (connection, warnings) = self.connect(&key).await?;
        self.warned.call_once(|| {
            for warning in warnings {
                warn(&format!("ledger: {warning}"));
            }
        });
        Ok(connection)
    }

    /// Returns in time a connection whose server has been checked, and which of its settings may lose records.
    async fn connect(&self, key: &str) -> Result<(Arc<dyn Connection>, Vec<String>), LedgerError> {
        let late = |_| LedgerError::Unavailable(format!("redis: no connection in {CONNECT:?}"));
        timeout(CONNECT, self.checked(key)).await.map_err(late)?
    }

    async fn checked(&self, key: &str) -> Result<(Arc<dyn Connection>, Vec<String>), LedgerError> {
        let connection = (self.connect)().await.map_err(failed)?;
        let (mut check, mut next) = self.machines.check();
        while let Next::Send(send) = next {
            let said = connection.ask(key, command(&send.args)).await;
            next = check.on(Answer::Text(said.map_err(failed)?));
        }
        ended(next)?;
        let loads = check.loads();
        join_all(loads.iter().map(|load| connection.send(command(load)))).await;
        let warnings = check.warned().iter().map(ToString::to_string).collect();
        Ok((connection, warnings))
    }
}

pub(super) fn command(texts: &[impl AsRef<str>]) -> Cmd {
    let mut command = Cmd::new();
    for text in texts {
        command.arg(text.as_ref());
    }
    command
}

/// Returns the reply of a store machine that has nothing more to send.
pub(super) fn ended(next: Next) -> Result<Vec<String>, LedgerError> {
    let failed = match next {
        Next::Done(reply) => return Ok(reply),
        Next::Unfit(why) => return Err(LedgerError::Unfit(why)),
        Next::Failed(why) => why,
        _ => "expected a command to send".into(),
    };
    Err(LedgerError::Unavailable(format!("redis: {failed}")))
}

/// Describes an error without its whole text, which may contain an address or a stored value.
pub(super) fn failed(error: RedisError) -> LedgerError {
    let category = error.category();
    LedgerError::Unavailable(match (error.code(), cause::code(&error)) {
        (Some(code), _) => format!("redis: {}", said(code)),
        (None, Some(code)) => format!("redis: {category} ({code})"),
        (None, None) => format!("redis: {category}"),
    })
}
