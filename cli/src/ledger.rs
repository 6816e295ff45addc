//! `sealwax ledger`: an operator's commands for the ledger of a fleet (LEDGER.md).

use std::borrow::Cow;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use redis::{Client, Connection, Value};
use rusqlite::OpenFlags;
use sealwax::{Environment as _, Error, Principal, System, report};
use sealwax_mcp::LedgerSettings;
use sealwax_mcp::ledger::redis::{Answer, Next, Redis};
use sealwax_mcp::ledger::{Command, Done, Fitness, Namespace, RecordKind, Reply, Sqlite, sqlite};

use super::Failure;
use crate::args::{EndedKind, LedgerAction, LedgerArgs};

/// The time limit to connect to a store, and for a command.
const TIMEOUT: Duration = Duration::from_secs(5);

const EXPECTED_URL: &str = "URL: expected redis://HOST, rediss://HOST or sqlite:PATH";

pub fn run(action: &LedgerAction) -> Result<String, Failure> {
    match action {
        LedgerAction::Begin {
            at,
            clock_tolerance,
        } => {
            let mut store = Store::connect(at, true)?;
            let done = store.run(namespace(at).open())?;
            let settings = LedgerSettings {
                clock_tolerance: clock_tolerance.map(Duration::from_secs),
                local: matches!(store, Store::Sqlite(..)),
                ..LedgerSettings::default()
            };
            sleep(until_known(&done, settings.clock_tolerance()));
            Ok("begun".into())
        }
        LedgerAction::Check(at) => check(at),
        LedgerAction::Revoke {
            at,
            principal,
            retain_for,
        } => {
            let principal: Principal = super::principal(principal)?;
            let retain_for = retain_for.map(Duration::from_secs);
            let mut store = Store::begun(at)?;
            store.run(namespace(at).revoke(&principal, retain_for)?)?;
            Ok("revoked: whatever of this principal began until now".into())
        }
        LedgerAction::End {
            at,
            kind,
            id,
            retain_for,
        } => {
            let until = retain_for.map(|seconds| System.now_ms() / 1000 + seconds);
            let command = namespace(at).end(kinds(*kind), id, until)?;
            let mut store = Store::begun(at)?;
            store.run(command)?;
            Ok(format!("ended: {id}"))
        }
    }
}

/// Returns how long a ledger that replied this to `open` may refuse what is sealed now: a replica's
/// clock may be behind the store's by the clock tolerance, and must then be past it.
fn until_known(done: &Done, clock_tolerance: Duration) -> Duration {
    let Some(opened) = done.opened else {
        return Duration::ZERO;
    };
    let known = opened.began.max(opened.since) + 2 * clock_tolerance.as_secs() + 1;
    Duration::from_secs(known.saturating_sub(opened.now))
}

/// Returns the kinds that the log calls by this name: sessions of both layers are `session` there,
/// and their ids are random.
fn kinds(kind: EndedKind) -> &'static [RecordKind] {
    match kind {
        EndedKind::RequestState => &[RecordKind::RequestState],
        EndedKind::Handle => &[RecordKind::Handle],
        EndedKind::HandleState => &[RecordKind::HandleState],
        EndedKind::Session => &[RecordKind::Session, RecordKind::Transport],
    }
}

fn namespace(at: &LedgerArgs) -> Namespace {
    Namespace::new(&at.audience, &at.label)
}

fn check(at: &LedgerArgs) -> Result<String, Failure> {
    let mut store = Store::connect(at, false)?;
    let (what, warned) = store.check()?;
    let mut report = vec![format!("store: {what}"), "fit: yes".into()];
    report.extend(warned.iter().map(|why| format!("warning: {why}")));
    let namespace = namespace(at);
    match store.get(&namespace.began())? {
        None => report.push(
            "remembers since: never, for no server of this audience and label has used it".into(),
        ),
        Some(began) => {
            report.push(format!("remembers since: {}", moment(&began)));
            let fence = store.get(&namespace.fence())?.unwrap_or_default();
            let since = fence.split(' ').next().unwrap_or_default();
            report.push(format!("without a gap since: {}", moment(since)));
        }
    }
    Ok(report.join("\n"))
}

fn moment(digits: &str) -> String {
    match digits.parse() {
        Ok(seconds) => report::moment(seconds),
        Err(_) => format!("not a time: {digits:?}"),
    }
}

enum Store {
    Redis(Box<Connection>),
    Sqlite(Box<rusqlite::Connection>, String),
}

