//! A server at the other end of a pipe, line by line, as on stdio.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax::{Codec, Principal};
use sealwax_rmcp::{Guard, Session, Sessions, Streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::cancelled::Counted;
use crate::serving::{Refusals, text};

/// Counts notifications and calls of its tools, and refuses one client.
#[derive(Clone, Default)]
pub struct Server {
    pub served: Arc<AtomicU32>,
    /// How often `initialize` was accepted, or would have been.
    pub initialized: Arc<AtomicU32>,
    pub begun: Arc<Notify>,
    /// A session that outlives its request.
    pub kept: Arc<Mutex<Option<Session<Counted>>>>,
}

impl ServerHandler for Server {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleServer>) {
        self.served.fetch_add(1, Ordering::SeqCst);
    }

    /// Tells what rmcp knows of the client, or what its session holds.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if let Some(session) = Session::of(&context.extensions)? {
            return self.in_session(&request.method, session, &context).await;
        }
        Ok(CustomResult::new(json!({
            "version": context.protocol_version(),
            "client": context.client_info().map(|client| client.name),
            "elicits": context.client_capabilities().is_some_and(|it| it.elicitation.is_some()),
        })))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.served.fetch_add(1, Ordering::SeqCst);
        Ok(text("done").into())
    }

    /// Hangs, or panics, where a tool of that name is called.
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        match context.meta.get("list").and_then(Value::as_str) {
            Some("hangs") => std::future::pending().await,
            Some("panics") => std::panic::resume_unwind(Box::new("no list")),
            _ => {}
        }
        let tools = json!([
            {"name": "delete_note", "inputSchema": {"type": "object"}},
            {"name": "show_note", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
        ]);
        Ok(serde_json::from_value(json!({"tools": tools})).unwrap())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if request.client_info.name == "mallory" {
            return Err(ErrorData::invalid_request("not here", None));
        }
        self.initialized.fetch_add(1, Ordering::SeqCst);
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let told = context.sink().notify_tool_list_changed().await;
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(offers.enable_tool_list_changed().build())
    }
}

impl Server {
    /// Writes once it is cancelled, or panics, where that is the method.
    async fn in_session(
        &self,
        method: &str,
        mut session: Session<Counted>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let held = json!({"value": session.value().0, "generation": session.generation()});
        if method == "linger" {
            self.begun.notify_one();
            context.ct.cancelled().await;
            session.write(7.into())?;
        }
        if method != "read" {
            *self.kept.lock().unwrap() = Some(session);
            self.begun.notify_one();
        }
        assert_ne!(method, "panics");
        Ok(CustomResult::new(held))
    }
}

/// A connection to the server, line by line.
pub struct Pipe {
    pub write: WriteHalf<DuplexStream>,
    pub read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub refusals: Refusals,
    pub server: Server,
    /// Ends when everything that came was served.
    running: JoinHandle<()>,
}

pub type Change = fn(Streams) -> Streams;

pub fn pipe(codec: Codec, change: Change) -> Pipe {
    let refusals = Refusals::default();
    let alice = |_: &_| Principal::subject("alice");
    let builder = Guard::builder(codec, alice).on_refused(refusals.hook());
    let sessions = Sessions::new(|_, _| async { Ok(0) });
    let guard = builder.sessions(sessions).build().unwrap();
    let streams = change(guard.streams());
    served(streams, &guard, refusals)
}

/// A server of this guard on such streams.
pub fn served(streams: Streams, guard: &Guard, refusals: Refusals) -> Pipe {
    let server = Server::default();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let streams = streams.wrap(tokio::io::split(theirs));
    let protected = guard.protect(server.clone());
    let running =
        tokio::spawn(async move { _ = protected.serve(streams).await.unwrap().waiting().await });
    let (read, write) = tokio::io::split(ours);
    let read = BufReader::new(read).lines();
    Pipe {
        write,
        read,
        refusals,
        server,
        running,
    }
}

impl Pipe {
    /// Returns how much was served when the client is gone.
    pub async fn served_in_all(self) -> u32 {
        drop((self.read, self.write));
        self.running.await.unwrap();
        self.server.served.load(Ordering::SeqCst)
    }

    pub async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    pub async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    pub async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.read.next_line());
        let line = line.await.expect("no answer").unwrap();
        serde_json::from_str(&line.expect("the server ended")).unwrap()
    }

    pub async fn begin(&mut self) -> String {
        let begun = self.ask(hello()).await;
        let result = &begun["result"];
        assert!(result["sessionTimeout"].as_u64().is_some(), "{begun}");
        let token = result["sessionId"].as_str().unwrap().to_owned();
        self.send(named(initialized(), &token)).await;
        token
    }
}

pub fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params})
}

pub fn initialized() -> Value {
    notification("initialized", json!({}))
}

pub fn hello() -> Value {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}});
    request(1, "initialize", params)
}

/// The metadata of a request of revision 2026-07-28.
pub fn modern() -> Value {
    json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}})
}

pub fn ping() -> Value {
    request("p", "ping", json!({}))
}

pub fn named(mut message: Value, token: &str) -> Value {
    message["sessionId"] = json!(token);
    message
}

pub fn invalid(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "error":
        {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": id}}})
}
