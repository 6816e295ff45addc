//! A request whose handler runs.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sealwax::Error;
use sealwax_mcp::Failed;

use crate::event::Timed;

/// The exchange of a request whose handler runs, and what the handler left.
pub(crate) struct Running {
    pub exchange: Timed,
    /// The token that the request carried.
    pub token: Option<String>,
    /// The changes that the handler made to the session by a function.
    pub updates: Vec<Box<Update>>,
    /// Makes the handler's result again.
    pub remake: Option<Box<Remake>>,
}

/// Makes the next value of a session from the current one, both as JSON.
type Update = dyn Fn(&str) -> Result<String, Error> + Send;

/// Makes a result from the value of a session, as JSON.
type Remake = dyn Fn(&str) -> Result<Box<dyn Any>, Error> + Send;

impl Running {
    pub(crate) fn new(exchange: Timed, token: Option<String>) -> Self {
        Self {
            exchange,
            token,
            updates: Vec::new(),
            remake: None,
        }
    }

    /// Applies the handler's functions to the value that another request wrote. Returns the outcome, and the result that was
    /// made again from it, if the handler left a function for that.
    pub(crate) fn updated<A: 'static>(&self, value: String) -> (Result<String, Failed>, Option<A>) {
        let updated = self
            .updates
            .iter()
            .try_fold(value, |value, update| called("update", || update(&value)));
        let (Ok(value), Some(remake)) = (&updated, &self.remake) else {
            return (updated, None);
        };
        match called("result", || remake(value)).map(|made| made.downcast()) {
            Ok(Ok(made)) => (updated, Some(*made)),
            Ok(Err(_)) => {
                let why = "result: expected a result of the request's method";
                (Err(Failed(why.into())), None)
            }
            Err(failed) => (Err(failed), None),
        }
    }
}

/// Calls an author's function.
fn called<T>(name: &str, function: impl FnOnce() -> Result<T, Error>) -> Result<T, Failed> {
    match catch_unwind(AssertUnwindSafe(function)) {
        Ok(Ok(made)) => Ok(made),
        Ok(Err(error)) => Err(Failed(format!("{name}: {error}"))),
        Err(_) => Err(Failed(format!("{name}: the function panicked"))),
    }
}
