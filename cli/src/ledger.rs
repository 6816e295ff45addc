//! `ledger`: an operator's commands for the ledger of a fleet (LEDGER.md).

use std::borrow::Cow;
use std::time::Duration;

use sealwax::report;
use sealwax_mcp::LedgerSettings;
use sealwax_mcp::ledger::redis::{self, Next, Redis, StoreMachine};
use sealwax_mcp::ledger::{Command, Namespace, Opened, Preflight, RecordKind, Reply, sqlite};

use crate::failure::Failure;
use crate::input::{Input, Stop};
use crate::options::wrong;
use crate::step::{Answer, Ask, Done};

const EXPECTED_URL: &str = "expected redis://HOST, rediss://HOST or sqlite:PATH";

/// The kinds by their names in the log. Sessions of both layers are `session` there, and their ids are random.
const KINDS: [(&str, &[RecordKind]); 4] = [
    ("request-state", &[RecordKind::RequestState]),
    ("handle", &[RecordKind::Handle]),
    ("handle-state", &[RecordKind::HandleState]),
    ("session", &[RecordKind::Session, RecordKind::Transport]),
];

pub(crate) fn begin(input: &Input<'_>) -> Result<Done, Stop> {
    let clock_tolerance = input.options().clock_tolerance()?;
    let store = Store::of(input)?;
    let opened = store.run(store.namespace.open())?;
    let settings = LedgerSettings {
        clock_tolerance,
        local: matches!(store.place, Place::File(_)),
        ..LedgerSettings::default()
    };
    Ok(Done {
        wait: opened.map_or(0, |opened| until_known(opened, settings.clock_tolerance())),
        ..Done::line("begun")
    })
}

/// Returns how long, in seconds, a ledger that replied this to `open` may refuse what is sealed now: a replica's clock
/// may be behind the store's by the clock tolerance, and must then be past it.
fn until_known(opened: Opened, clock_tolerance: Duration) -> u64 {
    let known = opened.began.max(opened.since) + 2 * clock_tolerance.as_secs() + 1;
    known.saturating_sub(opened.now)
}

pub(crate) fn revoke(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let principal = options.principal()?;
    let retain_for = options.duration("retain-for", 1, u64::MAX)?;
    let now = input.now_ms()? / 1000;
    let store = Store::of(input)?;
    let revoke = store
        .namespace
        .revoke(&principal, retain_for.map(Duration::from_secs), now)?;
    store.expect_begun()?;
    store.run(revoke)?;
    Ok(Done::line(
        "revoked: whatever of this principal began until now\n\
         It is not known here whether there is such a principal: compare issuer, client and subject with the log.",
    ))
}

pub(crate) fn end(input: &Input<'_>) -> Result<Done, Stop> {
    let options = input.options();
    let retain_for = options.duration("retain-for", 1, u64::MAX)?;
    let now = input.now_ms()? / 1000;
    let until = retain_for.map(|seconds| now.saturating_add(seconds));
    let kind = options.required("kind")?;
    let Some((_, kinds)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        let expected = "expected request-state, handle, handle-state or session";
        return Err(wrong("kind", &format!("{expected}, found {kind:?}")).into());
    };
    let id = options.required("id")?;
    let store = Store::of(input)?;
    let end = store.namespace.end(kinds, id, until)?;
    store.expect_begun()?;
    store.run(end)?;
    Ok(Done::line(format!("ended: {id}")))
}

pub(crate) fn check(input: &Input<'_>) -> Result<Done, Stop> {
    let store = Store::of(input)?;
    let (what, warned) = store.check()?;
    let mut report = format!("store: {what}\nfit: yes");
    for why in warned {
        report.push_str("\nwarning: ");
        report.push_str(&why);
    }
    match store.get(store.namespace.began())? {
        None => report.push_str(
            "\nremembers since: never, for no server of this audience and label has used it",
        ),
        Some(began) => {
            let fence = store.get(store.namespace.fence())?.unwrap_or_default();
            let since = fence.split(' ').next().unwrap_or_default();
            report.push_str(&format!(
                "\nremembers since: {}\nwithout a gap since: {}",
                moment(&began),
                moment(since)
            ));
        }
    }
    Ok(Done::line(report))
}

