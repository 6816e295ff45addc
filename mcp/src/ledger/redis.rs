//! The store machine with a Redis or a Valkey, without input and output: a check of the server, and one about each command.
//!
//! A store's client sends what [`Next::Send`] says and reports the answer to [`StoreMachine::on`], until
//! [`Next::Done`]. A store machine sends a script whole if the server does not have it, and has a replica confirm what must
//! survive a fail-over.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::{Command, Confirmation, Preflight, Reply, Script};
use crate::message::members::Millis;

/// One store, between its commands. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Redis(Arc<State>);

#[derive(Debug)]
struct State {
    /// Whether its client can keep a connection for the commands that a replica confirms.
    waits: bool,
    /// Whether a replica must confirm every command, because a fail-over would not be noticed.
    must_confirm: AtomicBool,
}

/// The store machine about one command, or a check. Dropping it at any time is harmless: the same attempt can be sent
/// again.
#[derive(Debug)]
pub struct StoreMachine {
    store: Arc<State>,
    /// None of a check.
    command: Option<Command>,
    phase: Phase,
    /// Whether it uses the connection for commands that a replica confirms.
    own: bool,
    warned: Vec<Cow<'static, str>>,
}

#[derive(Debug)]
enum Phase {
    Checking,
    Running { whole: bool },
    Waiting { reply: Vec<String> },
    Over,
}

/// What a store's client does next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Send a command, and report its answer.
    Send(Send),
    /// The ledger's reply, as LEDGER.md defines it.
    Done(Vec<String>),
    /// The server must not be used, and why.
    Unfit(String),
    /// The server failed, and how; the text has no address and no password.
    Failed(String),
}

/// A command to send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Send {
    /// The command's name and its arguments.
    pub args: Vec<Cow<'static, str>>,
    /// Whether it is sent on a connection for commands that a replica confirms, the same for a whole
    /// store machine. `WAIT` blocks that connection, and covers what was written on it, so what need not
    /// be confirmed has another one. Machines may share it, and then wait for each other.
    pub own: bool,
}

/// How a command is sent without a store machine, where `own` is false: this, the number of keys, keys and arguments. The server is
/// checked as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Plain {
    /// The beginning of the command.
    pub send: [&'static str; 2],
    /// The answer that is the ledger's reply. With any other, begin a store machine, and report it in place of the answer to the first
    /// command, if that is not `own`.
    pub passes: [&'static str; 2],
}

/// A server's answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "RedisAnswer"))]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    /// An array; its items as texts.
    Texts(Vec<String>),
    /// A text.
    Text(String),
    /// An integer.
    Number(i64),
    /// An error of the server, as it sent it.
    Error(String),
}

impl Redis {
    /// Makes the state for a store. `waits` says whether its client can keep a connection of its own
    /// for commands that a replica confirms.
    #[must_use]
    pub fn new(waits: bool) -> Self {
        Self(Arc::new(State {
            waits,
            must_confirm: AtomicBool::new(false),
        }))
    }

    /// Begins to check a server: whenever the client has connected, since another one may answer then, and after a failure.
    #[must_use]
    pub fn check(&self) -> (StoreMachine, Next) {
        let machine = self.machine(None, Phase::Checking);
        let next = machine.send(vec!["INFO".into()]);
        (machine, next)
    }

    /// Begins the store machine about a command with a server that was checked.
    #[must_use]
    pub fn begin(&self, command: Command) -> (StoreMachine, Next) {
        let State { waits, .. } = *self.0;
        let must_confirm = self.0.must_confirm.load(Ordering::Relaxed);
        // Where nothing can be confirmed, opening tells whether the server is another one by now.
        let unfit = must_confirm && !waits && command.script != Script::Open;
        let own = waits && (must_confirm || command.may_need_a_replica());
        let mut machine = self.machine(Some(command), Phase::Over);
        machine.own = own;
        let next = match unfit {
            true => Next::Unfit(UNFIT.into()),
            false => machine.run(false),
        };
        (machine, next)
    }

