//! A request of HTTP, and its answer.

use super::changes::Leaving;
use super::events::Stream;
use super::message::{Came, Claim, without};
use super::{Carrier, Mistake, message};
use crate::exchange::Exchange;
use crate::guard::{Guard, Settings};
use crate::message::context::Context;
use crate::message::input::{ClientValue, Failed, OwnedClientValue};
use crate::reply::step::{Deliver, Report, Respond, Step};
use crate::settings::TransportSettings;
use crate::transport::TransportFlow;
use sealwax::Principal;

/// An HTTP request.
#[derive(Clone, Debug, Default)]
pub struct HttpRequest<'a> {
    /// The method.
    pub method: &'a str,
    /// The header `MCP-Protocol-Version`. More than one is [`ClientValue::Other`].
    pub version: ClientValue<'a>,
    /// The header `Mcp-Session-Id`. More than one is [`ClientValue::Other`].
    pub session: ClientValue<'a>,
    /// The header `Content-Encoding`, of a body whose encoding nobody undid.
    pub encoding: Option<&'a str>,
    /// The body, if it is there already. The exchange [asks](Step::Body) for one that it needs.
    pub body: Option<Body<'a>>,
    /// The caller, if the adapter knows it already.
    pub principal: Option<Result<Principal, Failed>>,
}

/// The body of a request.
#[derive(Clone, Copy, Debug)]
pub enum Body<'a> {
    /// The whole of it.
    Whole(&'a [u8]),
    /// It is larger than what the adapter reads.
    TooLarge,
}

/// The beginning of an answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerHead<'a> {
    /// The status.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The header `Mcp-Session-Id`, of a server that has sessions of its own.
    pub session: Option<&'a str>,
}

/// The methods of HTTP with a body that is a message.
const POST: &str = "POST";

impl Guard {
    /// Begins the exchange of an HTTP request. The bytes beside its steps are in [`Exchange::text`]: of `deliver` the body for
    /// the SDK if that is another one, of `reply` and `respond` the body to send. If `deliver` reports a result, or adds an id,
    /// the answer goes through [`Exchange::answer`], [`Exchange::piece`] and [`Exchange::answered`].
    #[must_use]
    pub fn http(&self, mut request: HttpRequest<'_>) -> (Exchange, Step) {
        let context = Context::new(self.clone(), request.principal.take(), None);
        let flow = TransportFlow::of_http(self.settings(), &request);
        Exchange::of_transport(context, flow)
    }
}

/// What is known of a request, and of its answer.
#[derive(Default)]
pub(crate) struct Http {
    version: Claim,
    is_encoded: bool,
    /// The id of the request, as it was written.
    id: Option<String>,
    /// The body for the SDK, if it is not the one that came.
    body: Option<String>,
    /// The id to add to every message of the answer.
    adds: Option<String>,
    /// Whether the result is reported.
    reports: bool,
    form: Form,
    /// Whether the answer begins a session that is not the guard's.
    has_session: bool,
    /// What came of the answer, and was not sent.
    answer: Stream,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Form {
    /// No message in it is changed.
    #[default]
    Other,
    Json,
    Events,
}

impl Http {
    /// Reads a body. Returns the message that is in it, and whether that is of revision 2026-07-28 or later.
    pub fn read(
        &mut self,
        body: Body<'_>,
        settings: &TransportSettings,
    ) -> Result<(Came, bool), Mistake> {
        let Body::Whole(bytes) = body else {
            return Err(Mistake::TooLarge);
        };
        if self.is_encoded {
            return Err(Mistake::Encoded);
        }
        let mut came = Came::read(bytes, true)?;
        self.id = came.id.take();
        let is_modern = settings.modern && self.is_modern(&came);
        if let Some(cut) = came.cut.take().filter(|_| settings.sep1359 && !is_modern) {
            let text = str::from_utf8(bytes).unwrap_or_default();
            self.body = Some(without(text, &cut));
        } else {
            came.session_id = OwnedClientValue::Absent;
        }
        Ok((came, is_modern))
    }

    /// Returns whether a message is of revision 2026-07-28 or later: its header says so, and nothing else the contrary. A batch, and
    /// an answer, are of none: SDKs may serve them as of an earlier one.
    fn is_modern(&self, came: &Came) -> bool {
        let method = came.method.as_deref();
        let is_later = method.is_some_and(|method| method != "initialize");
        is_later && self.version == Claim::Modern && came.claim != Claim::Earlier
    }

