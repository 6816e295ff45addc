//! The way of a request or a notification through the guard.

use std::sync::Arc;

use rmcp::model::{Extensions, NotificationMetaObject, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use sealwax_mcp::{
    Client, ClientSession, ClientValue, Event, Failed, HandlerResult as Reported, Message, Origin,
    Outcome, Reply, Report, Step, TokenFields,
};
use serde_json::{Value, json};

use super::SESSION;
use super::params::Params;
use super::questions::{elicit, listed};
use super::results::Outgoing;
use crate::Context;
use crate::caller::{Caller, Running};
use crate::foreign::caught;
use crate::guard::Guard;
use crate::hooks::Timed;
use crate::principal::parts;
use crate::refusal::{error_data, internal};
use crate::transport::http;

/// How an answer to a question is reported.
type Answered<'a> = fn(Result<&'a str, Failed>) -> Event<'a>;

impl Guard {
    /// Opens what the request carries, calls `handler`, and seals what it returns.
    pub(crate) async fn serve<Q, A, H>(
        &self,
        inner: &impl ServerHandler,
        method: &str,
        mut request: Q,
        mut context: Context,
        handler: impl FnOnce(Q, Context) -> H,
    ) -> Result<A, ErrorData>
    where
        Q: Params,
        A: Outgoing,
        H: Future<Output = Result<A, ErrorData>>,
    {
        let since = self.starts();
        let fields = TokenFields::for_method(method);
        let target = fields.and_then(|fields| request.target(&fields).map(String::from));
        let arguments = fields.and_then(|fields| fields.target.and_then(|_| request.arguments()));
        let origin = Origin::new(Some(method.into()), target.as_deref().map(Into::into));
        let caller = Arc::new(Caller::new(self, origin, &context.extensions));
        let modern = is_modern(&context);
        let confirms = self.0.options.confirms && method.starts_with("tools/");
        let asked = confirms.then(|| (self.capabilities(&context), request.responses()));
        let client = asked.as_ref().map(|(capabilities, responses)| Client {
            capabilities: capabilities.as_deref(),
            responses: responses.as_deref(),
            // Over HTTP rmcp does not say who answered, and another user may know the session.
            can_be_asked: parts(&context.extensions).is_none(),
        });
        let token = fields.and_then(|fields| Some(request.token(&fields)?.value()));
        let session = context.meta.get(SESSION);
        let message = Message {
            method,
            target: target.as_deref(),
            arguments: arguments.as_deref(),
            modern,
            header: session.and_then(|_| header_of(&context.extensions)),
            token: token.unwrap_or_default(),
            session: session.and_then(client_session),
            principal: caller.principal().cloned().map(Ok),
            within: caller.within,
            ..Message::default()
        };
        let (exchange, step) = self.0.engine.message_from(message, client.as_ref());
        let mut exchange = Timed::new(exchange, since);
        let mut step = caller.drive(&mut exchange, step, Some(&context)).await;
        let deliver = loop {
            let (event, answer): (Answered<'_>, _) = match step {
                Step::Deliver(deliver) => break deliver,
                Step::Begin => (Event::Begun, self.begin(request.all(), &context).await?),
                Step::Word(call) => (Event::Worded, self.question(*call, &context).await),
                Step::Elicit(elicitation) => {
                    let answer = elicit(*elicitation, &context).await;
                    if context.ct.is_cancelled() {
                        // A late yes runs nothing.
                        return Err(internal());
                    }
                    (Event::Elicited, answer)
                }
                Step::List(list) => {
                    let page = Box::pin(listed(inner, *list, &context)).await;
                    (Event::Listed, page)
                }
                step => return reply(step),
            };
            let answer = answer.as_deref().map_err(Clone::clone);
            step = caller.on(&mut exchange, event(answer));
            step = caller.drive(&mut exchange, step, Some(&context)).await;
        };
        let report = deliver.report;
        let whole = exchange.reports_whole();
        if let Some(result) = deliver.builtin_result {
            let mut result: Value = serde_json::from_str(&result).map_err(|_| internal())?;
            if modern {
                result["resultType"] = json!("complete");
            }
            return A::of(result).ok_or_else(internal);
        }
        let token = fields.and_then(|fields| request.token(&fields)?.replace(deliver.opened));
        if let Some(called) = exchange.called() {
            request.set_call(called);
        }
        let ct = context.ct.clone();
        // Only a principal that is not known yet is asked for with it.
        let asking = caller.principal().is_none() && report != Report::Never;
        let asking = asking.then(|| context.clone());
        let kept = caller.keep(Running::new(exchange, token));
        context.extensions.insert(Arc::clone(&caller));
        let handled = handler(request, context).await;
        let running = kept.take();
        let (mut answer, running) = match (handled, running) {
            (Err(_), Some(mut running)) if running.unbound => {
                // The engine says which argument is at fault, as where it seals the state itself.
                let state = Reported {
                    outcome: Outcome::InputRequired,
                    token: ClientValue::Text("null"),
                    ..Reported::default()
                };
                let step = caller.on(&mut running.exchange, Event::Result(state));
                return reply(caller.identified(&mut running.exchange, step, None));
            }
            (handled, running) => (handled?, running),
        };
        let Some(mut running) = running.filter(|_| report != Report::Never) else {
            return Ok(answer);
        };
        if ct.is_cancelled() {
            // The client no longer waits for the answer, so the request must have no effect.
            return Err(internal());
        }
        let member = fields.map_or("", |fields| fields.result);
        let whole = whole.then(|| answer.whole()).flatten();
        let reported = Reported {
            whole: whole.as_deref(),
            ..answer.places().reported(member)
        };
        if reported.token == ClientValue::Absent && report != Report::Always {
            return Ok(answer);
        }
        let exchange = &mut running.exchange;
        let step = caller.on(exchange, Event::Result(reported));
        match caller.drive(exchange, step, asking.as_ref()).await {
            Step::Respond(changes) => {
                answer.places().respond(*changes, fields);
                Ok(answer)
            }
            step => reply(step),
        }
    }