    fn machine(&self, command: Option<Command>, phase: Phase) -> StoreMachine {
        StoreMachine {
            store: self.0.clone(),
            command,
            phase,
            own: false,
            warned: Vec::new(),
        }
    }
}

impl StoreMachine {
    /// Reports the answer to what was sent, and returns what is next.
    pub fn on(&mut self, answer: Answer) -> Next {
        match (std::mem::replace(&mut self.phase, Phase::Over), answer) {
            (Phase::Checking, Answer::Text(info)) => {
                let found = Preflight::of(&info);
                self.warned = found.warned;
                match found.refused.is_empty() {
                    true => Next::Done(Vec::new()),
                    false => Next::Unfit(found.refused.join("; ")),
                }
            }
            (Phase::Running { whole: false }, Answer::Error(error))
                if error.contains("NOSCRIPT") =>
            {
                self.run(true)
            }
            (Phase::Running { .. }, Answer::Texts(reply)) => self.replied(reply),
            // A script may run where `WAIT` is not to be had.
            (Phase::Waiting { mut reply }, answer) => {
                if !matches!(answer, Answer::Number(1..)) {
                    reply.push("unconfirmed".into());
                }
                Next::Done(reply)
            }
            (_, Answer::Error(error)) => {
                Next::Failed(format!("expected an answer, found {}", code(&error)))
            }
            _ => Next::Failed("expected the answer of a Redis, found another".into()),
        }
    }

    /// Returns, after a check, what to send then, together: with the scripts there, the first commands take one round trip. A
    /// server may refuse it.
    #[must_use]
    pub fn loads(&self) -> Vec<[&'static str; 3]> {
        let scripts = Script::ALL.map(|script| ["SCRIPT", "LOAD", script.lua()]);
        scripts
            .into_iter()
            .filter(|_| self.command.is_none())
            .collect()
    }

    /// Returns what the check of the server warned of: settings that may lose records.
    #[must_use]
    pub fn warned(&self) -> &[Cow<'static, str>] {
        &self.warned
    }

    /// Returns, after [`Next::Done`], how later commands of this script may be sent without a store machine. If it is `None`, all
    /// later commands take one.
    #[must_use]
    pub fn plain(&self) -> Option<Plain> {
        let script = self.command.as_ref()?.script;
        let may_be = matches!(script, Script::Admit | Script::Commit);
        (may_be && !self.store.must_confirm.load(Ordering::Relaxed)).then(|| Plain {
            send: ["EVALSHA", script.sha1()],
            passes: ["ok", "0"],
        })
    }

    fn send(&self, args: Vec<Cow<'static, str>>) -> Next {
        let own = self.own;
        Next::Send(Send { args, own })
    }

    /// Runs the script by its digest, or sends it whole.
    fn run(&mut self, whole: bool) -> Next {
        let Some(Command {
            script, keys, args, ..
        }) = &self.command
        else {
            return Next::Done(Vec::new());
        };
        self.phase = Phase::Running { whole };
        let (name, text) = match whole {
            true => ("EVAL", script.lua()),
            false => ("EVALSHA", script.sha1()),
        };
        let mut all = vec![name.into(), text.into(), keys.len().to_string().into()];
        all.extend(keys.iter().chain(args).map(|one| Cow::from(one.clone())));
        self.send(all)
    }

