//! Messages of HTTP or stdio, before rmcp sees them and as they leave.

use std::sync::OnceLock;

use http::request::Parts;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Error;
use sealwax_mcp::Profile;
use sealwax_mcp::{
    self, ClientValue, Deliver, Event, Exchange, HandlerResult, Reply, Report, Step,
    TransportMessage,
};
use serde_json::Value;

use crate::Kind;
use crate::accept::TimeLimit;
use crate::caller::{Caller, Known};
use crate::guard::Guard;
use crate::message::{
    VERSION, echo, header, is_modern, is_notification, leave, put_echo, replied, request_id, stamp,
    take_session,
};
use crate::params::sent;
use crate::refusal::{About, Asked};

/// The guard of a transport.
pub(crate) struct Transport {
    pub guard: Guard,
    pub settings: sealwax_mcp::TransportSettings,
    /// Built with the first message, because sessions may be added to the guard after this.
    engine: OnceLock<Result<sealwax_mcp::Guard, Error>>,
}

/// A message that is being processed.
pub(crate) struct Passing {
    caller: Caller,
    context: RequestContext<RoleServer>,
    exchange: Exchange,
}

/// The result of verifying a message.
pub(crate) struct Arrived {
    pub passing: Passing,
    pub step: Step,
    /// The session of SEP-1359 that the message named. It was removed, because rmcp's types do not have it.
    pub inside: Option<Value>,
}

/// The changes to make in the answer to a message.
#[derive(Default)]
pub(crate) struct Leaving {
    watched: Option<Passing>,
    pub stamp: Option<String>,
    /// The id of the data-layer session, if rmcp would leave it out of the result.
    echo: Option<String>,
}

impl Transport {
    pub(crate) fn new(guard: &Guard) -> Self {
        Self {
            guard: guard.clone(),
            settings: sealwax_mcp::TransportSettings {
                declares: true,
                ..sealwax_mcp::TransportSettings::default()
            },
            engine: OnceLock::new(),
        }
    }

    /// Verifies a message, and returns the next step; or a reply if the settings are invalid.
    pub(crate) async fn arrive(
        &self,
        message: &mut Value,
        parts: Option<&Parts>,
    ) -> Result<Arrived, Reply> {
        let make = || self.guard.rules().transport(self.settings).build();
        let engine = self.engine.get_or_init(make).as_ref();
        let engine = engine.map_err(|error| {
            let about = About::new(Kind::Session, Profile::DataLayer, None);
            let mut reply = self.guard.refuse(error, about);
            reply.status = Some(500);
            reply
        })?;
        let modern = is_modern(parts.map(|parts| &parts.headers), message);
        let speaks = self.settings.sep1359 && !modern;
        let inside = speaks.then(|| take_session(message)).flatten();
        let method = message["method"].as_str();
        let version = parts.and_then(|parts| parts.headers.get(VERSION));
        let initialize = (method == Some("initialize")).then(|| message["params"].to_string());
        let (mut exchange, step) = engine.transport(TransportMessage {
            http: parts.map(|parts| parts.method.as_str()),
            method,
            notification: is_notification(message),
            modern,
            version: version.map(|version| version.to_str().unwrap_or_default()),
            header: parts.map_or(ClientValue::Absent, header),
            message_session_id: sent(inside.as_ref()),
            initialize: initialize.as_deref(),
            principal: None,
        });
        // The function for the principal takes a request as handlers have it, so a transport makes one.
        let mut context = self.guard.request(None);
        if let Some(parts) = parts {
            context.extensions.insert(parts.clone());
        }
        let asked = Asked {
            method: method.unwrap_or_default().into(),
            target: None,
        };
        let caller = Caller::new(&self.guard, asked, &context.extensions, None);
        let step = caller.drive(&mut exchange, step, &context).await;
        let passing = Passing {
            caller,
            context,
            exchange,
        };
        Ok(Arrived {
            passing,
            step,
            inside,
        })
    }

    /// Returns the changes to make when rmcp answers `message`.
    pub(crate) fn leaving(&self, passing: Passing, deliver: Deliver, message: &Value) -> Leaving {
        let has_sessions = self.guard.sessions_slot().get().is_some();
        Leaving {
            watched: (deliver.report != Report::Never).then_some(passing),
            stamp: deliver.add_session_id,
            echo: echo(message).filter(|_| has_sessions),
        }
    }
}

impl Passing {
    /// Returns the next step after an event.
    pub(crate) fn on(&mut self, event: Event<'_>) -> Step {
        let step = self.caller.on(&mut self.exchange, event);
        self.caller
            .identified(&mut self.exchange, step, &self.context)
    }

    /// Returns how long the message may still wait.
    pub(crate) fn limit(&self) -> TimeLimit {
        self.caller.limit()
    }

    /// Returns what the guard of the message inside needs to know.
    pub(crate) fn known(&self) -> Known {
        self.caller.known()
    }
}

impl Leaving {
    /// Changes a message that leaves. Returns the header to send with it, or the reply that replaces it.
    pub(crate) fn change(&mut self, message: &mut Value) -> Result<Option<String>, Reply> {
        if let Some(session_id) = &self.echo {
            put_echo(message, session_id);
        }
        if let Some(token) = &self.stamp {
            stamp(message, token);
        }
        if !message["result"].is_object() {
            return Ok(None);
        }
        let Some(mut passing) = self.watched.take() else {
            return Ok(None);
        };
        let result = message["result"].to_string();
        match passing.on(Event::Result(HandlerResult {
            initialized: Some(&result),
            ..HandlerResult::default()
        })) {
            Step::Respond(changes) => {
                leave(message, &changes);
                Ok(changes.header)
            }
            Step::Reply(reply) => {
                *message = replied(&reply, request_id(message)).unwrap_or_default();
                Err(reply)
            }
            _ => Ok(None),
        }
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.watched.is_some()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.watched.is_none() && self.stamp.is_none() && self.echo.is_none()
    }
}

impl Clone for Transport {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings,
            ..Self::new(&self.guard)
        }
    }
}
