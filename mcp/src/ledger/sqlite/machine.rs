//! The store machine with a file of SQLite about one command, without input and output.
//!
//! A file's client does what [`Next`] says and reports it to [`StoreMachine::on`], until [`Next::Done`] or [`Next::Failed`]. Each
//! command is one transaction, which is rolled back if anything in it fails.

use std::time::Duration;

use serde::Serialize;

use super::{BEGIN, COMMIT, CONNECT, CREATE, DELETE, NORMAL, NOW, READ, ROLLBACK, SWEEP, WRITE};
use crate::ledger::Command;

/// How long to wait for other processes that open the file too, and how often. Between two waits SQLite mostly waits too, a
/// quarter of a second.
const WAIT: Duration = Duration::from_millis(50);
const WAITS: u32 = 20;

/// The store machine about opening a file, or about one command.
#[derive(Debug)]
pub struct StoreMachine {
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    /// Opening: with the statements, and how often it may still wait.
    Opening(Vec<&'static str>, u32),
    Waiting(Vec<&'static str>, u32),
    Beginning(Command),
    Reading(Command, u64),
    Writing(Vec<String>),
    RollingBack(String),
    Over,
}

/// What a file's client does next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Run these statements, in order, until one fails; report what they read, or the error.
    Run(Vec<Statement>),
    /// Wait for so long, without stopping others; report that nothing was read.
    Wait(Duration),
    /// The ledger's reply; of a file that was opened, none.
    Done(Vec<String>),
    /// Nothing was done, and why: the first error that was reported.
    Failed(String),
}

/// A statement to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Statement {
    /// Its text.
    pub sql: &'static str,
    /// The values of its parameters: texts, also of numbers, which SQLite converts for their columns; or null.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<Option<String>>,
    /// Whether it reads: the only column of its row, a text, or null if there is no row.
    #[serde(skip_serializing_if = "crate::message::members::is_false")]
    pub reads: bool,
}

/// What became of the statements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    test,
    derive(serde::Deserialize, schemars::JsonSchema),
    schemars(rename = "SqliteAnswer"),
    serde(rename_all = "camelCase")
)]
pub enum Answer {
    /// All were run: what those that read gave.
    Rows(Vec<Option<String>>),
    /// One failed: the text of its error.
    Error(String),
}

impl StoreMachine {
    /// Begins to open a file: for each connection once. `durable` says whether an answered command survives a loss of power.
    #[must_use]
    pub fn open(durable: bool) -> (Self, Next) {
        let normal = (!durable).then_some(NORMAL);
        let texts = [CONNECT, CREATE].into_iter().chain(normal);
        let lines: Vec<_> = texts.flat_map(str::lines).collect();
        Self::opening(lines, WAITS)
    }

    /// Begins a command.
    #[must_use]
    pub fn begin(command: Command) -> (Self, Next) {
        let phase = Phase::Beginning(command);
        (
            Self { phase },
            Next::Run(vec![plain(BEGIN), read(NOW, Vec::new())]),
        )
    }

    /// Reports what became of the last step, and returns what is next.
    pub fn on(&mut self, answer: Answer) -> Next {
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        let rows = match (phase, answer) {
            (Phase::Opening(lines, waits), Answer::Error(why)) => {
                // SQLite does not wait for a lock while a file changes to WAL.
                if waits == 0 || !why.contains("locked") {
                    return Next::Failed(why);
                }
                self.phase = Phase::Waiting(lines, waits - 1);
                return Next::Wait(WAIT);
            }
            (Phase::Waiting(lines, waits), _) => {
                let (opening, next) = Self::opening(lines, waits);
                *self = opening;
                return next;
            }
            (Phase::Opening(..), Answer::Rows(_)) => return Next::Done(Vec::new()),
            (Phase::RollingBack(why), _) => return Next::Failed(why),
            (Phase::Over, _) => return Next::Failed("expected a machine that is not over".into()),
            // Whatever ended the command must leave no transaction open. A BEGIN that failed may have begun one; mostly there
            // is none to roll back, which is an error that nobody needs.
            (_, Answer::Error(why)) => return self.rolled_back(why),
            (phase, Answer::Rows(rows)) => (phase, rows),
        };
        match rows {
            (Phase::Beginning(command), rows) => match &rows[..] {
                [Some(now)] => match now.parse() {
                    Ok(now) => self.reads(command, now),
                    Err(_) => self.rolled_back(NO_ANSWER.into()),
                },
                _ => self.rolled_back(NO_ANSWER.into()),
            },
            // Too few or too many are refused there.
            (Phase::Reading(command, now), rows) => self.writes(&command, now, &rows),
            (Phase::Writing(reply), _) => Next::Done(reply),
            _ => self.rolled_back(NO_ANSWER.into()),
        }
    }

    fn opening(lines: Vec<&'static str>, waits: u32) -> (Self, Next) {
        let next = Next::Run(lines.iter().copied().map(plain).collect());
        let phase = Phase::Opening(lines, waits);
        (Self { phase }, next)
    }