    fn replied(&mut self, reply: Vec<String>) -> Next {
        let Some(&Command { script, within, .. }) = self.command.as_ref() else {
            return Next::Done(reply);
        };
        let Reply::Done(done) = Reply::of(script, &reply) else {
            return Next::Done(reply);
        };
        let opens = script == Script::Open;
        let must = done.confirmation == Confirmation::Must;
        if must || opens {
            self.store.must_confirm.store(must, Ordering::Relaxed);
        }
        match done.confirmation {
            Confirmation::No => Next::Done(reply),
            Confirmation::Must if !self.store.waits => Next::Unfit(UNFIT.into()),
            _ if opens => Next::Done(reply),
            _ if !self.store.waits => Next::Done([reply, vec!["unconfirmed".into()]].concat()),
            _ if !self.own => {
                // The same attempt again is no second use, and `WAIT` then covers it.
                self.own = true;
                self.run(false)
            }
            _ => {
                self.phase = Phase::Waiting { reply };
                // The other half is for the script, and for the way.
                let half = (Millis::of(within) / 2).max(1).to_string();
                self.send(vec!["WAIT".into(), "1".into(), half.into()])
            }
        }
    }
}

const UNFIT: &str = "scripts: expected a server that allows INFO in them and tells run_id, master_replid and \
                     evicted_keys, for a fail-over to be noticed; elsewhere a replica must confirm each command, \
                     which takes a connection to one server";

