//! `Mcp-Session-Id`: a session begins with `initialize`, is verified before the service inside sees
//! a request, and ends with `DELETE`.

use http::header::HeaderValue;
use http::request::Parts;
use http::{Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use rmcp::model::Extensions;
use sealwax::{Answer, Profile};
use serde_json::{Value, json};

use crate::message::add_capability;
use crate::refusal::{About, Reason, error_data, rpc_error};
use crate::reply::{Answered, bad_request, bare, json as reply, method_not_allowed};
use crate::rewrite::{Boxed, boxed, rewrite};
use crate::{Kind, Presented, SessionLayer, sep1359};

pub(crate) const HEADER: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
const REQUIRED: &str = "Mcp-Session-Id is required";

/// A session of the transport, every check passed.
pub(crate) struct Verified {
    pub token: String,
    presented: Presented,
}

impl Verified {
    fn about(&self) -> About<'_> {
        About {
            principal: Some(&self.presented.principal),
            token: Some(&self.token),
            token_id: None,
        }
    }
}

impl SessionLayer {
    /// The session, by the header or by the message.
    pub(crate) async fn verify(
        &self,
        parts: &mut Parts,
        named: Option<Value>,
        id: &Value,
    ) -> Result<Option<Verified>, Answered> {
        let header = header(parts);
        // What is no text is no token either.
        let named = named.map(|named| named.as_str().map(str::to_owned).unwrap_or_default());
        let token = match (header, &named) {
            (Some(header), Some(named)) if header != *named => {
                return Err(bad_request("Mcp-Session-Id and sessionId differ"));
            }
            (Some(token), _) => token,
            (None, Some(token)) => token.clone(),
            (None, None) if self.required => return Err(bad_request(REQUIRED)),
            (None, None) => return Ok(None),
        };
        let (caller, context) = self.tokens.caller(extensions(parts));
        let opened = match caller.known(&context) {
            Ok(known) => self.tokens.open(&token, known).await,
            Err(error) => Err(error.into()),
        };
        let (negotiated, presented) = opened.map_err(|reason| {
            let about = About {
                principal: caller.principal(),
                token: Some(&token),
                token_id: None,
            };
            self.refuse(&reason, about, named.as_deref(), id)
        })?;
        let version = HeaderValue::from_str(&negotiated.protocol_version);
        match (parts.headers.get(VERSION), version) {
            (Some(said), Ok(version)) if *said == version => {}
            (None, Ok(version)) => {
                // rmcp would take it for the oldest.
                parts.headers.insert(VERSION, version);
            }
            _ => {
                return Err(bad_request(
                    "MCP-Protocol-Version is not what was negotiated",
                ));
            }
        }
        parts.extensions.insert(negotiated);
        Ok(Some(Verified { token, presented }))
    }

    /// In the words of the header, or of SEP-1359 to a message that named its session.
    fn refuse(
        &self,
        reason: &Reason,
        about: About<'_>,
        named: Option<&str>,
        id: &Value,
    ) -> Answered {
        let profile = match named {
            Some(_) if !id.is_null() => Profile::Sep1359,
            _ => Profile::McpSessionId,
        };
        let guard = &self.tokens.guard;
        Box::new(
            match guard.refuse_as(Kind::Session, profile, named, reason, about) {
                Answer::HttpStatus(status) => {
                    bare(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
                }
                answer => reply(StatusCode::OK, &rpc_error(id, &error_data(answer))),
            },
        )
    }

    pub(crate) async fn delete(&self, parts: &mut Parts) -> Answered {
        if !self.tokens.guard.remembers() {
            return Box::new(method_not_allowed());
        }
        let session = match self.verify(parts, None, &Value::Null).await {
            Ok(Some(session)) => session,
            Ok(None) => return bad_request(REQUIRED),
            Err(answer) => return answer,
        };
        match self.tokens.guard.ended(&session.presented).await {
            Ok(()) => Box::new(bare(StatusCode::NO_CONTENT)),
            Err(reason) => self.refuse(&reason, session.about(), None, &Value::Null),
        }
    }

    /// Ends a session by the message that wants it, if it is a request.
    pub(crate) async fn terminate(
        &self,
        session: &Verified,
        named: bool,
        id: Option<&Value>,
    ) -> Answered {
        let guard = &self.tokens.guard;
        let Some(id) = id else {
            let reason = sep1359::no_request();
            let profile = Profile::Sep1359;
            guard.refuse_as(Kind::Session, profile, None, &reason, session.about());
            return Box::new(bare(StatusCode::ACCEPTED));
        };
        match guard.ended(&session.presented).await {
            Ok(()) => Box::new(reply(StatusCode::OK, &sep1359::terminated(id))),
            Err(reason) => {
                let named = named.then_some(session.token.as_str());
                self.refuse(&reason, session.about(), named, id)
            }
        }
    }

    /// The answer to `initialize`, which is short, so it is read to its end.
    pub(crate) async fn begin(
        &self,
        request: &Value,
        parts: &Parts,
        response: Response<Boxed>,
    ) -> Response<Boxed> {
        let failed = || {
            let error = json!({"code": -32603, "message": "Internal error"});
            let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            reply(StatusCode::INTERNAL_SERVER_ERROR, &error)
        };
        let has_sessions = self.tokens.guard.settings().sessions.get().is_some();
        let (told, mut tell) = futures::channel::mpsc::unbounded::<Value>();
        let response = rewrite(response, move |message| {
            if has_sessions {
                add_capability(message);
            }
            // The other end is read below.
            let _ = told.unbounded_send(message["result"].clone());
        });
        let (mut head, body) = response.into_parts();
        let Ok(body) = body.collect().await else {
            return failed();
        };
        let mut results = std::iter::from_fn(|| tell.try_recv().ok());
        let result = results.find(|result| result["protocolVersion"].is_string());
        let Some(result) = result else {
            return Response::from_parts(head, boxed(Full::new(body.to_bytes())));
        };
        let params = &request["params"];
        let profile = Profile::McpSessionId;
        let begun = self
            .tokens
            .begin(extensions(parts), params, &result, profile);
        let Ok(sealed) = begun else {
            return failed();
        };
        let Ok(header) = HeaderValue::from_str(&sealed.token) else {
            return failed();
        };
        head.headers.insert(HEADER, header);
        let response = Response::from_parts(head, boxed(Full::new(body.to_bytes())));
        match self.sep1359 {
            true => rewrite(response, move |message| sep1359::begin(message, &sealed)),
            false => response,
        }
    }
}

/// What is no text is no token, and refused as such.
fn header(parts: &Parts) -> Option<String> {
    let header = parts.headers.get(HEADER)?;
    Some(header.to_str().unwrap_or_default().to_owned())
}

fn extensions(parts: &Parts) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(parts.clone());
    extensions
}