    fn reads(&mut self, command: Command, now: u64) -> Next {
        let of = |key: &String| read(READ, vec![Some(key.clone()), Some(now.to_string())]);
        let next = Next::Run(command.keys.iter().map(of).collect());
        self.phase = Phase::Reading(command, now);
        next
    }

    /// Has the command evaluated, and writes what that says.
    fn writes(&mut self, command: &Command, now: u64, values: &[Option<String>]) -> Next {
        let evaluated = command.evaluate(now, values);
        let mut all = Vec::new();
        for write in evaluated.writes {
            let until = write.until.map(|until| until.to_string());
            all.push(match write.value {
                Some(value) => run(WRITE, vec![Some(write.key), Some(value), until]),
                None => run(DELETE, vec![Some(write.key)]),
            });
        }
        if !all.is_empty() {
            all.push(run(SWEEP, vec![Some(now.to_string())]));
        }
        all.push(plain(COMMIT));
        self.phase = Phase::Writing(evaluated.reply);
        Next::Run(all)
    }

    fn rolled_back(&mut self, why: String) -> Next {
        self.phase = Phase::RollingBack(why);
        Next::Run(vec![plain(ROLLBACK)])
    }
}

const NO_ANSWER: &str = "expected what the statements read, found another answer";

fn plain(sql: &'static str) -> Statement {
    run(sql, Vec::new())
}

fn run(sql: &'static str, args: Vec<Option<String>>) -> Statement {
    let reads = false;
    Statement { sql, args, reads }
}

fn read(sql: &'static str, args: Vec<Option<String>>) -> Statement {
    let reads = true;
    Statement { sql, args, reads }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::{Answer, Next, StoreMachine, WAIT, WAITS};
    use crate::ledger::{Command, Script};

    fn command() -> Command {
        let keys = vec!["swl1:{a}:p:b".into()];
        Command::new(Script::Revoke, keys, vec!["0".into(), "0".into()])
    }

    /// The first words of the statements to run.
    fn run(next: &Next) -> Vec<&str> {
        let Next::Run(statements) = next else {
            panic!("{next:?}")
        };
        let word = |sql: &'static str| sql.split(' ').next().unwrap_or_default();
        statements.iter().map(|one| word(one.sql)).collect()
    }

    fn rows(rows: &[Option<&str>]) -> Answer {
        Answer::Rows(rows.iter().map(|row| row.map(Into::into)).collect())
    }

    fn error(why: &str) -> Answer {
        Answer::Error(why.into())
    }

    #[test]
    fn a_file_that_others_open_too_is_waited_for() {
        let (mut machine, next) = StoreMachine::open(true);
        let connect = ["PRAGMA", "PRAGMA", "PRAGMA", "CREATE", "CREATE"];
        assert_eq!(run(&next), connect);
        for _ in 0..WAITS {
            assert_eq!(machine.on(error("database is locked")), Next::Wait(WAIT));
            assert_eq!(run(&machine.on(rows(&[]))), connect);
        }
        let locked = error("database is locked (5)");
        assert!(matches!(machine.on(locked), Next::Failed(why) if why.ends_with("(5)")));

        let (mut machine, next) = StoreMachine::open(false);
        assert_eq!(run(&next)[5], "PRAGMA");
        assert_eq!(machine.on(rows(&[])), Next::Done(Vec::new()));
        let (mut machine, _) = StoreMachine::open(true);
        let readonly = "attempt to write a readonly database";
        assert_eq!(machine.on(error(readonly)), Next::Failed(readonly.into()));
    }

    #[test]
    fn what_fails_is_rolled_back_and_told() {
        let (mut machine, next) = StoreMachine::begin(command());
        assert_eq!(run(&next), ["BEGIN", "SELECT"]);
        machine.on(rows(&[Some("1800000000")]));
        let next = machine.on(rows(&[None]));
        assert_eq!(run(&next), ["INSERT", "DELETE", "COMMIT"]);
        let next = machine.on(error("database or disk is full"));
        assert_eq!(run(&next), ["ROLLBACK"]);
        // Mostly there is none to roll back, or SQLite has done so.
        let last = machine.on(error("no transaction is active"));
        assert_eq!(last, Next::Failed("database or disk is full".into()));
    }

    proptest! {
        /// A client that lies makes no store machine long, and what begins is committed or rolled back.
        #[test]
        fn whatever_a_file_gives_the_machine_ends(
            answers in vec(prop_oneof![
                vec(option::of("[0-9]{1,12}|[a-z ]{0,9}"), 0..3).prop_map(Answer::Rows),
                ".{0,9}".prop_map(Answer::Error),
            ], 6),
        ) {
            let (mut machine, mut next) = StoreMachine::begin(command());
            let mut last = "";
            for answer in answers {
                let Next::Run(statements) = &next else { break };
                last = statements.last().map_or(last, |one| one.sql);
                next = machine.on(answer);
            }
            prop_assert!(!matches!(next, Next::Run(_) | Next::Wait(_)), "{next:?}");
            let ended = if matches!(next, Next::Done(_)) { "COMMIT" } else { "ROLLBACK" };
            prop_assert_eq!(last, ended);
        }
    }
}
