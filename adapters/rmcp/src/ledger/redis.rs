//! A ledger in Redis or Valkey.

mod connection;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Once};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, ServerErrorKind};
use sealwax_mcp::ledger::Fitness;
use tokio::sync::Mutex;

use self::connection::{Connection, Source};
use super::{Command, Ledger, LedgerError, Reply, Script};
use crate::refusal::said;

/// The time limit for a replica's confirmation, in milliseconds: less than the guard's limit for a command.
const WAIT: usize = 200;

/// A ledger in Redis 6.2 or later, or in Valkey: for a fleet.
///
/// It opens two connections when they are needed, and opens them again after any failure. The second one is for ends
/// and revocations: a replica confirms them by `WAIT`, which would delay other commands. Each new connection checks
/// the server's settings, and refuses a server that would forget ([`LedgerError::Unfit`]).
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
    source: Source,
    connected: Mutex<Connected>,
    /// Set if a command failed or its caller stopped waiting: another server may have taken over.
    failed: AtomicBool,
    /// Set if a replica must confirm every command, because nothing distinguishes one server from the next.
    must_confirm: AtomicBool,
    warned: Once,
}

#[derive(Default)]
struct Connected {
    shared: Option<Connection>,
    /// For commands that a replica should confirm.
    confirmed: Option<Connection>,
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
            source,
            connected: Mutex::default(),
            failed: AtomicBool::default(),
            must_confirm: AtomicBool::default(),
            warned: Once::new(),
        }
    }

    /// Returns which of the server's settings may lose records, and when; empty is best.
    ///
    /// # Errors
    ///
    /// [`LedgerError::Unfit`] for a server that would forget; [`LedgerError::Unavailable`] if it does not answer.
    pub async fn check(&self) -> Result<Vec<String>, LedgerError> {
        let mut connection = self.source.connect().await.map_err(failed)?;
        self.fit(&mut connection, "swl1:began").await
    }

    async fn fit(
        &self,
        connection: &mut Connection,
        key: &str,
    ) -> Result<Vec<String>, LedgerError> {
        // In a Cluster, this asks the node of the key.
        let mut asked = Pipeline::new();
        asked.cmd("EXISTS").arg(key).ignore().cmd("INFO");
        let (info,): (String,) = asked.query_async(connection).await.map_err(failed)?;
        let Fitness {
            refused, warned, ..
        } = Fitness::of(&info);
        if refused.is_empty() {
            return Ok(warned.into_iter().map(Into::into).collect());
        }
        Err(LedgerError::Unfit(refused.join("; ")))
    }

    /// Returns a connection to a server whose settings have been checked.
    async fn connection(&self, key: &str, confirmed: bool) -> Result<Connection, LedgerError> {
        let mut connected = self.connected.lock().await;
        if self.failed.swap(false, Ordering::Relaxed) {
            *connected = Connected::default();
        }
        let place = match confirmed {
            true => &mut connected.confirmed,
            false => &mut connected.shared,
        };
        if let Some(connection) = place {
            return Ok(connection.clone());
        }
        let mut connection = self.source.connect().await.map_err(failed)?;
        let warnings = self.fit(&mut connection, key).await?;
        self.warned.call_once(|| {
            for warning in warnings {
                tracing::warn!("ledger: {warning}");
            }
        });
        Ok(place.insert(connection).clone())
    }

    async fn answer(&self, command: &Command) -> Result<Vec<String>, LedgerError> {
        let failure = Failure(self);
        let key = command.keys.first().map_or("", String::as_str);
        let must_confirm = self.must_confirm.load(Ordering::Relaxed);
        let confirmed = must_confirm || ends(command);
        let mut connection = self.connection(key, confirmed).await?;
        let mut reply = match must_confirm {
            true => wait(&mut connection, command).await,
            false => send(&mut connection, command).await,
        }
        .map_err(failed)?;
        let asks = matches!(&reply[..], [ok, .., confirms] if ok == "ok" && confirms != "0");
        if command.script == Script::Open && reply.first().is_some_and(|verdict| verdict == "ok") {
            let must = reply.last().is_some_and(|confirms| confirms == "2");
            self.must_confirm.store(must, Ordering::Relaxed);
        } else if asks && !must_confirm {
            // Sending the same attempt again is no second use. `WAIT` covers only commands of its own connection.
            reply = wait(&mut connection, command).await.map_err(failed)?;
        }
        failure.none();
        Ok(reply)
    }
}

impl Ledger for Redis {
    fn run<'a>(&'a self, command: &'a Command) -> BoxFuture<'a, Reply> {
        self.answer(command).boxed()
    }
}

/// Records a failure when it is dropped, unless `none` was called.
struct Failure<'a>(&'a Redis);

impl Failure<'_> {
    fn none(self) {
        std::mem::forget(self);
    }
}

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        self.0.failed.store(true, Ordering::Relaxed);
    }
}

/// Returns whether a replica may have to confirm the command.
fn ends(command: &Command) -> bool {
    let ends = |argument: &String| argument == "end" || argument == "force";
    command.script == Script::Revoke || command.args.iter().any(ends)
}

async fn send(connection: &mut Connection, command: &Command) -> Result<Vec<String>, RedisError> {
    match eval(command, true).query_async(connection).await {
        Err(error) if is_unknown(&error) => eval(command, false).query_async(connection).await,
        reply => reply,
    }
}

/// Runs a command, and waits until a replica has it, on one connection.
async fn wait(connection: &mut Connection, command: &Command) -> Result<Vec<String>, RedisError> {
    let query = async |known, connection: &mut Connection| {
        let mut both = Pipeline::new();
        both.add_command(eval(command, known));
        both.cmd("WAIT").arg(1).arg(WAIT);
        both.query_async::<(Vec<String>, usize)>(connection).await
    };
    let (mut reply, replicas) = match query(true, connection).await {
        Err(error) if is_unknown(&error) => query(false, connection).await,
        reply => reply,
    }?;
    if replicas == 0 && reply.first().is_some_and(|verdict| verdict == "ok") {
        reply.push("unconfirmed".into());
    }
    Ok(reply)
}

/// Calls the script by its digest, or sends it whole.
fn eval(command: &Command, known: bool) -> Cmd {
    let mut eval = match known {
        true => redis::cmd("EVALSHA"),
        false => redis::cmd("EVAL"),
    };
    match known {
        true => eval.arg(digest(command.script)),
        false => eval.arg(command.script.lua()),
    };
    eval.arg(command.keys.len())
        .arg(&command.keys)
        .arg(&command.args);
    eval
}

/// Returns the digest of a script. It is computed once, because a script has kilobytes.
fn digest(script: Script) -> Option<&'static str> {
    static SCRIPTS: LazyLock<[(Script, redis::Script); 4]> =
        LazyLock::new(|| Script::ALL.map(|one| (one, redis::Script::new(one.lua()))));
    let mut named = SCRIPTS.iter().filter(|(one, _)| *one == script);
    named.next().map(|(_, found)| found.get_hash())
}

fn is_unknown(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
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
