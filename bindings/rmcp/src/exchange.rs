//! One request to the layer and its answer: which sessions it has to do with, by its revision and
//! its method.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use serde_json::Value;

use crate::SessionLayer;
use crate::message::{SESSION, add_capability, echo};
use crate::refusal::{method_not_found, rpc_error};
use crate::reply::{Answered, bad_request, json as reply};
use crate::rewrite::{Boxed, rewrite};
use crate::sep1359::{self, name};
use crate::session_header::{HEADER, VERSION};

/// The revision that has no sessions of the transport any more.
const MODERN: &str = "2026-07-28";

/// What is to be done with the answer.
pub(crate) enum Exchange {
    /// Nothing.
    Untouched,
    /// The capability is added, for which rmcp has no place.
    Discover,
    /// A session begins. The parts tell the principal.
    Initialize(Value, Box<Parts>),
    /// The peer speaks SEP-1359.
    Named(String),
}

impl SessionLayer {
    /// What is to be done with the answer, and the data-layer session that rmcp would leave out.
    pub(crate) async fn arrive(
        &self,
        parts: &mut Parts,
        body: &mut Bytes,
    ) -> Result<(Exchange, Option<String>), Answered> {
        match parts.method {
            Method::POST => {}
            Method::DELETE => return Err(self.delete(parts).await),
            _ => {
                if self.sep1359 {
                    self.verify(parts, None, &Value::Null).await?;
                }
                return Ok((Exchange::Untouched, None));
            }
        }
        let mut message: Value = serde_json::from_slice(body).unwrap_or_default();
        let method = message["method"].as_str().map(str::to_owned);
        let echo = echo(&self.tokens.guard, &message);
        if is_modern(parts, &message) {
            let has_sessions = self.tokens.guard.settings().sessions.get().is_some();
            let named = message["params"]["_meta"][SESSION]["sessionId"].as_str();
            let header = parts.headers.get(HEADER).map(HeaderValue::as_bytes);
            if let (true, Some(named), Some(header)) = (has_sessions, named, header)
                && named.as_bytes() != header
            {
                return Err(bad_request(
                    "Mcp-Session-Id and the session in _meta differ",
                ));
            }
            let exchange = match method.as_deref() {
                Some("server/discover") if has_sessions => Exchange::Discover,
                _ => Exchange::Untouched,
            };
            return Ok((exchange, echo));
        }
        // rmcp's types do not know the member, so it never gets there.
        let named = match message.as_object_mut() {
            Some(message) if self.sep1359 => message.remove("sessionId"),
            _ => None,
        };
        if named.is_some() {
            *body = message.to_string().into();
            parts.headers.remove(CONTENT_LENGTH);
        }
        if method.as_deref() == Some("initialize") {
            let begins = Exchange::Initialize(message, Box::new(parts.clone()));
            return Ok((begins, None));
        }
        let spoken = named.is_some();
        let terminates = self.sep1359 && method.as_deref() == Some("session/terminate");
        let id = sep1359::request_id(&message);
        if terminates
            && let Some(id) = id
            && !self.tokens.guard.remembers()
        {
            let answer = rpc_error(id, &method_not_found());
            return Err(Box::new(reply(StatusCode::OK, &answer)));
        }
        let session = self.verify(parts, named, &message["id"]).await?;
        if terminates && let Some(session) = &session {
            return Err(self.terminate(session, spoken, id).await);
        }
        let exchange = match session {
            Some(session) if spoken => Exchange::Named(session.token),
            _ => Exchange::Untouched,
        };
        Ok((exchange, echo))
    }

    pub(crate) async fn leave(
        &self,
        exchange: Exchange,
        response: Response<Boxed>,
    ) -> Response<Boxed> {
        match exchange {
            Exchange::Untouched => response,
            Exchange::Discover => rewrite(response, add_capability),
            Exchange::Named(token) => rewrite(response, move |message| name(message, &token)),
            Exchange::Initialize(request, parts) => self.begin(&request, &parts, response).await,
        }
    }
}

/// By the rule of rmcp: the message says so itself, or its header does.
fn is_modern(parts: &Parts, message: &Value) -> bool {
    let header = parts.headers.get(VERSION).and_then(|it| it.to_str().ok());
    let said = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    match message["method"].as_str() {
        Some("initialize") => false,
        Some("server/discover") => true,
        _ => said
            .as_str()
            .or(header)
            .is_some_and(|version| version >= MODERN),
    }
}
