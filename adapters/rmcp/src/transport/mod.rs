//! Messages of HTTP or stdio, before rmcp sees them and as they leave.

mod events;
mod http_request;
mod incoming;
pub(crate) mod layer;
pub(crate) mod message;
pub(crate) mod negotiated;
mod open_requests;
mod relay;
mod rewrite;
pub(crate) mod set;
pub(crate) mod streams;

use http::request::Parts;
use sealwax::Error;
use sealwax_mcp::{
    self, ClientValue, Deliver, Event, HandlerResult, Profile, Reply, Report, Step, TokenFields,
    TransportMessage, TransportSettings,
};
use serde_json::Value;

use self::message::{
    VERSION, add_session_id, echo, header, is_modern, is_notification, put_echo, replied,
    request_id, take_session_id,
};
use self::set::set;
use crate::caller::{Caller, Known, Request};
use crate::event::Timed;
use crate::guard::Guard;
use crate::refusal::About;
use crate::{Context, Kind};

/// The guard of a transport.
#[derive(Debug)]
pub(crate) struct Transport {
    guard: Guard,
    sep1359: bool,
    engine: Result<sealwax_mcp::Guard, Error>,
}

/// A message on its way through the guard.
pub(crate) struct Passing {
    caller: Caller,
    context: Context,
    exchange: Timed,
    /// The session of SEP-1359 that the message named. It was removed, because rmcp's types do not have it.
    pub session_id: Option<Value>,
}

/// The changes to make in the answer to a message.
#[derive(Default)]
pub(crate) struct Leaving {
    reported: Option<Passing>,
    session_id: Option<String>,
    /// The id of the data-layer session, if rmcp would leave it out of the result.
    echo: Option<String>,
}

impl Transport {
    /// Returns the settings to begin with: rmcp's handlers have no place for the capability.
    pub(crate) fn settings() -> TransportSettings {
        TransportSettings {
            declares: true,
            ..TransportSettings::default()
        }
    }

    pub(crate) fn new(guard: &Guard, settings: TransportSettings) -> Self {
        Self {
            guard: guard.clone(),
            sep1359: settings.sep1359,
            engine: guard.0.settings.clone().transport(settings).build(),
        }
    }

    /// Verifies a message, and returns the next step; or a reply if the settings are invalid.
    pub(crate) async fn arrive(
        &self,
        message: &mut Value,
        parts: Option<&Parts>,
        unreadable: bool,
    ) -> Result<(Passing, Step), Reply> {
        let engine = self.engine.as_ref().map_err(|error| {
            let about = About::new(Kind::Session, Profile::DataLayer);
            let mut reply = self.guard.refuse(error, about);
            reply.status = Some(500);
            reply
        })?;
        let since = self.guard.starts();
        let modern = is_modern(parts.map(|parts| &parts.headers), message);
        let speaks = self.sep1359 && !modern;
        let session_id = speaks.then(|| take_session_id(message)).flatten();
        let method = message["method"].as_str();
        let fields = method.and_then(TokenFields::for_method);
        let target = fields.and_then(|fields| message["params"][fields.target?].as_str());
        let version = parts.and_then(|parts| parts.headers.get(VERSION));
        let initialize = (method == Some("initialize")).then(|| message["params"].to_string());
        let (exchange, step) = engine.transport(TransportMessage {
            http: parts.map(|parts| parts.method.as_str()),
            method,
            target,
            unreadable,
            notification: is_notification(message),
            modern,
            version: version.map(|version| version.to_str().unwrap_or_default()),
            header: parts.map_or(ClientValue::Absent, header),
            message_session_id: session_id.as_ref().map_or(ClientValue::Absent, Into::into),
            initialize: initialize.as_deref(),
            principal: None,
        });
        let mut exchange = Timed::new(exchange, since);
        // The function for the principal takes a request as handlers have it, so a transport makes one.
        let mut context = self.guard.request(None);
        if let Some(parts) = parts {
            context.extensions.insert(parts.clone());
        }
        let request = Request {
            method: method.unwrap_or_default().into(),
            target: None,
        };
        let caller = Caller::new(&self.guard, request, &context.extensions);
        let step = caller.drive(&mut exchange, step, Some(&context)).await;
        let passing = Passing {
            caller,
            context,
            exchange,
            session_id,
        };
        Ok((passing, step))
    }
}

impl Passing {
    /// Returns the next step after an event.
    pub(crate) fn on(&mut self, event: Event<'_>) -> Step {
        let step = self.caller.on(&mut self.exchange, event);
        self.caller
            .identified(&mut self.exchange, step, Some(&self.context))
    }

    /// Returns what the guard of the message inside needs to know.
    pub(crate) fn known(&self, deliver: &Deliver) -> Known {
        self.caller.known(deliver.within)
    }

    /// Returns the changes to make when rmcp answers `message`.
    pub(crate) fn leaving(self, deliver: Deliver, message: &Value) -> Leaving {
        Leaving {
            echo: echo(message).filter(|_| self.caller.guard.0.options.has_sessions),
            session_id: deliver.add_session_id,
            reported: (deliver.report != Report::Never).then_some(self),
        }
    }
}

impl Leaving {
    /// Changes a message that leaves. Returns the header to send with it, or the reply that replaces it.
    pub(crate) fn change(&mut self, message: &mut Value) -> Result<Option<String>, Reply> {
        if let Some(session_id) = &self.echo {
            put_echo(message, session_id);
        }
        if let Some(token) = &self.session_id {
            add_session_id(message, token);
        }
        if !message["result"].is_object() {
            return Ok(None);
        }
        let Some(mut passing) = self.reported.take() else {
            return Ok(None);
        };
        let result = message["result"].to_string();
        match passing.on(Event::Result(HandlerResult {
            whole: Some(&result),
            ..HandlerResult::default()
        })) {
            Step::Respond(changes) => {
                set(&mut message["result"], changes.set(None));
                Ok(changes.header)
            }
            Step::Reply(reply) => {
                *message = replied(&reply, request_id(message)).unwrap_or_default();
                Err(reply)
            }
            _ => Ok(None),
        }
    }

    /// Returns whether the engine is told of the answer, which is short.
    pub(crate) fn is_reported(&self) -> bool {
        self.reported.is_some()
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.reported.is_none() && self.session_id.is_none() && self.echo.is_none()
    }
}
