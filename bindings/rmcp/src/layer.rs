//! Sessions of the transport with no store: a tower layer around a stateless HTTP service.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt as _, Full, Limited};
use rmcp::model::Extensions;
use sealwax::{Answer, Error, Profile};
use serde_json::{Value, json};
use tower_layer::Layer;
use tower_service::Service;

use crate::negotiated::{Negotiated, Tokens};
use crate::refusal::{About, Reason, rpc_error};
use crate::rewrite::{Boxed, boxed, rewrite};
use crate::session_boundary::{SESSION, echo, put_echo};
use crate::{BoxError, Guard, Kind};

const HEADER: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const HEADER_LIMIT: usize = 4096;
const BODY_LIMIT: usize = 4 * 1024 * 1024;
/// The revision that has no sessions of the transport any more.
const MODERN: &str = "2026-07-28";

impl Guard {
    /// Gives `Mcp-Session-Id` to clients of the revisions up to 2025-11-25, and verifies it before
    /// the service inside sees a request. The id is a token that holds what was negotiated, so any
    /// replica with the keys goes on; [`Guard::negotiated`] reads it.
    ///
    /// The service inside has to be stateless (`with_legacy_session_mode(false)`). Such a server
    /// cannot ask a client of these revisions back: no elicitation, sampling or roots. Requests of
    /// revision 2026-07-28 pass untouched.
    ///
    /// Put it inside of what authenticates, which tells the principal:
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, from_claims};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// # let guard = Guard::builder(codec, from_claims).build()?;
    /// # let mcp = tower_service_like();
    /// # fn tower_service_like() -> axum::Router { axum::Router::new() }
    /// let app = axum::Router::new()
    ///     .fallback_service(mcp) // StreamableHttpService::new(…)
    ///     .layer(guard.layer());
    /// // .layer(authentication)
    /// # let _: axum::Router = app;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn layer(&self) -> SessionLayer {
        SessionLayer {
            tokens: Tokens::new(self.clone()),
            required: true,
            sep1359: false,
            body_limit: BODY_LIMIT,
        }
    }
}

/// What [`Guard::layer`] returns.
pub struct SessionLayer {
    tokens: Tokens,
    required: bool,
    sep1359: bool,
    body_limit: usize,
}

impl SessionLayer {
    /// How long a session lives, in whole seconds: 30 days unless set. Its id never changes, so
    /// no use of it makes that longer.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.tokens.ttl = Some(ttl);
        self
    }

    /// Lets requests without a session pass. Otherwise they are answered with 400.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.required = false;
        self
    }

    /// Also speaks SEP-1359: `sessionId` and `sessionTimeout` in the result of `initialize`,
    /// `sessionId` on the messages of a peer that sends it, and `session/terminate`.
    ///
    /// A session whose token another principal presents ends ([`Accept`](crate::Accept) is told):
    /// the proposal wants it so, and whoever stole a token can end the session by it.
    #[must_use]
    pub fn sep1359(mut self) -> Self {
        self.sep1359 = true;
        self.tokens.end_on_mismatch = true;
        self
    }

    /// The most bytes of a request's body: 4 MiB unless set.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = bytes;
        self
    }
}

impl fmt::Debug for SessionLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionLayer")
            .field(&self.tokens.guard)
            .finish()
    }
}

impl Clone for SessionLayer {
    fn clone(&self) -> Self {
        let mut tokens = Tokens::new(self.tokens.guard.clone());
        tokens.ttl = self.tokens.ttl;
        tokens.end_on_mismatch = self.tokens.end_on_mismatch;
        Self { tokens, ..*self }
    }
}

impl<S> Layer<S> for SessionLayer {
    type Service = SessionService<S>;

    fn layer(&self, inner: S) -> SessionService<S> {
        SessionService {
            inner,
            layer: Arc::new(self.clone()),
        }
    }
}

/// The service that [`SessionLayer`] makes.
#[derive(Clone, Debug)]
pub struct SessionService<S> {
    inner: S,
    layer: Arc<SessionLayer>,
}

impl<S, B, R> Service<Request<B>> for SessionService<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
    R: Body<Data = Bytes> + Send + 'static,
    R::Error: Into<BoxError>,
{
    type Response = Response<Boxed>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let ready = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready);
        let layer = Arc::clone(&self.layer);
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let Ok(body) = Limited::new(body, layer.body_limit).collect().await else {
                return Ok(bare(StatusCode::PAYLOAD_TOO_LARGE));
            };
            let mut body = body.to_bytes();
            let (exchange, echo) = match layer.arrive(&mut parts, &mut body).await {
                Ok(exchange) => exchange,
                Err(answer) => return Ok(*answer),
            };
            let response = inner
                .call(Request::from_parts(parts, Full::new(body)))
                .await?;
            let response = layer.leave(exchange, response.map(boxed)).await;
            Ok(match echo {
                Some(id) => rewrite(response, move |message| put_echo(message, &id)),
                None => response,
            })
        })
    }
}

/// What is to be done with the answer.
enum Exchange {
    /// Nothing.
    Untouched,
    /// The capability is added, for which rmcp has no place.
    Discover,
    /// A session begins. The parts tell the principal.
    Initialize(Value, Box<Parts>),
    /// The peer speaks SEP-1359.
    Named(String),
}

/// Boxed, because it is large and rare.
type Answered = Box<Response<Boxed>>;

