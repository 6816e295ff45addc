//! The way of a request or a notification through the guard.

use std::sync::Arc;

use rmcp::model::{NotificationMetaObject, ProtocolVersion};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer};
use sealwax_mcp::TokenFields;
use sealwax_mcp::{
    ClientSession, ClientValue, Event, Failed, Message, Reply, Report, Step, Updated,
};
use serde_json::Value;

use crate::caller::{Caller, refused};
use crate::guard::Guard;
use crate::message::{SESSION, header};
use crate::params::{Params, sent};
use crate::refusal::{Asked, internal};
use crate::results::Outgoing;

impl Guard {
    /// Opens what the request carries, calls `handler`, and seals what it returns.
    pub(crate) async fn serve<Q, A, H>(
        &self,
        method: &str,
        mut request: Q,
        mut context: RequestContext<RoleServer>,
        handler: impl FnOnce(Q, RequestContext<RoleServer>) -> H,
    ) -> Result<A, ErrorData>
    where
        Q: Params,
        A: Outgoing + 'static,
        H: Future<Output = Result<A, ErrorData>>,
    {
        let carried = TokenFields::for_method(method);
        let target = carried.and_then(|carried| request.target(&carried));
        let lent = match context.extensions.get::<http::request::Parts>() {
            None => self.take_lent(&context.id),
            Some(_) => None,
        };
        let asked = Asked {
            method: method.into(),
            target: target.map(Into::into),
        };
        let caller = Arc::new(Caller::new(self, asked, &context.extensions, lent));
        let modern = is_modern(&context);
        let arguments = match carried {
            Some(TokenFields {
                target: Some(_), ..
            }) => request.arguments(),
            _ => None,
        };
        let session = context.meta.get(SESSION);
        let (mut exchange, step) = self.engine().message(Message {
            method,
            target,
            arguments: arguments.as_deref(),
            modern,
            header: session.and_then(|_| header_of(&context)),
            token: carried.map_or(ClientValue::Absent, |carried| request.sent(&carried)),
            session: session.and_then(sent_session),
            principal: caller.principal().cloned().map(Ok),
            ..Message::default()
        });
        let mut step = caller.drive(&mut exchange, step, &context).await;
        if let Step::Begin = step {
            let begun = self.begun(&context, request.all()).await?;
            let begun = begun.as_deref().map_err(Clone::clone);
            step = caller.on(&mut exchange, Event::Begun(begun));
            step = caller.drive(&mut exchange, step, &context).await;
        }
        let Step::Deliver(deliver) = step else {
            return told(step);
        };
        if let Some(own) = deliver.builtin_result {
            return A::own(&own, modern).ok_or_else(internal);
        }
        if let Some(carried) = &carried
            && let Some(came) = request.put(carried, deliver.opened)
        {
            caller.carried(came);
        }
        let asking = (deliver.report != Report::Never).then(|| context.clone());
        let kept = caller.keep(exchange);
        context.extensions.insert(Arc::clone(&caller));
        let mut answer = handler(request, context).await?;
        let (Some(mut exchange), Some(asking)) = (kept.take(), asking) else {
            return Ok(answer);
        };
        if asking.ct.is_cancelled() {
            // The client no longer waits for the answer, so the request must have no effect.
            return Err(internal());
        }
        let member = carried.map_or("", |carried| carried.result);
        let head = answer.head(member);
        if head.token == ClientValue::Absent && deliver.report != Report::Always {
            return Ok(answer);
        }
        let mut step = caller.on(&mut exchange, Event::Result(head));
        loop {
            step = match caller.drive(&mut exchange, step, &asking).await {
                Step::Update(value) => {
                    let made = updated(&caller, value, &mut answer);
                    let made = made.as_ref().map_err(Clone::clone);
                    let made = made.map(|(value, again)| Updated {
                        value,
                        result: again.then(|| answer.head(member)),
                    });
                    caller.on(&mut exchange, Event::Updated(made))
                }
                Step::Respond(leave) => {
                    answer.leave(member, *leave);
                    return Ok(answer);
                }
                step => return told(step),
            };
        }
    }

    /// Calls `handler` with a notification, unless its session is refused.
    pub(crate) async fn notify<H: Future<Output = ()>>(
        &self,
        method: &str,
        mut context: NotificationContext<RoleServer>,
        handler: impl FnOnce(NotificationContext<RoleServer>) -> H,
    ) {
        // rmcp 3.9 puts the metadata into the extensions, and leaves `context.meta` empty.
        let left = context.extensions.get::<NotificationMetaObject>();
        let left = left.and_then(|meta| meta.get(SESSION));
        let session = context.meta.get(SESSION).or(left);
        // The function for the principal takes a request, so this makes one for the notification.
        let mut asking = self.request(Some(context.peer.clone()));
        asking.extensions = context.extensions.clone();
        let asked = Asked {
            method: method.into(),
            target: None,
        };
        let caller = Arc::new(Caller::new(self, asked, &asking.extensions, None));
        let (mut exchange, step) = self.engine().message(Message {
            method,
            notification: true,
            modern: is_modern(&asking),
            header: session.and_then(|_| header_of(&asking)),
            session: session.and_then(sent_session),
            principal: caller.principal().cloned().map(Ok),
            ..Message::default()
        });
        if let Step::Deliver(_) = caller.drive(&mut exchange, step, &asking).await {
            let _kept = caller.keep(exchange);
            context.extensions.insert(Arc::clone(&caller));
            handler(context).await;
        }
    }

    /// Returns the first value of a session.
    async fn begun(
        &self,
        context: &RequestContext<RoleServer>,
        params: Option<Value>,
    ) -> Result<Result<String, Failed>, ErrorData> {
        let sessions = self.sessions_slot().get();
        match sessions.and_then(|sessions| sessions.initial.as_ref()) {
            Some(initial) => initial(context.clone(), params).await,
            None => Err(internal()),
        }
    }
}

/// Applies the handler's functions to the value that another request wrote. Returns the outcome, and whether the answer was
/// made again from it.
fn updated<A: 'static>(
    caller: &Caller,
    value: String,
    answer: &mut A,
) -> Result<(String, bool), Failed> {
    let value = caller.updated(value)?;
    let again = caller.remade(&value).transpose()?;
    let is_again = again.is_some();
    if let Some(again) = again {
        *answer = again;
    }
    Ok((value, is_again))
}

/// Returns the answer that replaces the handler's.
fn told<A: Outgoing>(step: Step) -> Result<A, ErrorData> {
    match step {
        Step::Reply(Reply {
            tool: Some(tool), ..
        }) => A::told(&tool).ok_or_else(internal),
        step => Err(refused(step)),
    }
}

/// Decides as rmcp does.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Two headers, or one that is no text, match no session.
fn header_of(context: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = context.extensions.get::<http::request::Parts>()?;
    match header(parts) {
        ClientValue::Absent => None,
        header => Some(header.text().unwrap_or_default()),
    }
}

fn sent_session(session: &Value) -> Option<ClientSession<'_>> {
    (!session.is_null()).then(|| ClientSession {
        id: sent(session.get("sessionId")),
        state: sent(session.get("state")),
    })
}
