//! The lines of stdio: one client, whose messages name their sessions (SEP-1359).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::changes::{Leaving, key};
use super::message::{Came, Claim, without};
use super::{Carrier, Mistake, Unread, message};
use crate::exchange::Exchange;
use crate::guard::Guard;
use crate::message::context::Context;
use crate::message::input::{Event, HandlerResult, OwnedClientValue};
use crate::message::json;
use crate::reply::step::{Deliver, Report, Step};
use crate::transport::TransportFlow;

/// The connection of one client on stdio, or on other streams of lines. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Connection {
    guard: Guard,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the SDK has answered an `initialize` with a result. A refused one begins nothing, and ends nothing.
    is_begun: bool,
    /// The id of an `initialize` of our own, random, so that no client can cancel or answer it.
    replay: Option<String>,
    /// The requests that the SDK has not answered yet, by their ids: no two have one.
    open: Vec<(String, Waiting)>,
}

impl State {
    fn get(&self, id: &str) -> Option<&Waiting> {
        let id = key(id);
        let mut open = self.open.iter();
        open.find(|(open, _)| *open == id)
            .map(|(_, waiting)| waiting)
    }

    fn remove(&mut self, id: &str) -> Option<Waiting> {
        let id = key(id);
        let at = self.open.iter().position(|(open, _)| *open == id)?;
        Some(self.open.swap_remove(at).1)
    }
}

/// What the answer to a request will need.
#[derive(Debug, Default)]
struct Waiting {
    /// The session that the request named.
    session_id: Option<String>,
    /// The method of one whose result is reported.
    reported: Option<String>,
    /// The `params` of `initialize`.
    initialize: Option<String>,
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(crate) const IN_USE: Unread = Unread::Unclear("an id that no request in progress has");

impl Guard {
    /// Begins a connection on stdio. Its messages are lines, in both directions.
    #[must_use]
    pub fn connection(&self) -> Connection {
        Connection {
            guard: self.clone(),
            state: Arc::default(),
        }
    }
}

impl Connection {
    /// Begins the exchange of a line of the client's. The bytes beside its steps are in [`Exchange::text`]: of `deliver` the lines
    /// for the SDK, of `reply` the line for the client. Serve one line after the other.
    #[must_use]
    pub fn line(&self, line: &[u8]) -> (Exchange, Step) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let context = Context::new(self.guard.clone(), None, None);
        if line.trim_ascii().is_empty() {
            return (Exchange::over(context, None), Step::Drop);
        }
        let flow = TransportFlow::line(self, line);
        Exchange::of_transport(context, flow)
    }

    /// Begins the exchange of a message of the SDK's, without its line's end: [`Exchange::text`] beside `respond` and `reply` is the
    /// line for the client; `drop` has none. What is no UTF-8 is replaced. `of` is the id of the request that a message of the server's own belongs to,
    /// as JSON, where the adapter knows it.
    #[must_use]
    pub fn leaves(&self, line: &[u8], of: Option<&str>) -> (Exchange, Step) {
        let line = &*String::from_utf8_lossy(line);
        let context = Context::new(self.guard.clone(), None, None);
        let Some(leaving) = Leaving::read(line) else {
            return responds(context, line.into());
        };
        if !leaving.is_answer {
            return responds(context, leaving.in_session(self.session_of(of)));
        }
        let id = leaving.id.filter(|id| *id != "null");
        if id.is_some()
            && self
                .state()
                .replay
                .take_if(|replay| leaving.answers(Some(replay)))
                .is_some()
        {
            return (Exchange::over(context, Some(line.into())), Step::Replayed);
        }
        let Some(waiting) = id.map(|id| self.state().remove(id)) else {
            // An answer to what the SDK could not read.
            return responds(context, line.into());
        };
        let Some(waiting) = waiting else {
            // An answer to a request that was cancelled.
            return (Exchange::over(context, None), Step::Drop);
        };
        if waiting.initialize.is_some() {
            self.state().is_begun |= !leaving.is_error;
        }
        if waiting.reported.is_some()
            && let Some(result) = leaving.result()
        {
            let flow = TransportFlow::leaving(self, &leaving, waiting);
            return Exchange::of_result(context, flow, result);
        }
        responds(context, leaving.in_session(waiting.session_id))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session of a message of the server's own: that of its request, or that of all requests in progress if they
    /// have one.
    fn session_of(&self, of: Option<&str>) -> Option<String> {
        let state = self.state();
        if let Some(of) = of {
            return state.get(of)?.session_id.clone();
        }
        let mut sessions = state.open.iter().map(|(_, waiting)| &waiting.session_id);
        let session_id = sessions.next()?;
        sessions
            .all(|other| other == session_id)
            .then(|| session_id.clone())?
    }
}

/// Ends the exchange of a message of the SDK's with the line for the client.
fn responds(context: Context, line: String) -> (Exchange, Step) {
    let exchange = Exchange::over(context, Some(line));
    (exchange, Step::Respond(Box::default()))
}

/// One line.
pub(crate) struct Line {
    connection: Connection,
    /// The line for the SDK, or the SDK's.
    line: String,
    /// The id of a request, as it was written.
    id: Option<String>,
    /// That of one that the SDK has.
    delivered: Option<String>,
    cancels: Option<String>,
    initialize: Option<String>,
    method: Option<String>,
    /// Whether a session was replayed before it.
    is_replayed: bool,
}

impl Carrier for Line {
    fn text(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Deliver(deliver) => {
                self.delivers(deliver);
                let line = std::mem::take(&mut self.line);
                Some(match self.is_replayed {
                    true => format!("{INITIALIZED}\n{line}"),
                    false => line,
                })
            }
            Step::Reply(reply) => {
                if let Some(id) = self.delivered.take() {
                    self.connection.state().remove(&id);
                }
                message(reply, self.id.as_deref())
            }
            Step::Respond(respond) => {
                let changed = Leaving::read(&self.line)?.changed(&respond.set(None));
                Some(changed.unwrap_or_else(|| self.line.clone()))
            }
            _ => None,
        }
    }

