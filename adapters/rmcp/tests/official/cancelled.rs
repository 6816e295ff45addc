//! A request that its client cancels: its session is dropped, and later writes are errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _, tool, tool_handler, tool_router,
};
use sealwax::{Key, Principal};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Session, Sessions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::Notify;

use crate::clients::{SESSION, call_in, create};
use crate::serving::{Refusals, codec, until};

/// The number of session values in memory.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

#[derive(Serialize)]
struct Counted(u32);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u32::deserialize(from).map(Self::new)
    }
}

impl Counted {
    fn new(value: u32) -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Self(value)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Default)]
struct Server {
    begun: Arc<Notify>,
    /// A session that outlives its request.
    kept: Arc<Mutex<Option<Session<Counted>>>>,
}

#[tool_router]
impl Server {
    #[tool(description = "Writes once it is cancelled")]
    async fn linger(
        &self,
        mut session: Session<Counted>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        self.begun.notify_one();
        context.ct.cancelled().await;
        session.write(Counted::new(7))?;
        *self.kept.lock().unwrap() = Some(session);
        self.begun.notify_one();
        Ok("nobody hears it".into())
    }

    #[tool(description = "Panics")]
    async fn panics(&self, session: Session<Counted>) -> CallToolResult {
        *self.kept.lock().unwrap() = Some(session);
        self.begun.notify_one();
        panic!("the handler")
    }

    #[tool(description = "What the session holds")]
    async fn read(&self, session: Session<Counted>) -> CallToolResult {
        let (value, generation) = (session.value().0, session.generation());
        CallToolResult::structured(json!({"value": value, "generation": generation}))
    }
}

#[tool_handler]
impl ServerHandler for Server {}

#[tokio::test]
async fn a_cancelled_request_lets_go_of_its_session_and_later_writes_are_errors() {
    let refusals = Refusals::default();
    let principal = |_: &_| Principal::subject("alice");
    let codec = codec(&[&Key::generate().unwrap()]);
    let guard = Guard::builder(codec, principal).on_refused(refusals.hook());
    let sessions = Sessions::new(|_, _| async { Ok(Counted::new(1)) });
    // It would know of a write that was too late.
    let guard = guard.sessions(sessions).ledger(Memory::default());
    let guard = guard.build().unwrap();
    let server = Server::default();
    let protected = guard.protect(server.clone());
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let streams = guard.streams().wrap(tokio::io::split(theirs));
    tokio::spawn(async move { protected.serve(streams).await.unwrap().waiting().await });
    let client = ClientConfig::default()
        .serve(tokio::io::split(ours))
        .await
        .unwrap();
    let session = create(&client).await;
    let call = |tool| {
        let params = json!({"name": tool, "_meta": {SESSION: session}});
        ClientRequest::CallToolRequest(Request::new(serde_json::from_value(params).unwrap()))
    };
    for _ in 0..20 {
        let call = call("linger");
        let options = PeerRequestOptions::no_options();
        let request = client
            .send_cancellable_request(call, options)
            .await
            .unwrap();
        server.begun.notified().await;
        request.cancel(Some("enough".into())).await.unwrap();
        server.begun.notified().await;
        let mut kept = server.kept.lock().unwrap().take().unwrap();
        assert!(kept.write(Counted::new(8)).is_err());
        assert_eq!(refusals.code(), "invalid_argument");
    }
    // So is one whose handler panicked.
    let options = PeerRequestOptions::no_options();
    let panics = client.send_cancellable_request(call("panics"), options);
    let _unanswered = panics.await.unwrap();
    server.begun.notified().await;
    let mut kept = server.kept.lock().unwrap().take().unwrap();
    assert!(kept.write(Counted::new(8)).is_err());
    drop(kept);
    assert_eq!(refusals.code(), "invalid_argument");
    let read = call_in(&client, "read", json!({}), &session).await.unwrap();
    assert_eq!(
        read["structuredContent"],
        json!({"value": 1, "generation": 0})
    );
    until(|| ALIVE.load(Ordering::SeqCst) == 0).await;
    assert!(refusals.take().is_empty());
}
