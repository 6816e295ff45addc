//! What a command is given: options, the environment, and answers.

use std::cell::Cell;

use sealwax::Environment;
use zeroize::Zeroizing;

use crate::failure::Failure;
use crate::options::Options;
use crate::step::{Answer, Ask, Request};

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
    pub fn new(
        request: &'a Request,
        environment: &'static dyn Environment,
        answers: &'a [Answer],
    ) -> Self {
        Self {
            request,
            environment,
            answers,
            asked: Cell::new(0),
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
        let line = line(self.stdin(what)?);
        Ok(Zeroizing::new(String::from_utf8_lossy(line).into_owned()))
    }

    /// Reads a file that has to be there. An error calls it `place`.
    pub fn file(&self, path: &str, place: &str) -> Result<&'a [u8], Stop> {
        let read = Ask::File {
            file: path.into(),
            replaced: false,
        };
        match self.ask(read)? {
            Answer::Bytes(bytes) => Ok(bytes),
            other => Err(Failure::unread(place, other).into()),
        }
    }
}

/// Returns a text without one line ending at its end.
pub(crate) fn line(input: &[u8]) -> &[u8] {
    match input.strip_suffix(b"\n") {
        Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
        None => input,
    }
}