    fn line(&mut self) -> Option<&mut Line> {
        Some(self)
    }
}

impl Line {
    fn new(connection: &Connection, line: String) -> Self {
        Self {
            connection: connection.clone(),
            line,
            id: None,
            delivered: None,
            cancels: None,
            initialize: None,
            method: None,
            is_replayed: false,
        }
    }

    /// Returns whether the SDK has begun no session, and is to be told of one.
    pub fn needs_replay(&self) -> bool {
        !self.connection.state().is_begun
    }

    /// Returns the line that tells it.
    pub fn replay(&self, negotiated: &str, random: [u8; 16]) -> String {
        let id = format!("\"{:032x}\"", u128::from_be_bytes(random));
        let negotiated = json::read(negotiated).unwrap_or_default();
        let of = |name: &str| json::written(negotiated.get(name).unwrap_or(&Value::Null));
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":{},"capabilities":{},"clientInfo":{}}}}}"#,
            of("protocolVersion"),
            of("clientCapabilities"),
            of("clientInfo"),
        );
        self.connection.state().replay = Some(id);
        line
    }

    /// Takes the SDK's answer to that. Returns whether it began the session.
    pub fn replayed(&mut self, negotiated: &str, answer: Option<&str>) -> bool {
        let version = |json: &str, path: &[&str]| {
            let value = json::read(json)?;
            let version = path
                .iter()
                .try_fold(&value, |value, name| value.get(name))?;
            version.as_str().map(str::to_owned)
        };
        let settled = version(negotiated, &["protocolVersion"]);
        let found = answer.and_then(|answer| version(answer, &["result", "protocolVersion"]));
        let mut state = self.connection.state();
        state.replay = None;
        self.is_replayed = settled.is_some() && settled == found;
        state.is_begun |= self.is_replayed;
        self.is_replayed
    }

    fn delivers(&mut self, deliver: &Deliver) {
        let state = &mut *self.connection.state();
        if let Some(cancelled) = &self.cancels {
            let waiting = state.get(cancelled);
            // An `initialize` cannot be cancelled.
            if waiting.is_some_and(|waiting| waiting.initialize.is_none()) {
                state.remove(cancelled);
            }
        }
        let Some(id) = &self.id else { return };
        self.delivered = Some(id.clone());
        let reports = deliver.report != Report::Never;
        state.open.push((
            key(id),
            Waiting {
                session_id: deliver.add_session_id.clone(),
                reported: self.method.take().filter(|_| reports),
                initialize: self.initialize.take(),
            },
        ));
    }
}

impl TransportFlow {
    fn line(connection: &Connection, line: &[u8]) -> Self {
        let sep1359 = connection.guard.settings().transport.sep1359;
        let mut came = Came::default();
        let mut text = String::new();
        let read = Came::read(line, false).map(|read| {
            came = read;
            text = String::from_utf8_lossy(line).into_owned();
        });
        let is_modern = came.claim == Claim::Modern && came.method.as_deref() != Some("initialize");
        if let Some(cut) = came.cut.take().filter(|_| sep1359 && !is_modern) {
            text = without(&text, &cut);
        } else {
            came.session_id = OwnedClientValue::Absent;
        }
        let id = came.id.take();
        let is_open = |id: &String| connection.state().get(id).is_some();
        let mistake = match read {
            Err(unread) => Some(Mistake::Unread(unread)),
            Ok(()) if id.as_ref().is_some_and(is_open) => Some(IN_USE.into()),
            Ok(()) => None,
        };
        let carrier = Line {
            id,
            cancels: came.cancels.take(),
            initialize: came.initialize.clone(),
            method: came.method.clone(),
            ..Line::new(connection, text)
        };
        Self::new(came, is_modern, Box::new(carrier)).mistaken(mistake)
    }

    /// Makes the flow of a result that is reported.
    fn leaving(connection: &Connection, leaving: &Leaving<'_>, waiting: Waiting) -> Self {
        let came = Came {
            method: waiting.reported,
            initialize: waiting.initialize,
            ..Came::default()
        };
        let carrier = Line {
            id: leaving.id.map(Into::into),
            ..Line::new(connection, leaving.text.into())
        };
        Self::new(came, false, Box::new(carrier)).delivered()
    }
}

impl Exchange {
    fn of_result(context: Context, flow: TransportFlow, result: &str) -> (Self, Step) {
        let mut exchange = Self::with(context, flow);
        let event = Event::Result(HandlerResult {
            whole: Some(result),
            ..HandlerResult::default()
        });
        let step = exchange.on(event).unwrap_or(Step::Drop);
        (exchange, step)
    }
}