impl Store {
    /// Connects to a store; only `begin` may create one.
    fn connect(at: &LedgerArgs, makes: bool) -> Result<Self, Failure> {
        let url = match &at.url {
            Some(url) => url.clone(),
            None => std::env::var("SEALWAX_LEDGER").map_err(|_| {
                let why = format!("{EXPECTED_URL}, here or in SEALWAX_LEDGER");
                Error::InvalidArgument(why.into())
            })?,
        };
        if let Some(path) = url.strip_prefix("sqlite:") {
            if makes {
                Sqlite::open(path)?;
            } else if !Path::new(path).exists() {
                return Err(Failure::missing(path));
            }
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let file = rusqlite::Connection::open_with_flags(path, flags)?;
            return Ok(Self::Sqlite(Box::new(file), path.into()));
        }
        if url.starts_with("rediss://") {
            // Fails only if a provider is already installed.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let client = Client::open(url).map_err(|error| {
            let why = format!("{EXPECTED_URL}, found none of these: {error}");
            Error::InvalidArgument(why.into())
        })?;
        let connection = client.get_connection_with_timeout(TIMEOUT)?;
        connection.set_read_timeout(Some(TIMEOUT))?;
        connection.set_write_timeout(Some(TIMEOUT))?;
        Ok(Self::Redis(Box::new(connection)))
    }

    /// Connects to a store where a ledger has begun: servers would not see a mark in any other.
    fn begun(at: &LedgerArgs) -> Result<Self, Failure> {
        let mut store = Self::connect(at, false)?;
        if store.get(&namespace(at).began())?.is_none() {
            return Err(Error::InvalidArgument(
                "URL: expected a ledger that a server of this audience and label has used, found \
                 none: check the URL, --audience and --label"
                    .into(),
            )
            .into());
        }
        Ok(store)
    }

    /// Returns what the store is, and what it may forget; fails if it is not fit.
    fn check(&mut self) -> Result<(String, Vec<Cow<'static, str>>), Failure> {
        let connection = match self {
            Self::Redis(connection) => connection,
            Self::Sqlite(file, _) => {
                let mode: String = file.query_row("PRAGMA journal_mode", (), |row| row.get(0))?;
                let found: String = file.query_row("PRAGMA quick_check", (), |row| row.get(0))?;
                let version = rusqlite::version();
                let what = format!("SQLite {version}, {mode}, quick_check: {found}");
                return Ok((what, Vec::new()));
            }
        };
        let info: String = redis::cmd("INFO").query(connection)?;
        let value = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|rest| rest.strip_prefix(':'))
        };
        let version = match value("valkey_version") {
            Some(version) => format!("Valkey {version}"),
            None => format!("Redis {}", value("redis_version").unwrap_or("?")),
        };
        let role = value("role").unwrap_or("?");
        let replicas = value("connected_slaves").unwrap_or("?");
        let found = Fitness::of(&info);
        if !found.refused.is_empty() {
            return Err(Failure::unfit(found.refused.join("; ")));
        }
        Ok((
            format!("{version}, {role}, replicas: {replicas}"),
            found.warned,
        ))
    }

    fn get(&mut self, key: &str) -> Result<Option<String>, Failure> {
        match self {
            Self::Redis(connection) => Ok(redis::cmd("GET").arg(key).query(connection)?),
            Self::Sqlite(file, _) => {
                let now: i64 = file.query_row(sqlite::NOW, (), |row| row.get(0))?;
                let found = file.query_row(sqlite::READ, (key, now), |row| row.get(0));
                match found {
                    Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
                    found => Ok(Some(found?)),
                }
            }
        }
    }

    /// Runs a command, which must be done and confirmed.
    fn run(&mut self, mut command: Command) -> Result<Done, Failure> {
        command.within = TIMEOUT;
        let script = command.script;
        let texts = match self {
            Self::Sqlite(_, path) => Sqlite::open(Path::new(path))?.run(&command)?,
            Self::Redis(connection) => dialogue(connection, command)?,
        };
        match Reply::of(script, &texts) {
            Reply::Done(done) if done.unconfirmed => Err(Failure::unfit(
                "it was written, but no replica confirmed it: a fail-over would forget it",
            )),
            Reply::Done(done) => Ok(done),
            _ => {
                let found = texts.first().map_or("nothing", String::as_str);
                Err(Failure::unfit(format!("expected ok, found {found}")))
            }
        }
    }
}

/// Runs a command on a server whose fitness is checked.
fn dialogue(connection: &mut Connection, command: Command) -> Result<Vec<String>, Failure> {
    // Nothing else uses this connection.
    let store = Redis::new(true);
    let (mut dialogue, mut next) = store.begin(command, false);
    loop {
        let send = match next {
            Next::Send(send) => send,
            Next::Done(reply) => return Ok(reply),
            Next::Unfit(why) => return Err(Failure::unfit(why)),
            Next::Failed(why) => return Err(Failure::store(&why)),
            _ => {
                return Err(Failure::store(
                    &"expected a command to send, found another step",
                ));
            }
        };
        let answer = redis::cmd(&send.args[0])
            .arg(&send.args[1..])
            .query(connection);
        next = dialogue.on(match answer {
            Ok(Value::Int(number)) => Answer::Number(number),
            Ok(answer @ Value::Array(_)) => {
                Answer::Texts(redis::from_redis_value(answer).map_err(redis::RedisError::from)?)
            }
            Ok(answer) => {
                Answer::Text(redis::from_redis_value(answer).map_err(redis::RedisError::from)?)
            }
            Err(error) => match error.code() {
                Some(code) => Answer::Error(format!("{code} {}", error.detail().unwrap_or(""))),
                None => return Err(error.into()),
            },
        });
    }
}
