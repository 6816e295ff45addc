//! Messages of HTTP or stdio, before rmcp sees them and as they leave. The engine reads and changes their bytes.

pub(crate) mod echo;
pub(crate) mod http;
pub(crate) mod layer;
pub(crate) mod negotiated;
pub(crate) mod stdio;
pub(crate) mod streams;

use std::sync::Arc;

use ::http::request::Parts;
use rmcp::ErrorData;
use sealwax::Error;
use sealwax_mcp::{self, Deliver, Event, Exchange, Origin, Profile, Step, TransportSettings};

use crate::caller::{Caller, Known};
use crate::guard::Guard;
use crate::hooks::Timed;
use crate::refusal::{About, error_data};
use crate::{Context, Kind};

/// Returns the settings to begin with: rmcp's handlers have no place for the capability.
fn settings() -> TransportSettings {
    TransportSettings {
        declares: true,
        ..TransportSettings::default()
    }
}

impl Guard {
    /// Returns the engine of a transport.
    fn around(&self, settings: TransportSettings) -> Result<sealwax_mcp::Guard, Error> {
        self.0.options.settings.clone().transport(settings).build()
    }

    /// Reports settings that are invalid, and returns the answer to whatever comes.
    fn unset(&self, error: &Error) -> ErrorData {
        let about = About::new(Kind::Session, Profile::DataLayer);
        error_data(Caller::nobody(self).refuse(error, about))
    }
}

/// A message on its way through the guard.
struct Passing {
    caller: Arc<Caller>,
    context: Context,
    exchange: Timed,
}

impl Passing {
    /// Begins the exchange of a message, and returns the first step that the engine does not ask for itself.
    async fn begin(
        guard: &Guard,
        parts: Option<&Parts>,
        begin: impl FnOnce() -> (Exchange, Step),
    ) -> (Self, Step) {
        let since = guard.starts();
        let (exchange, step) = begin();
        // The function for the principal takes a request as handlers have it, so a transport makes one.
        let mut context = guard.request(None);
        if let Some(parts) = parts {
            context.extensions.insert(parts.clone());
        }
        let mut passing = Self {
            // What it is about the engine knows.
            caller: Arc::new(Caller::new(guard, Origin::default(), &context.extensions)),
            context,
            exchange: Timed::new(exchange, since),
        };
        let step = passing.drive(step).await;
        (passing, step)
    }

    async fn drive(&mut self, step: Step) -> Step {
        let (caller, context) = (&self.caller, Some(&self.context));
        caller.drive(&mut self.exchange, step, context).await
    }

    /// Returns the next step after an event.
    async fn on(&mut self, event: Event<'_>) -> Step {
        let step = self.caller.on(&mut self.exchange, event);
        self.drive(step).await
    }

    /// Returns the next step after the whole answer of HTTP.
    async fn answered(&mut self) -> Step {
        self.exchange.since = self.caller.guard.starts();
        let step = self.exchange.answered();
        let step = self.caller.checked(step);
        self.drive(step).await
    }

    /// Returns what the guard of the message inside needs to know.
    fn known(&self, deliver: &Deliver) -> Known {
        Known {
            caller: Arc::clone(&self.caller),
            within: deliver.within,
            session: deliver.id.clone(),
        }
    }
}
