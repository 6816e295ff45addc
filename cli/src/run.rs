//! One run of the command: what it asks for, and what comes of it.
//!
//! A command is a function of what the user gave and of the answers so far. If an answer is missing, the function stops
//! with the question, and is called again with one answer more. So it must not write, nor draw what is random, before its last
//! question: writing is part of what it returns.

use std::cell::Cell;
use std::collections::BTreeMap;

use sealwax::{Environment, Error};
use sealwax_mcp::ledger::{Command, redis};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::options::Options;
use crate::{inspect, keys, ledger, tokens};

/// What a user asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// How the user calls the program, such as `npx sealwax`: for advice.
    pub program: String,
    /// The words of the command, such as `ledger end`.
    pub command: String,
    /// Options and arguments by the names of `commands.json`, with its defaults; a flag has any text.
    pub options: BTreeMap<String, String>,
    /// `SEALWAX_KEYS`, `SEALWAX_KEYS_FILE` and `SEALWAX_LEDGER`, where they are set.
    pub environment: BTreeMap<String, String>,
    /// The clock's time, in Unix milliseconds.
    pub now_ms: u64,
}

/// What a program does next.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// Find this out.
    Ask(Ask),
    /// Write, wait, and print to stdout, in this order.
    Done(Done),
    /// Print to stderr, and exit with this status.
    Failed {
        /// 1 for a refusal, 2 for any other failure.
        status: u8,
        /// Without a line ending at the end.
        stderr: String,
    },
}

/// A question to the outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Ask {
    /// All of stdin, up to 4 MiB: [`Answer::Bytes`].
    Stdin {
        /// What to type, on a terminal.
        stdin: &'static str,
    },
    /// What a file holds: [`Answer::Bytes`], or [`Answer::Absent`].
    File {
        /// Its path.
        file: String,
        /// Whether it will be replaced: a symbolic link is [`Answer::Link`] then.
        replaced: bool,
    },
    /// The answer of a Redis or a Valkey to a command: [`Answer::Store`], or [`Answer::Absent`] for nil. All go over one
    /// connection, each within 5 seconds.
    Redis {
        /// `redis://`, `rediss://` or `unix://`; if it is none that the client can read, [`Answer::Invalid`].
        redis: String,
        /// The command.
        send: Vec<String>,
    },
    /// The first value of a query to a file of SQLite: [`Answer::Store`] with one text, or with none if there is no row.
    Query {
        /// The path of the file, which is only read; if there is none, [`Answer::Absent`].
        sqlite: String,
        /// The statement.
        query: String,
        /// Its parameters.
        parameters: Vec<String>,
    },
    /// The reply of the ledger in a file of SQLite, which is made if it is missing: [`Answer::Store`] with texts.
    Run {
        /// The path of the file.
        sqlite: String,
        /// The command.
        run: Command,
    },
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// What was read.
    Bytes(Zeroizing<Vec<u8>>),
    /// What a store answered.
    Store(redis::Answer),
    /// There is none.
    Absent,
    /// The file is a symbolic link.
    Link,
    /// The URL is none of a store.
    Invalid,
    /// It could not be found out.
    Failed {
        /// Why, in words without a credential.
        why: String,
        /// What to do, if the program knows it.
        tip: Option<String>,
    },
}

/// A command that succeeded.
#[derive(Debug, Default, Serialize)]
pub struct Done {
    /// A file to replace, or to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Write>,
    /// The seconds to wait.
    pub wait: u64,
    /// The output; in base64 in documents.
    #[serde(serialize_with = "crate::document::base64")]
    pub stdout: Zeroizing<Vec<u8>>,
}

/// A file to replace in one step: by a file beside it that is renamed. It keeps its mode; a new one is its owner's alone.
#[derive(Debug, Serialize)]
pub struct Write {
    /// Its path.
    pub path: String,
    /// What it holds.
    #[serde(serialize_with = "crate::document::text_of")]
    pub text: Zeroizing<String>,
}

/// One run of the command.
#[derive(Debug)]
pub struct Run {
    request: Request,
    answers: Vec<Answer>,
}

