//! A ledger in Redis or Valkey.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Shared, join_all};
use futures::{FutureExt as _, TryFutureExt as _};
use redis::aio::ConnectionLike;
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisError, RedisFuture, RedisResult, Value};
use sealwax_mcp::ledger::redis::{Answer, Next, Redis as Machines, Send as ToSend};
use tokio::time::timeout;

use super::{Command, Ledger, LedgerError, Reply};
use crate::refusal::said;
use crate::{cause, log};

/// The time limit for a connection and its checks. A command waits for it only as long as the guard lets it.
const CONNECT: Duration = Duration::from_secs(10);

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
    store: Arc<Store>,
    /// The connections: for most commands, and for those that a replica should confirm.
    connected: Mutex<[Option<Connecting>; 2]>,
}

/// The server, and what the log was told of it.
struct Store {
    machines: Machines,
    connect: Box<dyn Fn() -> RedisFuture<'static, Arc<dyn Connection>> + Send + Sync>,
    warned: Once,
}

/// A connection that is being made, or was made. All who wait for it share it.
type Connecting = Shared<BoxFuture<'static, Result<Arc<dyn Connection>, LedgerError>>>;

/// A connection to one server, or to a Cluster. Commands take turns.
trait Connection: Send + Sync {
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
        let shared = |connection| Arc::new(connection) as Arc<dyn Connection>;
        let connect = Box::new(move || connect().map_ok(shared).boxed());
        let store = Store {
            machines: Machines::new(true),
            connect,
            warned: Once::new(),
        };
        Self {
            store: Arc::new(store),
            connected: Mutex::default(),
        }
    }

    /// Returns which of the server's settings may lose records, and when; empty is best.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unfit`] for a server that would forget; [`LedgerError::Unavailable`] if it does not answer.
    pub async fn check(&self) -> Result<Vec<String>, LedgerError> {
        let (_, warnings) = self.store.connect("swl1:began").await?;
        Ok(warnings)
    }

    fn connected(&self) -> MutexGuard<'_, [Option<Connecting>; 2]> {
        let connected = self.connected.lock();
        connected.unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, command: &Command) -> Result<Vec<String>, LedgerError> {
        let key = command.keys.first().map_or("", String::as_str);
        // Each connection has been checked.
        let (mut machine, mut next) = self.store.machines.begin(command.clone());
        // `WAIT` covers what was written on its own connection, so a command stays on the one that it wrote on.
        let mut used = [const { None }; 2];
        while let Next::Send(send) = next {
            let connecting =
                used[usize::from(send.own)].get_or_insert_with(|| self.connecting(key, send.own));
            next = machine.on(self.sent(connecting, &send).await?);
        }
        ended(next)
    }

    fn connecting(&self, key: &str, own: bool) -> Connecting {
        self.connected()[usize::from(own)]
            .get_or_insert_with(|| connecting(Arc::clone(&self.store), key.to_owned()))
            .clone()
    }

    async fn sent(&self, connecting: &Connecting, send: &ToSend) -> Result<Answer, LedgerError> {
        // Who stops waiting when most of the time went into connecting leaves the connection to the next command.
        let was_made = connecting.peek().is_some();
        let connection = connecting.clone().await;
        let mut failure = Failure(self, was_made.then(|| connecting.clone()));
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

fn command(texts: &[impl AsRef<str>]) -> Cmd {
    let mut command = Cmd::new();
    for text in texts {
        command.arg(text.as_ref());
    }
    command
}

/// Returns the reply of a store machine that has nothing more to send.
fn ended(next: Next) -> Result<Vec<String>, LedgerError> {
    let failed = match next {
        Next::Done(reply) => return Ok(reply),
        Next::Unfit(why) => return Err(LedgerError::Unfit(why)),
        Next::Failed(why) => why,
        _ => "expected a command to send".into(),
    };
    Err(LedgerError::Unavailable(format!("redis: {failed}")))
}

/// Begins to connect, in a task that goes on if nobody waits any more.
fn connecting(store: Arc<Store>, key: String) -> Connecting {
    let connected = async move {
        let connected = timeout(CONNECT, store.connect(&key)).await;
        let late = |_| LedgerError::Unavailable(format!("redis: no connection in {CONNECT:?}"));
        let (connection, warnings) = connected.map_err(late)??;
        store.warned.call_once(|| {
            for warning in warnings {
                log::warn(&format!("ledger: {warning}"));
            }
        });
        Ok(connection)
    };
    let connecting = connected.boxed().shared();
    drop(tokio::spawn(connecting.clone()));
    connecting
}

impl Store {
    /// Returns a connection whose server has been checked, and which of its settings may lose records.
    async fn connect(&self, key: &str) -> Result<(Arc<dyn Connection>, Vec<String>), LedgerError> {
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

impl Ledger for Redis {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.answer(command).boxed()
    }
}

/// Lets go of this connection, if one is named when it is dropped: the command failed or its caller stopped waiting,
/// and another server may have taken over. It lets go of none that was made since.
struct Failure<'a>(&'a Redis, Option<Connecting>);

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        if let Some(failed) = &self.1 {
            let mut connected = self.0.connected();
            if connected.iter().flatten().any(|it| it.ptr_eq(failed)) {
                *connected = [None, None];
            }
        }
    }
}

fn read<T: redis::FromRedisValue>(answer: Value) -> Result<T, LedgerError> {
    redis::from_redis_value(answer).map_err(|error| failed(error.into()))
}

/// Describes an error without its whole text, which may contain an address or a stored value.
fn failed(error: RedisError) -> LedgerError {
    // An error inside a script has its code in the text.
    let inner = error.detail().and_then(|detail| {
        let mut words = detail.split(|character: char| !character.is_ascii_uppercase());
        words.find(|word| word.len() > 2)
    });
    LedgerError::Unavailable(match (error.code(), inner) {
        (Some("ERR"), Some(inner)) => format!("redis: {}", said(inner)),
        (Some(code), _) => format!("redis: {}", said(code)),
        (None, _) => match cause::code(&error) {
            Some(code) => format!("redis: {} ({code})", error.category()),
            None => format!("redis: {}", error.category()),
        },
    })
}

/// The URL may contain a password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redis")
    }
}

#[cfg(test)]
mod tests {
    use sealwax_mcp::ledger::Script;

    #[test]
    fn the_cores_digests_are_those_of_its_scripts() {
        for script in Script::ALL {
            let found = redis::Script::new(script.lua());
            assert_eq!(script.sha1(), found.get_hash(), "{}", script.name());
        }
    }
}