fn moment(digits: &str) -> String {
    match digits.parse() {
        Ok(seconds) => report::moment(seconds),
        Err(_) => format!("not a time: {digits:?}"),
    }
}

/// The store of a ledger.
struct Store<'a> {
    input: &'a Input<'a>,
    namespace: Namespace,
    place: Place,
}

enum Place {
    /// The URL of a Redis or a Valkey.
    Server(String),
    /// The path of a file of SQLite.
    File(String),
}

impl<'a> Store<'a> {
    fn of(input: &'a Input<'a>) -> Result<Self, Failure> {
        let options = input.options();
        let audience = options.required("audience")?;
        let given = options
            .text("url")
            .or_else(|| input.variable("SEALWAX_LEDGER"));
        let Some(url) = given else {
            return Err(wrong(
                "url",
                &format!("{EXPECTED_URL}, here or in SEALWAX_LEDGER"),
            ));
        };
        Ok(Self {
            input,
            namespace: Namespace::new(audience, options.text("label").unwrap_or_default()),
            place: Place::of(url).ok_or_else(no_url)?,
        })
    }

    /// Expects a ledger that has begun: servers would not see a revocation in any other.
    fn expect_begun(&self) -> Result<(), Stop> {
        if self.get(self.namespace.began())?.is_some() {
            return Ok(());
        }
        let why = "expected a ledger that a server of this audience and label has used, found none: \
             check the URL, --audience and --label";
        Err(wrong("url", why).into())
    }

    /// Returns what the store is, and what it may forget; fails if it is not fit.
    fn check(&self) -> Result<(String, Vec<Cow<'static, str>>), Stop> {
        if let Place::File(_) = self.place {
            let mut said = Vec::new();
            for sql in [
                "SELECT sqlite_version()",
                "PRAGMA journal_mode",
                "PRAGMA quick_check",
            ] {
                said.push(self.query(sql, Vec::new())?.unwrap_or_default());
            }
            if said[2] != "ok" {
                let why = format!("quick_check: expected ok, found {}", said[2]);
                return Err(Failure::unfit(why).into());
            }
            let what = format!("SQLite {}, {}, quick_check: ok", said[0], said[1]);
            return Ok((what, Vec::new()));
        }
        let info = self.send_for_text(vec!["INFO".into()])?.unwrap_or_default();
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
        let found = Preflight::of(&info);
        if !found.refused.is_empty() {
            return Err(Failure::unfit(found.refused.join("; ")).into());
        }
        Ok((
            format!("{version}, {role}, replicas: {replicas}"),
            found.warned,
        ))
    }

    fn get(&self, key: String) -> Result<Option<String>, Stop> {
        match &self.place {
            Place::Server(_) => self.send_for_text(vec!["GET".into(), key]),
            Place::File(_) => {
                let now = self.query(sqlite::NOW, Vec::new())?.unwrap_or_default();
                self.query(sqlite::READ, vec![key, now])
            }
        }
    }

    /// Runs a command, which must be done and confirmed; returns the times of a ledger that was opened.
    fn run(&self, command: Command) -> Result<Option<Opened>, Stop> {
        let script = command.script;
        let texts = match &self.place {
            Place::Server(_) => self.machine(command)?,
            Place::File(path) => {
                let (sqlite, run) = (path.clone(), command);
                match self.input.ask(Ask::Run { sqlite, run })? {
                    Answer::Store(redis::Answer::Texts(texts)) => texts.clone(),
                    other => return Err(self.unanswered(other).into()),
                }
            }
        };
        match Reply::of(script, &texts) {
            Reply::Done(done) if done.unconfirmed => Err(Failure::unfit(
                "it was written, but no replica confirmed it: a fail-over would forget it",
            )
            .into()),
            Reply::Done(done) => Ok(done.opened),
            _ => {
                let found = texts.first().map_or("nothing", String::as_str);
                Err(Failure::unfit(format!("expected ok, found {found}")).into())
            }
        }
    }