/// Returns the code of a server's error, such as `OOM`, also from within a script; `ERR` has no
/// meaning. The rest of its text may contain a stored value.
fn code(error: &str) -> &str {
    let mut words = error.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .find(|word| {
            let is_code = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
            word.len() > 2 && *word != "ERR" && is_code(word)
        })
        .unwrap_or("an error")
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{Answer, Next, Redis};
    use crate::ledger::{Command, Confirmation, Reply, Script};

    const FIT: &str = "redis_version:7.2.4\r\nrole:master\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n\
                       aof_enabled:0\r\nrun_id:1a\r\nmaster_replid:2b\r\nevicted_keys:0\r\n";

    fn command(script: Script, args: &[&str]) -> Command {
        let args = args.iter().map(|&arg| arg.into()).collect();
        Command::new(script, vec!["swl1:{a}:began".into()], args)
    }

    /// The name of the command to send, and whether the connection is the own one.
    fn sent(next: &Next) -> (&str, bool) {
        match next {
            Next::Send(send) => (&send.args[0], send.own),
            other => panic!("{other:?}"),
        }
    }

    fn texts(reply: &[&str]) -> Answer {
        Answer::Texts(reply.iter().map(|&one| one.into()).collect())
    }

    fn done(reply: &[&str]) -> Next {
        Next::Done(reply.iter().map(|&one| one.into()).collect())
    }

    /// The rest is in vectors/stores.json.
    #[test]
    fn what_a_check_tells_beside_the_vectors() {
        let store = Redis::new(true);
        let (mut check, next) = store.check();
        assert_eq!(sent(&next), ("INFO", false));
        assert_eq!(check.on(Answer::Text(FIT.into())), done(&[]));
        assert!(check.warned()[0].contains("appendonly"));
        let scripts: Vec<_> = check.loads().iter().map(|load| load[2]).collect();
        assert_eq!(scripts, Script::ALL.map(Script::lua));
        assert!(scripts.iter().all(|lua| lua.contains("redis.call")));
        // A server that has the scripts is asked without a store machine, where nothing has to be confirmed.
        let (machine, _) = store.begin(command(Script::Commit, &[]));
        assert_eq!(machine.loads().len(), 0);
        let plain = machine.plain().map(|plain| plain.send[1]);
        assert_eq!(plain, Some("baae2281eb5a39f6ca9d0f25ec4cbdee98cc95ae"));
        let (mut machine, _) = store.begin(command(Script::Admit, &["", "", "", "force"]));
        assert_eq!(sent(&machine.on(texts(&["ok", "2"]))), ("WAIT", true));
        assert_eq!(machine.plain(), None);
    }

    #[test]
    fn a_client_without_a_connection_of_its_own_confirms_nothing() {
        let rest = Redis::new(false);
        let (mut machine, next) = rest.begin(command(Script::Revoke, &[]));
        assert_eq!(sent(&next), ("EVALSHA", false));
        let reply = done(&["ok", "1", "unconfirmed"]);
        assert_eq!(machine.on(texts(&["ok", "1"])), reply);
        assert_eq!(machine.plain(), None);
        // Where a fail-over goes unnoticed, it is of no use, until the ledger is opened at a server that tells.
        let (mut machine, _) = rest.begin(command(Script::Open, &[]));
        let next = machine.on(texts(&["ok", "1", "1", "9", "2"]));
        assert!(matches!(&next, Next::Unfit(why) if why.contains("INFO")));
        let (_, next) = rest.begin(command(Script::Commit, &[]));
        assert!(matches!(&next, Next::Unfit(why) if why.contains("INFO")));
        let (_, next) = rest.begin(command(Script::Open, &[]));
        assert_eq!(sent(&next), ("EVALSHA", false));
    }

    fn any_answer() -> impl Strategy<Value = Answer> {
        let word = prop_oneof![
            4 => "ok|0|1|2|unconfirmed|ended|stale|used|unknown|broken|lost|full|[0-9]{1,21}|",
            1 => any::<String>(),
        ];
        let ok = "[012x]?".prop_map(|how| vec!["ok".into(), how]);
        prop_oneof![
            ok.prop_map(Answer::Texts),
            vec(word, 0..6).prop_map(Answer::Texts),
            Just(Answer::Text(FIT.into())),
            any::<String>().prop_map(Answer::Text),
            prop_oneof![-1..3_i64, any::<i64>()].prop_map(Answer::Number),
            "(NOSCRIPT|ERR|OOM|WRONGTYPE|NOAUTH)? ?[ -~]{0,9}".prop_map(Answer::Error),
        ]
    }

    proptest! {
        /// A server that lies makes no store machine long, and confirms nothing that it has not told by the number of replicas.
        #[test]
        fn whatever_a_server_answers_the_machine_ends(
            [waits, checks, ends]: [bool; 3],
            script in 0..4_usize,
            answers in vec((any_answer(), any::<bool>(), 0..4_i64), 8),
        ) {
            let store = Redis::new(waits);
            let mode = if ends { "end" } else { "once" };
            let command = command(Script::ALL[script], &["", "", "", mode]);
            let script = command.script;
            let (mut machine, mut next) = if checks { store.check() } else { store.begin(command) };
            let mut replied: Vec<String> = Vec::new();
            let mut sent = 0;
            for (any, fits, number) in answers {
                let Next::Send(send) = &next else { break };
                // Half of them are what an honest server might say.
                let answer = match &*send.args[0] {
                    _ if !fits => any,
                    "INFO" => Answer::Text(FIT.into()),
                    "WAIT" => Answer::Number(number - 1),
                    _ => texts(&["ok", &number.to_string()]),
                };
                sent += 1;
                // A script by its digest and whole, on each of two connections; WAIT.
                prop_assert!(sent <= 5, "{send:?}");
                prop_assert!(waits || !send.own);
                let waited = send.args[0] == "WAIT";
                next = machine.on(answer.clone());
                if let (Answer::Texts(texts), false) = (&answer, waited) {
                    replied.clone_from(texts);
                }
                let Next::Done(reply) = &next else { continue };
                if checks {
                    prop_assert!(reply.is_empty());
                    continue;
                }
                let unsure = [&replied[..], &["unconfirmed".to_owned()]].concat();
                prop_assert!(*reply == replied || *reply == unsure);
                if let Reply::Done(done) = Reply::of(script, &replied)
                    && done.confirmation != Confirmation::No
                    && script != Script::Open
                {
                    let confirmed = waited && matches!(answer, Answer::Number(1..));
                    prop_assert_eq!(*reply == replied, confirmed);
                }
            }
            prop_assert!(!matches!(next, Next::Send(_)), "{next:?}");
            prop_assert!(matches!(machine.on(Answer::Number(1)), Next::Failed(_)));
        }
    }
}