    fn delivers(&mut self, deliver: &Deliver) {
        self.adds.clone_from(&deliver.add_session_id);
        self.reports = deliver.report != Report::Never;
    }

    /// Takes the head of an answer. Returns whether its body is to pass here.
    pub fn head(&mut self, head: &AnswerHead<'_>) -> bool {
        let kind = head.content_type.unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let is = |name: &str| kind.eq_ignore_ascii_case(name);
        self.form = match () {
            () if self.reports && head.status != 200 => Form::Other,
            () if is("text/event-stream") => Form::Events,
            () if is("application/json") => Form::Json,
            () => Form::Other,
        };
        let passes = self.form != Form::Other && (self.reports || self.adds.is_some());
        self.has_session = passes && self.reports && head.session.is_some();
        passes
    }

    /// Takes a piece of the answer, and returns what can be sent.
    pub fn piece(&mut self, bytes: &[u8]) -> Option<String> {
        self.answer.held.extend_from_slice(bytes);
        let adds = self.adds.as_deref();
        if self.form != Form::Events || self.reports {
            return None;
        }
        let mut add = |message: &str| Leaving::read(message)?.with_session(adds?);
        let sent = self.answer.events(&mut add);
        Some(sent).filter(|sent| !sent.is_empty())
    }

    /// Returns the result to report, once the answer is whole; or what is wrong with it.
    pub fn result(&self) -> Result<Option<String>, &'static str> {
        if !self.reports || self.form == Form::Other {
            return Ok(None);
        }
        if self.has_session {
            return Err("server: expected a stateless one, found one with sessions");
        }
        let mut found = Err("server: expected an answer of JSON to the request");
        self.each(&mut |message| {
            let leaving = Leaving::read(message)?;
            if found.is_err() && leaving.answers(self.id.as_deref()) {
                found = Ok(leaving.result().map(Into::into));
            }
            None
        });
        found
    }

    fn rest(&self, respond: &Respond) -> String {
        let changes = respond.set(None);
        let mut is_changed = false;
        self.each(&mut |message| {
            let leaving = Leaving::read(message)?;
            if let Some(session_id) = &self.adds {
                return leaving.with_session(session_id);
            }
            if is_changed || !leaving.answers(self.id.as_deref()) {
                return None;
            }
            is_changed = leaving.result().is_some();
            leaving.changed(&changes)
        })
    }

    /// Returns what is held, with its messages changed.
    fn each(&self, change: &mut dyn FnMut(&str) -> Option<String>) -> String {
        let mut answer = self.answer.clone();
        let done = match self.form {
            Form::Events => answer.events(change),
            _ => String::new(),
        };
        let rest = String::from_utf8_lossy(&answer.held);
        if self.form == Form::Json
            && let Some(changed) = change(&rest)
        {
            return changed;
        }
        done + &rest
    }
}

impl Carrier for Http {
    fn text(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Deliver(deliver) => {
                self.delivers(deliver);
                self.body.take()
            }
            Step::Reply(reply) => message(reply, self.id.as_deref()),
            Step::Respond(respond) => Some(self.rest(respond)),
            _ => None,
        }
    }

    fn http(&mut self) -> Option<&mut Http> {
        Some(self)
    }
}

impl TransportFlow {
    fn of_http(settings: &Settings, request: &HttpRequest<'_>) -> Self {
        let encoding = request.encoding.unwrap_or("identity");
        let carrier = Http {
            version: Claim::of(request.version),
            is_encoded: !encoding.eq_ignore_ascii_case("identity"),
            ..Http::default()
        };
        let version = match request.version {
            ClientValue::Absent => None,
            // No session was negotiated for it.
            version => Some(version.text().unwrap_or("several")),
        };
        let flow = Self::new(Came::default(), false, Box::new(carrier));
        let mut flow = flow.over_http(request.method, version, request.session);
        match (request.method, request.body) {
            (POST, None) => flow.reading(),
            (POST, Some(body)) => {
                flow.read(settings, body);
                flow
            }
            _ => flow,
        }
    }
}
