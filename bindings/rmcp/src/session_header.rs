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
use crate::refusal::{About, Reason, rpc_error};
use crate::reply::{Answered, bad_request, bare, json as reply};
use crate::rewrite::{Boxed, boxed, rewrite};
use crate::{Kind, SessionLayer, sep1359};

pub(crate) const HEADER: &str = "mcp-session-id";
pub(crate) const VERSION: &str = "mcp-protocol-version";
const HEADER_LIMIT: usize = 4096;

impl SessionLayer {
    /// The token, once the session is good, by the header or by the message.
    pub(crate) async fn verify(
        &self,
        parts: &mut Parts,
        named: Option<Value>,
        id: &Value,
    ) -> Result<Option<String>, Answered> {
        let header = header(parts);
        // What is no text is no token either.
        let named = named.map(|named| named.as_str().map(str::to_owned).unwrap_or_default());
        let token = match (header, &named) {
            (Some(header), Some(named)) if header != *named => {
                return Err(bad_request("Mcp-Session-Id and sessionId differ"));
            }
            (Some(token), _) => token,
            (None, Some(token)) => token.clone(),
            (None, None) if self.required => return Err(bad_request("Mcp-Session-Id is required")),
            (None, None) => return Ok(None),
        };
        let (caller, context) = self.tokens.caller(extensions(parts));
        let opened = match caller.known(&context) {
            Ok(known) => self.tokens.open(&token, known).await,
            Err(error) => Err(error.into()),
        };
        let (negotiated, _) = opened.map_err(|reason| {
            let about = About {
                principal: caller.principal(),
                token: Some(&token),
                token_id: None,
            };
            self.refuse(&reason, about, named.as_deref(), id)
        })?;
        let version = parts.headers.get(VERSION);
        if version.is_some_and(|version| version != negotiated.protocol_version.as_str()) {
            return Err(bad_request(
                "MCP-Protocol-Version is not what was negotiated",
            ));
        }
        parts.extensions.insert(negotiated);
        Ok(Some(token))
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
                answer => reply(StatusCode::OK, &rpc_error(id, answer)),
            },
        )
    }

    pub(crate) async fn delete(&self, parts: &mut Parts) -> Response<Boxed> {
        let Some(token) = header(parts) else {
            return *bad_request("Mcp-Session-Id is required");
        };
        match self.end(parts, &token).await {
            Ok(()) => bare(StatusCode::NO_CONTENT),
            Err(reason) => *self.refuse(&reason, About::default(), None, &Value::Null),
        }
    }

    pub(crate) async fn terminate(&self, parts: &Parts, token: &str, id: &Value) -> Answered {
        match self.end(parts, token).await {
            Ok(()) => Box::new(reply(StatusCode::OK, &sep1359::terminated(id))),
            Err(reason) => self.refuse(&reason, About::default(), Some(token), id),
        }
    }

    async fn end(&self, parts: &Parts, token: &str) -> Result<(), Reason> {
        let (caller, context) = self.tokens.caller(extensions(parts));
        let known = caller.known(&context)?;
        let (_, presented) = self.tokens.open(token, known).await?;
        self.tokens.guard.ended(&presented).await
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
        let limit = Some(("Mcp-Session-Id, with what was negotiated", HEADER_LIMIT));
        let params = &request["params"];
        let profile = Profile::McpSessionId;
        let begun = self
            .tokens
            .begin(extensions(parts), params, &result, limit, profile);
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
