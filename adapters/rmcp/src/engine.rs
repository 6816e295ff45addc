//! Drives the engine: does what each step asks of whoever serves a message, until it asks for something else.

use sealwax::Error;
use sealwax_mcp::{Event, Profile, Step};

use crate::caller::Caller;
use crate::hooks::Timed;
use crate::ledger::Command;
use crate::refusal::About;
use crate::{Context, Kind};

impl Caller {
    /// Answers the engine's questions, until the next step is something else. `context` is for the
    /// principal, unless that is known.
    pub(crate) async fn drive(
        &self,
        exchange: &mut Timed,
        mut step: Step,
        context: Option<&Context>,
    ) -> Step {
        loop {
            step = match self.identified(exchange, step, context) {
                Step::Ledger(command) => self.recorded(exchange, &command).await,
                step => return step,
            };
        }
    }

    /// Does the same, without waiting for anything.
    pub(crate) fn identified(
        &self,
        exchange: &mut Timed,
        mut step: Step,
        context: Option<&Context>,
    ) -> Step {
        while matches!(step, Step::Identify) {
            let found = self.found(context);
            step = self.on(exchange, Event::Principal(found));
        }
        self.guard.report(exchange);
        step
    }

    /// Has the ledger answer one question, and returns the next step.
    pub(crate) async fn recorded(&self, exchange: &mut Timed, command: &Command) -> Step {
        let reply = self.guard.record(command).await;
        self.on(exchange, Event::Ledger(reply))
    }

    /// Returns the next step.
    pub(crate) fn on(&self, exchange: &mut Timed, event: Event<'_>) -> Step {
        if let Event::Result(_) = event {
            exchange.since = self.guard.starts();
        }
        let step = exchange.on(event);
        self.checked(step)
    }

    /// Returns the next step, unless the adapter has made a mistake.
    pub(crate) fn checked(&self, step: Result<Step, Error>) -> Step {
        step.unwrap_or_else(|error| {
            Step::Reply(self.refuse(&error, About::new(Kind::Session, Profile::DataLayer)))
        })
    }
}