impl Run {
    /// Begins a run.
    #[must_use]
    pub fn new(request: Request) -> Self {
        Self {
            request,
            answers: Vec::new(),
        }
    }

    /// Takes the answer to what the last step asked.
    pub fn answer(&mut self, answer: Answer) {
        self.answers.push(answer);
    }

    /// Returns what to do next. `environment` brings the randomness; its clock is not read.
    #[must_use]
    pub fn step(&self, environment: &'static dyn Environment) -> Step {
        let input = Input {
            request: &self.request,
            environment,
            answers: &self.answers,
            asked: Cell::new(0),
        };
        match input.run() {
            Ok(done) => Step::Done(done),
            Err(Stop::Ask(ask)) => Step::Ask(ask),
            Err(Stop::Failed(failure)) => Step::Failed {
                status: failure.status(),
                stderr: failure.text(&self.request.program),
            },
        }
    }
}

/// Why a command stopped before its end.
pub(crate) enum Stop {
    Ask(Ask),
    Failed(Failure),
}

impl<F: Into<Failure>> From<F> for Stop {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

/// What a command is given.
pub(crate) struct Input<'a> {
    request: &'a Request,
    pub environment: &'static dyn Environment,
    answers: &'a [Answer],
    asked: Cell<usize>,
}

impl<'a> Input<'a> {
    fn run(&self) -> Result<Done, Stop> {
        match self.request.command.as_str() {
            "keygen" => tokens::keygen(self),
            "seal" => tokens::seal(self),
            "open" => tokens::open(self),
            "session-id" => tokens::session_id(self),
            "handle" => tokens::handle(self),
            "context" => tokens::context(self),
            "inspect" => inspect::run(self),
            "ledger begin" => ledger::begin(self),
            "ledger check" => ledger::check(self),
            "ledger revoke" => ledger::revoke(self),
            "ledger end" => ledger::end(self),
            "keys add" => keys::add(self),
            "keys promote" => keys::promote(self),
            "keys retire" => keys::retire(self),
            "keys status" => keys::status(self),
            found => {
                let why = format!("COMMAND: expected a command of sealwax, found {found:?}");
                Err(Error::InvalidArgument(why.into()).into())
            }
        }
    }

    pub fn options(&self) -> Options<'a> {
        Options(&self.request.options)
    }

    pub fn program(&self) -> &'a str {
        &self.request.program
    }

    pub fn variable(&self, name: &str) -> Option<&'a str> {
        self.request.environment.get(name).map(String::as_str)
    }

    /// Returns the time of the option, or of the clock.
    pub fn now_ms(&self) -> Result<u64, Failure> {
        let given = self.options().number("now", 0, u64::MAX / 1000)?;
        Ok(given.map_or(self.request.now_ms, |now| now * 1000))
    }

    pub fn ask(&self, ask: Ask) -> Result<&'a Answer, Stop> {
        let at = self.asked.replace(self.asked.get() + 1);
        self.answers.get(at).ok_or(Stop::Ask(ask))
    }

    pub fn stdin(&self, what: &'static str) -> Result<&'a [u8], Stop> {
        match self.ask(Ask::Stdin { stdin: what })? {
            Answer::Bytes(bytes) => Ok(bytes),
            other => Err(Failure::unread("stdin", other).into()),
        }
    }

    /// Reads a token, an id, a handle or a key text, without one line ending at its end, which the shell adds. All of
    /// these are ASCII, so invalid UTF-8 may stay garbled.
    pub fn stdin_text(&self, what: &'static str) -> Result<Zeroizing<String>, Stop> {
        let input = self.stdin(what)?;
        let input = match input.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => input,
        };
        Ok(Zeroizing::new(String::from_utf8_lossy(input).into_owned()))
    }
}

impl Done {
    /// Prints a line.
    pub(crate) fn line(text: impl std::fmt::Display) -> Self {
        Self {
            stdout: Zeroizing::new(format!("{text}\n").into_bytes()),
            ..Self::default()
        }
    }
}