    /// Returns the first value of a session, as JSON, as the author's function makes it. An error is its own answer.
    async fn begin(
        &self,
        params: Option<Value>,
        context: &Context,
    ) -> Result<Result<String, Failed>, ErrorData> {
        let sessions = self.0.options.sessions.as_ref();
        let initial = sessions.and_then(|sessions| sessions.initial.as_ref());
        let initial = initial.ok_or_else(internal)?;
        match caught(async { initial(context.clone(), params).await }).await {
            Ok(begun) => begun,
            Err(failed) => Ok(Err(failed)),
        }
    }

    /// Calls `handler` with a notification, unless its session is refused.
    pub(crate) async fn notify<H: Future<Output = ()>>(
        &self,
        method: &str,
        mut context: NotificationContext<RoleServer>,
        handler: impl FnOnce(NotificationContext<RoleServer>) -> H,
    ) {
        let since = self.starts();
        // rmcp puts the metadata into the extensions, and leaves `context.meta` empty.
        let left = context.extensions.get::<NotificationMetaObject>();
        let left = left.and_then(|meta| meta.get(SESSION));
        let session = context.meta.get(SESSION).or(left);
        // The function for the principal takes a request, so this makes one for the notification.
        let mut asking = self.request(Some(context.peer.clone()));
        asking.extensions = context.extensions.clone();
        let origin = Origin::new(Some(method.into()), None);
        let caller = Arc::new(Caller::new(self, origin, &asking.extensions));
        let (exchange, step) = self.0.engine.message(Message {
            method,
            notification: true,
            modern: is_modern(&asking),
            header: session.and_then(|_| header_of(&asking.extensions)),
            session: session.and_then(client_session),
            principal: caller.principal().cloned().map(Ok),
            within: caller.within,
            ..Message::default()
        });
        let mut exchange = Timed::new(exchange, since);
        if let Step::Deliver(_) = caller.drive(&mut exchange, step, Some(&asking)).await {
            let _kept = caller.keep(Running::new(exchange, None));
            context.extensions.insert(Arc::clone(&caller));
            handler(context).await;
        }
    }
}

/// Returns the answer that replaces the handler's.
fn reply<A: Outgoing>(step: Step) -> Result<A, ErrorData> {
    let Step::Reply(reply) = step else {
        return Err(internal());
    };
    let result = match &reply {
        Reply {
            tool: Some(tool), ..
        } => json!(tool),
        Reply {
            result: Some(result),
            ..
        } => Value::clone(result),
        _ => return Err(error_data(reply)),
    };
    A::of(result).ok_or_else(internal)
}

/// Decides as rmcp does.
fn is_modern(context: &Context) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Two headers, or one that is no text, match no session.
fn header_of(extensions: &Extensions) -> Option<&str> {
    match http::session(parts(extensions)?) {
        ClientValue::Absent => None,
        header => Some(header.text().unwrap_or_default()),
    }
}

fn client_session(session: &Value) -> Option<ClientSession<'_>> {
    (!session.is_null()).then(|| ClientSession {
        id: (&session["sessionId"]).into(),
        state: (&session["state"]).into(),
    })
}
