//! A server at the other end of a pipe, line by line, as on stdio.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax::{Codec, Principal};
use sealwax_rmcp::{Guard, Sessions, Streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::Notify;

use crate::serving::Refusals;

/// Counts notifications, waits in a method, and refuses one client.
#[derive(Clone, Default)]
pub struct Server {
    pub progress: Arc<AtomicU32>,
    /// Ends a wait.
    pub go_on: Arc<Notify>,
}

impl ServerHandler for Server {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleServer>) {
        self.progress.fetch_add(1, Ordering::SeqCst);
    }

    async fn on_custom_request(
        &self,
        _: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.go_on.notified().await;
        Ok(CustomResult::new(json!({"waited": true})))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if request.client_info.name == "mallory" {
            return Err(ErrorData::invalid_request("not here", None));
        }
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

/// A connection to the server, line by line.
pub struct Pipe {
    pub write: WriteHalf<DuplexStream>,
    pub read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub refusals: Refusals,
    pub server: Server,
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
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let streams = streams.wrap(tokio::io::split(theirs));
    let server = Server::default();
    let protected = guard.protect(server.clone());
    tokio::spawn(async move { protected.serve(streams).await.unwrap().waiting().await });
    let (read, write) = tokio::io::split(ours);
    let read = BufReader::new(read).lines();
    Pipe {
        write,
        read,
        refusals,
        server,
    }
}

impl Pipe {
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
        self.send(named(
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            &token,
        ))
        .await;
        token
    }
}

pub fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}}})
}

pub fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})
}

pub fn named(mut message: Value, token: &str) -> Value {
    message["sessionId"] = json!(token);
    message
}

pub fn invalid(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "error":
        {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": id}}})
}