    /// Checks the server, and runs a command on it.
    fn machine(&self, command: Command) -> Result<Vec<String>, Stop> {
        // Nothing else uses this connection.
        let redis = Redis::new(true);
        self.talk(redis.check())?;
        self.talk(redis.begin(command))
    }

    fn talk(&self, (mut machine, mut next): (StoreMachine, Next)) -> Result<Vec<String>, Stop> {
        loop {
            let send = match next {
                Next::Send(send) => send.args.into_iter().map(Cow::into_owned).collect(),
                Next::Done(reply) => return Ok(reply),
                Next::Unfit(why) => return Err(Failure::unfit(why).into()),
                Next::Failed(why) => return Err(Failure::store(why).into()),
                _ => return Err(Failure::store("expected another step").into()),
            };
            next = match self.send(send)? {
                Answer::Store(answer) => machine.on(answer.clone()),
                other => return Err(self.unanswered(other).into()),
            };
        }
    }

    fn send_for_text(&self, command: Vec<String>) -> Result<Option<String>, Stop> {
        match self.send(command)? {
            Answer::Store(redis::Answer::Text(text)) => Ok(Some(text.clone())),
            Answer::Absent => Ok(None),
            other => Err(self.unanswered(other).into()),
        }
    }

    fn send(&self, send: Vec<String>) -> Result<&'a Answer, Stop> {
        let (Place::Server(url) | Place::File(url)) = &self.place;
        let redis = url.clone();
        self.input.ask(Ask::Redis { redis, send })
    }

    fn query(&self, sql: &str, parameters: Vec<String>) -> Result<Option<String>, Stop> {
        let (Place::Server(path) | Place::File(path)) = &self.place;
        let query = Ask::Query {
            sqlite: path.clone(),
            query: sql.into(),
            parameters,
        };
        match self.input.ask(query)? {
            Answer::Store(redis::Answer::Texts(row)) => Ok(row.first().cloned()),
            other => Err(self.unanswered(other).into()),
        }
    }

    fn unanswered(&self, answer: &Answer) -> Failure {
        match (answer, &self.place) {
            (Answer::Invalid, _) => no_url(),
            (Answer::Absent, Place::File(path)) => Failure::no_ledger(path),
            (Answer::Store(redis::Answer::Error(error)), _) => {
                let mut words = error.split(' ');
                match (words.next(), words.nth(1)) {
                    (Some("MOVED"), Some(node)) => {
                        let found = format!(
                            "expected the node of a Cluster that has the ledger, found another: MOVED to {node}"
                        );
                        Failure::store(found).tip("give the URL of that node")
                    }
                    (code, _) => {
                        let code = code.unwrap_or_default();
                        Failure::store(format!("expected an answer, found {code}"))
                    }
                }
            }
            (Answer::Failed { why, tip }, _) => {
                let failure = Failure::store(why);
                match tip {
                    Some(tip) => failure.tip(tip),
                    None => failure,
                }
            }
            _ => Failure::store("expected another answer"),
        }
    }
}

impl Place {
    fn of(url: &str) -> Option<Self> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            return Some(Self::File(path.into()));
        }
        let (scheme, rest) = url.split_once(':')?;
        let scheme = match scheme {
            "redis" | "valkey" => "redis",
            "rediss" | "valkeys" => "rediss",
            "unix" | "redis+unix" | "valkey+unix" => "unix",
            _ => return None,
        };
        Some(Self::Server(format!("{scheme}:{rest}")))
    }
}

/// The URL is not repeated, because it may hold a password.
fn no_url() -> Failure {
    wrong("url", &format!("{EXPECTED_URL}, found none of these"))
}
