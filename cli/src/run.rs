//! One run of the command: what it asks for, and what comes of it.
//!
//! A command is a function of what the user gave and of the answers so far. If an answer is missing, the function stops
//! with the question, and is called again with one answer more. So it must not write, nor draw what is random, before its last
//! question: writing is part of what it returns.

use sealwax::{Environment, Error};

use crate::input::{Input, Stop};
use crate::step::{Answer, Done, Request, Step};
use crate::{inspect, keys, ledger, tokens};

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
        let input = Input::new(&self.request, environment, &self.answers);
        match done(&self.request.command, &input) {
            Ok(done) => Step::Done(done),
            Err(Stop::Ask(ask)) => Step::Ask(ask),
            Err(Stop::Failed(failure)) => Step::Failed {
                status: failure.status(),
                stderr: failure.text(&self.request.program),
            },
        }
    }
}

fn done(command: &str, input: &Input<'_>) -> Result<Done, Stop> {
    match command {
        "keygen" => tokens::keygen(input),
        "seal" => tokens::seal(input),
        "open" => tokens::open(input),
        "session-id" => tokens::session_id(input),
        "handle" => tokens::handle(input),
        "context" => tokens::context(input),
        "inspect" => inspect::run(input),
        "ledger begin" => ledger::begin(input),
        "ledger check" => ledger::check(input),
        "ledger revoke" => ledger::revoke(input),
        "ledger end" => ledger::end(input),
        "keys add" => keys::add(input),
        "keys promote" => keys::promote(input),
        "keys retire" => keys::retire(input),
        "keys status" => keys::status(input),
        "keys derive" => keys::derive(input),
        found => {
            let why = format!("COMMAND: expected a command of sealwax, found {found:?}");
            Err(Error::InvalidArgument(why.into()).into())
        }
    }
}
