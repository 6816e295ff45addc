//! `sessions/create` and `sessions/delete`, which the guard answers itself.

use rmcp::model::{CustomRequest, CustomResult, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use crate::Guard;
use crate::caller::Caller;
use crate::message::SESSION;
use crate::refusal::{About, Reason, method_not_found};
use crate::session_boundary::{presented, read};
use crate::sessions::SessionSettings;

impl Guard {
    /// `None`: another method.
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
            "sessions/delete" if self.remembers() => self.delete(settings, &caller, context).await,
            "sessions/delete" => Err(method_not_found()),
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
            None => settings.of(&known.view).mint(),
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
}
