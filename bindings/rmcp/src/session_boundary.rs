//! The way of a request through its data-layer session: opened before the handler, written after.

use std::sync::Arc;

use rmcp::model::{NotificationMetaObject, NumberOrString, ServerCapabilities};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer};
use sealwax::{Error, Principal, Profile, SessionId, SessionMetadata};
use serde_json::{Value, json};

use crate::accept::over_ms;
use crate::caller::{Caller, InSession, Known};
use crate::message::SESSION;
use crate::metadata::Metadata;
use crate::refusal::{About, Reason, error_data};
use crate::sessions::{SessionSettings, is_list};
use crate::{Guard, Kind, Presented};

impl Guard {
    /// Calls `handler` with the session of the request opened, and sends what it wrote.
    pub(crate) async fn in_session<A, H>(
        &self,
        method: &str,
        tool: Option<&str>,
        mut context: RequestContext<RoleServer>,
        handler: impl FnOnce(RequestContext<RoleServer>) -> H,
    ) -> Result<A, ErrorData>
    where
        A: Metadata,
        H: Future<Output = Result<A, ErrorData>>,
    {
        let mut caller = Caller::new(self.clone());
        let Some(settings) = self.settings().sessions.get() else {
            context.extensions.insert(caller);
            return handler(context).await;
        };
        let session = match context.meta.get(SESSION) {
            Some(sent) => Some(Arc::new(
                self.enter(settings, sent, &caller, &context).await?,
            )),
            None if settings.required(method, tool) => {
                return Err(self.session_required(None));
            }
            None => None,
        };
        caller.private = session.is_some();
        // What a list shows does not depend on a session, so its handler sees none.
        caller.session = session.clone().filter(|_| !is_list(method));
        context.extensions.insert(caller.clone());
        let asking = context.clone();
        let mut answer = handler(context).await?;
        if let Some(session) = &session {
            let left = caller
                .known(&asking)
                .and_then(|known| leave(settings, known, session, &mut answer));
            left.map_err(|error| {
                let about = About {
                    principal: caller.principal(),
                    token_id: Some(session.ulid()),
                    ..About::default()
                };
                self.refuse_session(&Reason::NotSealed(error), about)
            })?;
        }
        Ok(answer)
    }

    async fn enter(
        &self,
        settings: &SessionSettings,
        sent: &Value,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<InSession, ErrorData> {
        let known = self.known_in_session(caller, context)?;
        let entered = self.open_session(settings, sent, known).await;
        entered.map_err(|reason| self.refuse_sent(&reason, sent, Some(&known.principal)))
    }

    async fn open_session(
        &self,
        settings: &SessionSettings,
        sent: &Value,
        known: &Known,
    ) -> Result<InSession, Reason> {
        let metadata = read(sent)?;
        let sessions = settings.of(&known.view);
        let (id, opened) = match settings.initial {
            None => (sessions.verify(&metadata.session_id)?, None),
            Some(_) => {
                let opened = sessions.open(&metadata)?;
                (opened.id().clone(), Some(opened))
            }
        };
        if let Some(opened) = &opened
            && !(settings.fits)(opened.payload())
        {
            return Err(Error::Malformed("a state that is JSON of the sessions' type").into());
        }
        self.accept(&presented(settings, known, &id)).await?;
        Ok(InSession::new(id, opened))
    }

    /// Whether a notification may pass: one with a bad session is dropped.
    pub(crate) async fn notified(&self, context: &NotificationContext<RoleServer>) -> bool {
        let Some(settings) = self.settings().sessions.get() else {
            return true;
        };
        // rmcp 3.9 leaves it in the extensions, where `context.meta` is empty.
        let left = context.extensions.get::<NotificationMetaObject>();
        let left = left.and_then(|meta| meta.get(SESSION));
        let Some(sent) = context.meta.get(SESSION).or(left) else {
            return true;
        };
        // The principal is asked of a request; a notification is one without an id.
        let mut asking = RequestContext::new(NumberOrString::Number(0), context.peer.clone());
        asking.extensions = context.extensions.clone();
        let caller = Caller::new(self.clone());
        self.enter(settings, sent, &caller, &asking).await.is_ok()
    }

    pub(crate) fn known_in_session<'c>(
        &self,
        caller: &'c Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<&'c Known, ErrorData> {
        let known = caller.known(context);
        known.map_err(|error| self.refuse_session(&error.into(), About::default()))
    }

    pub(crate) fn session_required(&self, principal: Option<&Principal>) -> ErrorData {
        let about = About {
            principal,
            ..About::default()
        };
        let reason = Error::Malformed("session metadata, which this request needs").into();
        error_data(self.refuse_as(
            Kind::Session,
            Profile::DataLayerRequired,
            None,
            &reason,
            about,
        ))
    }

    pub(crate) fn refuse_sent(
        &self,
        reason: &Reason,
        sent: &Value,
        principal: Option<&Principal>,
    ) -> ErrorData {
        let about = About {
            principal,
            token: sent["state"].as_str(),
            ..About::default()
        };
        let id = sent["sessionId"].as_str();
        error_data(self.refuse_as(Kind::Session, Profile::DataLayer, id, reason, about))
    }

    /// Says that there are sessions, where rmcp has a place for it.
    pub(crate) fn offer_sessions(&self, capabilities: &mut ServerCapabilities) {
        if self.settings().sessions.get().is_some() {
            let experimental = capabilities.experimental.get_or_insert_default();
            experimental.entry("sessions".into()).or_default();
        }
    }
}

pub(crate) fn read(sent: &Value) -> Result<SessionMetadata, Error> {
    SessionMetadata::from_json(&sent.to_string())
}

pub(crate) fn presented(settings: &SessionSettings, known: &Known, id: &SessionId) -> Presented {
    Presented {
        kind: Kind::Session,
        id: crate::caller::hex(id.ulid()),
        principal: known.principal.clone(),
        expires_at: Some(over_ms(settings.end_ms(id))),
    }
}

/// What goes back: the id as it came, and a new state where there is one.
fn leave(
    settings: &SessionSettings,
    known: &Known,
    session: &InSession,
    answer: &mut impl Metadata,
) -> Result<(), Error> {
    let mut metadata = SessionMetadata::new(session.id.as_str(), None);
    let written = session.written().take();
    let was_written = written.is_some();
    if let Some(opened) = &session.opened {
        let due = opened.state().needs_renewal();
        let renewed = due.then(|| opened.payload().to_vec());
        if let Some(payload) = written.or(renewed) {
            metadata = settings.of(&known.view).renew(opened, &payload)?;
        }
    }
    if !answer.set_meta(SESSION, json!(metadata)) && was_written {
        return Err(Error::InvalidArgument(
            "Session: rmcp gives this method's result no metadata, so what was written would be \
             lost; write it in another"
                .into(),
        ));
    }
    Ok(())
}
