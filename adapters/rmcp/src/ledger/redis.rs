//! A ledger in Redis or Valkey.

mod connection;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use redis::{Pipeline, RedisError, Value};
use sealwax_mcp::ledger::Fitness;
use sealwax_mcp::ledger::redis::{Answer, Next, Redis as Dialogues, Send};
use tokio::time::timeout;

use self::connection::{Connection, Source};
use super::{Command, Ledger, LedgerError, Reply, Script};
use crate::refusal::said;

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
    connected: Mutex<Connected>,
    dialogues: Dialogues,
}

/// The server, and what the log was told of it.
struct Store {
    source: Source,
    warned: Once,
}

#[derive(Default)]
struct Connected {
    shared: Option<Connecting>,
    /// For commands that a replica should confirm.
    confirmed: Option<Connecting>,
}

/// A connection that is being made, or was made. All who wait for it share it.
type Connecting = Shared<BoxFuture<'static, Result<Connection, LedgerError>>>;

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
        Self::of(Source::Server(Box::new(client)))
    }

    /// Makes a ledger in a Cluster. The records of one service are on one node.
    #[cfg(feature = "redis-cluster")]
    #[must_use]
    pub fn cluster(client: redis::cluster::ClusterClient) -> Self {
        Self::of(Source::Cluster(Box::new(client)))
    }

    fn of(source: Source) -> Self {
        Self {
            store: Arc::new(Store {
                source,
                warned: Once::new(),
            }),
            connected: Mutex::default(),
            dialogues: Dialogues::new(true),
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

    /// Returns what connects to a server whose settings have been checked, and is done with that if it has before.
    fn connecting(&self, key: &str, confirmed: bool) -> Connecting {
        let begin = || connecting(Arc::clone(&self.store), key.to_owned());
        let mut connected = self.connected();
        connected.place(confirmed).get_or_insert_with(begin).clone()
    }

    fn connected(&self) -> MutexGuard<'_, Connected> {
        let connected = self.connected.lock();
        connected.unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, command: &Command) -> Result<Vec<String>, LedgerError> {
        let key = command.keys.first().map_or("", String::as_str);
        // Each connection has been checked.
        let (mut dialogue, mut next) = self.dialogues.begin(command.clone(), true);
        loop {
            next = match next {
                Next::Send(send) => dialogue.on(self.sent(key, &send).await?),
                Next::Done(reply) => return Ok(reply),
                Next::Unfit(why) => return Err(LedgerError::Unfit(why)),
                Next::Failed(why) => return Err(LedgerError::Unavailable(format!("redis: {why}"))),
                _ => {
                    return Err(LedgerError::Unavailable(
                        "redis: expected a command to send".into(),
                    ));
                }
            };
        }
    }

    async fn sent(&self, key: &str, send: &Send) -> Result<Answer, LedgerError> {
        let connecting = self.connecting(key, send.own);
        // Who stops waiting for a connection leaves it to the next command.
        let connection = connecting.clone().await;
        let failure = Failure(self, Some(connecting));
        let mut connection = connection?;
        let mut command = redis::cmd(&send.args[0]);
        let answer = command
            .arg(&send.args[1..])
            .query_async(&mut connection)
            .await;
        let answer = match answer {
            Ok(Value::Int(number)) => Answer::Number(number),
            Ok(answer @ Value::Array(_)) => Answer::Texts(read(answer)?),
            Ok(answer) => Answer::Text(read(answer)?),
            Err(error) => {
                let error = code(error)?;
                // What a script lacks is no failure of its server.
                if error.starts_with("NOSCRIPT") {
                    failure.none();
                }
                return Ok(Answer::Error(error));
            }
        };
        failure.none();
        Ok(answer)
    }
}

impl Connected {
    fn place(&mut self, confirmed: bool) -> &mut Option<Connecting> {
        match confirmed {
            true => &mut self.confirmed,
            false => &mut self.shared,
        }
    }
}

/// Begins to connect, in a task that goes on if nobody waits any more.
fn connecting(store: Arc<Store>, key: String) -> Connecting {
    let connected = async move {
        let connected = timeout(CONNECT, store.connect(&key)).await;
        let late = |_| LedgerError::Unavailable(format!("redis: no connection in {CONNECT:?}"));
        let (connection, warnings) = connected.map_err(late)??;
        store.warned.call_once(|| {
            for warning in warnings {
                tracing::warn!("ledger: {warning}");
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
    async fn connect(&self, key: &str) -> Result<(Connection, Vec<String>), LedgerError> {
        let mut connection = self.source.connect().await.map_err(failed)?;
        // In a Cluster, this asks the node of the key.
        let mut asked = Pipeline::new();
        asked.cmd("EXISTS").arg(key).ignore().cmd("INFO");
        let (info,): (String,) = asked.query_async(&mut connection).await.map_err(failed)?;
        let Fitness {
            refused, warned, ..
        } = Fitness::of(&info);
        if refused.is_empty() {
            self.load(&mut connection).await;
            let warned = warned.into_iter().map(Into::into).collect();
            return Ok((connection, warned));
        }
        Err(LedgerError::Unfit(refused.join("; ")))
    }

    /// Loads the scripts, because a command that has to send its own waits twice. If that is not allowed, it does.
    async fn load(&self, connection: &mut Connection) {
        let mut load = Pipeline::new();
        for script in Script::ALL {
            load.cmd("SCRIPT").arg("LOAD").arg(script.lua()).ignore();
        }
        if let Source::Server(_) = self.source {
            let _: Result<(), _> = load.query_async(connection).await;
        }
    }
}

impl Ledger for Redis {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.answer(command).boxed()
    }
}

/// Lets go of the connection when it is dropped, unless `none` was called: the command failed or its caller stopped waiting,
/// and another server may have taken over. It lets go of none that was made since.
struct Failure<'a>(&'a Redis, Option<Connecting>);

impl Failure<'_> {
    fn none(mut self) {
        self.1 = None;
    }
}

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        let Some(failed) = &self.1 else {
            return;
        };
        let mut connected = self.0.connected();
        let places = [&connected.shared, &connected.confirmed];
        if places.into_iter().flatten().any(|it| it.ptr_eq(failed)) {
            *connected = Connected::default();
        }
    }
}

fn read<T: redis::FromRedisValue>(answer: Value) -> Result<T, LedgerError> {
    redis::from_redis_value(answer).map_err(|error| failed(error.into()))
}

/// Returns an error of the server as it sent it; any other is the connection's.
fn code(error: RedisError) -> Result<String, LedgerError> {
    match error.code() {
        Some(code) => Ok(format!("{code} {}", error.detail().unwrap_or_default())),
        None => Err(failed(error)),
    }
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
        (None, _) => format!("redis: {}", error.category()),
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
