//! The way of a request through its data-layer session: opened before the handler, written after.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CustomRequest, CustomResult, NotificationMetaObject, NumberOrString, ProtocolVersion,
    ServerCapabilities,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ErrorData, RoleServer};
use sealwax::{Error, Principal, Profile, SessionId, SessionMetadata};
use serde_json::{Value, json};

use crate::caller::{Caller, InSession, Known};
use crate::handles::rfc3339;
use crate::metadata::Metadata;
use crate::refusal::{About, Reason, error_data};
use crate::sessions::SessionSettings;
use crate::{Guard, Kind, Presented};

/// The member of `_meta`.
pub(crate) const SESSION: &str = "io.modelcontextprotocol/session";

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
        caller.session = match context.meta.get(SESSION) {
            Some(sent) => Some(Arc::new(
                self.enter(settings, sent, &caller, &context).await?,
            )),
            None if settings.required(method, tool) => {
                return Err(self.session_required(None));
            }
            None => None,
        };
        context.extensions.insert(caller.clone());
        let asking = context.clone();
        let mut answer = handler(context).await?;
        if let Some(session) = &caller.session {
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

    /// `sessions/create` and `sessions/delete`, which no server inside sees. `None`: another.
    pub(crate) async fn session_request(
        &self,
        request: &CustomRequest,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CustomResult, ErrorData>> {
        let settings = self.settings().sessions.get()?;
        let caller = Caller::new(self.clone());
        let result = match request.method.as_str() {
            "sessions/create" => {
                let params = request.params.clone();
                self.create(settings, params, &caller, context).await
            }
            "sessions/delete" => self.delete(settings, &caller, context).await,
            _ => return None,
        };
        Some(result.map(|mut result| {
            let modern = ProtocolVersion::V_2026_07_28;
            let version = context.protocol_version();
            if version.is_some_and(|version| version.as_str() >= modern.as_str()) {
                result["resultType"] = json!("complete");
            }
            CustomResult::new(result)
        }))
    }

    async fn create(
        &self,
        settings: &SessionSettings,
        params: Option<Value>,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        if context.meta.contains_key(SESSION) {
            let expected = "Invalid params: sessions/create takes no session metadata";
            return Err(ErrorData::invalid_params(expected, None));
        }
        let known = self.known_in_session(caller, context)?;
        let created = match &settings.initial {
            Some(initial) => initial(context.clone(), params)
                .await?
                .and_then(|first| settings.of(&known.view).create(&first)),
            None => known.view.mint_session_id().map(|id| {
                let mut metadata = SessionMetadata::new(id.as_str(), None);
                metadata.expires_at = rfc3339(settings.end(&id));
                metadata
            }),
        };
        let created = created.map_err(|error| {
            let about = About {
                principal: Some(&known.principal),
                ..About::default()
            };
            self.refuse_session(&Reason::NotSealed(error), about)
        })?;
        Ok(json!({ "session": created }))
    }

    async fn delete(
        &self,
        settings: &SessionSettings,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let Some(sent) = context.meta.get(SESSION) else {
            return Err(self.session_required(None));
        };
        let known = self.known_in_session(caller, context)?;
        let ended = async {
            let metadata = read(sent)?;
            let id = settings.of(&known.view).verify(&metadata.session_id)?;
            let presented = presented(settings, known, &id);
            self.accept(&presented).await?;
            self.ended(&presented).await
        };
        let ended = ended.await;
        ended.map_err(|reason| self.refuse_sent(&reason, sent, Some(&known.principal)))?;
        Ok(json!({}))
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
        Ok(InSession {
            id,
            opened,
            written: Mutex::default(),
        })
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

    fn known_in_session<'c>(
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

    fn refuse_sent(
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

/// The session id of a request whose result rmcp leaves empty, for what sees the message after it.
pub(crate) fn echo(guard: &Guard, message: &Value) -> Option<String> {
    guard.settings().sessions.get()?;
    match message["method"].as_str()? {
        "ping"
        | "logging/setLevel"
        | "resources/subscribe"
        | "resources/unsubscribe"
        | "tasks/update"
        | "tasks/cancel" => {}
        _ => return None,
    }
    let id = message["params"]["_meta"][SESSION]["sessionId"].as_str()?;
    Some(id.to_owned())
}

/// Puts it into the result. The boundary has verified it, or the message is an error.
pub(crate) fn put_echo(message: &mut Value, session_id: &str) {
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        let metadata = SessionMetadata::new(session_id, None);
        let meta = result.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.insert(SESSION.into(), json!(metadata));
        }
    }
}

impl SessionSettings {
    /// When a session ends at the latest, in Unix seconds.
    pub(crate) fn end(&self, id: &SessionId) -> u64 {
        id.ends_at_ms(self.max_age) / 1000
    }
}

fn read(sent: &Value) -> Result<SessionMetadata, Error> {
    SessionMetadata::from_json(&sent.to_string())
}

fn presented(settings: &SessionSettings, known: &Known, id: &SessionId) -> Presented {
    Presented {
        kind: Kind::Session,
        id: crate::caller::hex(id.ulid()),
        principal: known.principal.clone(),
        expires_at: Some(settings.end(id)),
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
    let written = session
        .written
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
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
