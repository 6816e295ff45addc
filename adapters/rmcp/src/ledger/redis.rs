//! A ledger in Redis or Valkey.

use std::fmt;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use redis::{AsyncConnectionConfig, RedisResult, Value};
use sealwax_mcp::ledger::redis::{Answer, Next, Redis as Machines, Send as ToSend};

use super::redis_connections::{Connecting, Connection, Connections, command, ended, failed};
use super::{Command, Ledger, LedgerError, Reply};

/// A ledger in Redis 6.2 or later, or in Valkey: for a fleet.
///
/// It opens two connections when they are needed, and opens them again after any failure. The second one is for ends
/// and revocations: a replica confirms them by `WAIT`, which would delay other commands. Each new connection checks
/// the server's settings, and refuses a server that would forget ([`LedgerError::Unfit`]). Connecting takes longer than a
/// command may, if the server is far away; so it goes on in a task of tokio when a command stops waiting for it.
///
/// ```no_run
/// # async fn start() -> Result<(), sealwax_rmcp::ledger::LedgerError> {
/// use sealwax_rmcp::ledger::Redis;
///
/// let ledger = Redis::open("redis://127.0.0.1/")?;
/// // Which settings may lose records, and when. A guard checks and logs them too.
/// for warning in ledger.check().await? {
///     eprintln!("ledger: {warning}");
/// }
/// # Ok(()) }
/// ```
pub struct Redis {
    machines: Machines,
    connections: Connections,
}

impl Redis {
    /// Opens a ledger in the server at a URL, such as `redis://:password@host:6379/0`.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unavailable`] if this is no URL of a Redis; the error does not repeat it.
    pub fn open(url: &str) -> Result<Self, LedgerError> {
        Ok(Self::new(redis::Client::open(url).map_err(failed)?))
    }

    /// Makes a ledger in the server that a client of the `redis` crate connects to.
    #[must_use]
    pub fn new(client: redis::Client) -> Self {
        Self::of(move || {
            let client = client.clone();
            async move {
                // The guard has time limits of its own, and a far server is slow to connect to. A connection ends with its
                // socket, so that later commands reach the same server.
                let patient = AsyncConnectionConfig::new()
                    .set_connection_timeout(None)
                    .set_response_timeout(None);
                let connecting = client.get_multiplexed_async_connection_with_config(&patient);
                connecting.await
            }
        })
    }

    /// Makes a ledger in a Cluster. The records of one service are on one node.
    #[cfg(feature = "redis-cluster")]
    #[must_use]
    pub fn cluster(client: redis::cluster::ClusterClient) -> Self {
        Self::of(move || {
            let client = client.clone();
            async move { client.get_async_connection().await }
        })
    }

    fn of<C, F>(connect: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        C: Connection + 'static,
        F: Future<Output = RedisResult<C>> + Send + 'static,
    {
        let machines = Machines::new(true);
        Self {
            connections: Connections::new(machines.clone(), connect),
            machines,
        }
    }

    /// Returns which of the server's settings may lose records, and when; empty is best.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unfit`] for a server that would forget; [`LedgerError::Unavailable`] if it does not answer.
    pub async fn check(&self) -> Result<Vec<String>, LedgerError> {
        self.connections.check().await
    }

    async fn answer(&self, command: &Command) -> Result<Vec<String>, LedgerError> {
        let key = command.keys.first().map_or("", String::as_str);
        // Each connection has been checked.
        let (mut machine, mut next) = self.machines.begin(command.clone());
        // `WAIT` covers what was written on its own connection, so a command stays on the one that it wrote on.
        let mut used = [const { None }; 2];
        while let Next::Send(send) = next {
            let connecting = used[usize::from(send.own)]
                .get_or_insert_with(|| self.connections.get(key, send.own));
            next = machine.on(self.sent(connecting, &send).await?);
        }
        let reply = ended(next);
        if reply.is_err() {
            // What was no answer to a script may be that of another server.
            let failed = used.iter().flatten();
            failed.for_each(|connecting| self.connections.forget(connecting));
        }
        reply
    }

    async fn sent(&self, connecting: &Connecting, send: &ToSend) -> Result<Answer, LedgerError> {
        // Who stops waiting when most of the time went into connecting leaves the connection to the next command.
        let was_made = connecting.peek().is_some();
        let connection = connecting.clone().await;
        let mut failure = Failure(&self.connections, was_made.then(|| connecting.clone()));
        let answer = match connection {
            Ok(connection) => connection.send(command(&send.args)).await,
            Err(error) => {
                failure.1 = Some(connecting.clone());
                return Err(error);
            }
        };
        let answer = match answer {
            Ok(Value::Int(number)) => Answer::Number(number),
            Ok(answer @ Value::Array(_)) => Answer::Texts(read(answer)?),
            Ok(answer) => Answer::Text(read(answer)?),
            Err(error) => {
                failure.1 = Some(connecting.clone());
                let Some(code) = error.code() else {
                    return Err(failed(error));
                };
                let error = format!("{code} {}", error.detail().unwrap_or_default());
                // What a script lacks is no failure of its server.
                failure.1.take_if(|_| error.starts_with("NOSCRIPT"));
                return Ok(Answer::Error(error));
            }
        };
        failure.1 = None;
        Ok(answer)
    }
}

impl Ledger for Redis {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.answer(command).boxed()
    }
}

/// Lets go of this connection, if one is named when it is dropped: the command failed or its caller stopped waiting.
struct Failure<'a>(&'a Connections, Option<Connecting>);

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        if let Some(failed) = &self.1 {
            self.0.forget(failed);
        }
    }
}

fn read<T: redis::FromRedisValue>(answer: Value) -> Result<T, LedgerError> {
    redis::from_redis_value(answer).map_err(|error| failed(error.into()))
}

/// The URL may contain a password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis")
    }
}