impl SessionLayer {
    /// What is to be done with the answer, and the data-layer session that rmcp would leave out.
    async fn arrive(
        &self,
        parts: &mut Parts,
        body: &mut Bytes,
    ) -> Result<(Exchange, Option<String>), Answered> {
        match parts.method {
            Method::POST => {}
            Method::DELETE => return Err(Box::new(self.delete(parts).await)),
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
        let token = self.verify(parts, named, &message["id"]).await?;
        if self.sep1359
            && method.as_deref() == Some("session/terminate")
            && let Some(token) = &token
        {
            return Err(self.terminate(parts, token, &message["id"]).await);
        }
        let exchange = match token {
            Some(token) if spoken => Exchange::Named(token),
            _ => Exchange::Untouched,
        };
        Ok((exchange, echo))
    }

    /// The token, once the session is good, by the header or by the message.
    async fn verify(
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
                answer => message(StatusCode::OK, rpc_error(id, answer)),
            },
        )
    }

    async fn delete(&self, parts: &mut Parts) -> Response<Boxed> {
        let Some(token) = header(parts) else {
            return *bad_request("Mcp-Session-Id is required");
        };
        match self.end(parts, &token).await {
            Ok(()) => bare(StatusCode::NO_CONTENT),
            Err(reason) => *self.refuse(&reason, About::default(), None, &Value::Null),
        }
    }

    async fn terminate(&self, parts: &Parts, token: &str, id: &Value) -> Answered {
        match self.end(parts, token).await {
            Ok(()) => Box::new(message(
                StatusCode::OK,
                json!({"jsonrpc": "2.0", "id": id, "result": {}}),
            )),
            Err(reason) => self.refuse(&reason, About::default(), Some(token), id),
        }
    }

    async fn end(&self, parts: &Parts, token: &str) -> Result<(), Reason> {
        let (caller, context) = self.tokens.caller(extensions(parts));
        let known = caller.known(&context)?;
        let (_, presented) = self.tokens.open(token, known).await?;
        self.tokens.guard.ended(&presented).await
    }

    async fn leave(&self, exchange: Exchange, response: Response<Boxed>) -> Response<Boxed> {
        match exchange {
            Exchange::Untouched => response,
            Exchange::Discover => rewrite(response, add_capability),
            Exchange::Named(token) => rewrite(response, move |message| name(message, &token)),
            Exchange::Initialize(request, parts) => self.begin(&request, &parts, response).await,
        }
    }

    /// The answer to `initialize`, which is short, so it is read to its end.
    async fn begin(
        &self,
        request: &Value,
        parts: &Parts,
        response: Response<Boxed>,
    ) -> Response<Boxed> {
        let failed = || {
            let error = json!({"code": -32603, "message": "Internal error"});
            let error = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
            message(StatusCode::INTERNAL_SERVER_ERROR, error)
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
        let (caller, context) = self.tokens.caller(extensions(parts));
        let sealed = caller.known(&context).and_then(|known| {
            let negotiated = Negotiated::of(&request["params"], &result);
            let sealed = self.tokens.seal(&negotiated, known)?;
            match sealed.token.len() {
                ..=HEADER_LIMIT => Ok(sealed),
                found => Err(Error::TooLarge {
                    what: "Mcp-Session-Id, with what was negotiated",
                    found,
                    limit: HEADER_LIMIT,
                }),
            }
        });
        let sealed = sealed.and_then(|sealed| {
            let header = HeaderValue::from_str(&sealed.token);
            let header = header.map_err(|_| Error::Malformed("a token fit for a header"))?;
            Ok((sealed, header))
        });
        match sealed {
            Ok((sealed, header)) => {
                head.headers.insert(HEADER, header);
                let response = Response::from_parts(head, boxed(Full::new(body.to_bytes())));
                if !self.sep1359 {
                    return response;
                }
                rewrite(response, move |message| {
                    let place = message.get_mut("result");
                    if let Some(result) = place.and_then(Value::as_object_mut) {
                        result.insert("sessionId".into(), sealed.token.as_str().into());
                        result.insert("sessionTimeout".into(), sealed.lives.into());
                    }
                })
            }
            Err(error) => {
                let about = About {
                    principal: caller.principal(),
                    ..About::default()
                };
                let reason = Reason::NotSealed(error);
                let guard = &self.tokens.guard;
                guard.refuse_as(Kind::Session, Profile::McpSessionId, None, &reason, about);
                failed()
            }
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

pub(crate) fn add_capability(message: &mut Value) {
    let place = message.pointer_mut("/result/capabilities");
    if let Some(capabilities) = place.and_then(Value::as_object_mut) {
        capabilities.insert("sessions".into(), json!({}));
    }
}

/// Results carry it inside, requests and notifications beside their method.
pub(crate) fn name(message: &mut Value, token: &str) {
    let place = match message.get("method") {
        Some(_) => Some(&mut *message),
        None => message.get_mut("result"),
    };
    if let Some(place) = place.and_then(Value::as_object_mut) {
        place.insert("sessionId".into(), token.into());
    }
}

fn bare(status: StatusCode) -> Response<Boxed> {
    let mut response = Response::new(boxed(Full::default()));
    *response.status_mut() = status;
    response
}

fn message(status: StatusCode, json: Value) -> Response<Boxed> {
    let mut response = bare(status);
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    *response.body_mut() = boxed(Full::from(json.to_string()));
    response
}

fn bad_request(why: &'static str) -> Answered {
    let mut response = bare(StatusCode::BAD_REQUEST);
    *response.body_mut() = boxed(Full::from(why));
    Box::new(response)
}
