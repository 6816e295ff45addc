//! A confirmation on a connection: a yes runs the tool, and one that comes after its call was cancelled does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax_rmcp::{Guard, anonymous};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::time::timeout;

use crate::serving::{fresh, text};

/// Counts how often its tool ran.
#[derive(Clone, Default)]
struct Server(Arc<AtomicU32>);

impl ServerHandler for Server {
    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.fetch_add(1, Ordering::SeqCst);
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
}

/// A client that may be asked, line by line.
struct Asked {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    to: WriteHalf<DuplexStream>,
}

impl Asked {
    /// Begins a session, and calls a tool.
    async fn calling(protected: impl ServerHandler, tool: &str, list: &str) -> (Self, Ended) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let running =
            tokio::spawn(async move { _ = protected.serve(theirs).await.unwrap().waiting().await });
        let (from, to) = tokio::io::split(ours);
        let lines = BufReader::new(from).lines();
        let mut asked = Self { lines, to };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "c", "version": "1"}});
        let call = json!({"name": tool, "arguments": {"id": 7}, "_meta": {"list": list}});
        let hello = json!({"id": 0, "method": "initialize", "params": params});
        asked.say(hello).await;
        asked.hear().await;
        let initialized = json!({"method": "notifications/initialized"});
        asked.say(initialized).await;
        let call = json!({"id": 1, "method": "tools/call", "params": call});
        asked.say(call).await;
        (asked, running)
    }

    async fn hear(&mut self) -> Value {
        let line = timeout(Duration::from_secs(60), self.lines.next_line());
        let line = line.await.expect("in time").unwrap();
        serde_json::from_str(&line.unwrap()).unwrap()
    }

    async fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        let line = format!("{message}\n");
        self.to.write_all(line.as_bytes()).await.unwrap();
    }
}

/// When everything that came was served.
type Ended = tokio::task::JoinHandle<()>;

#[tokio::test]
async fn what_the_list_marks_is_asked_about() {
    for (list, tool, is_asked) in [
        ("is there", "show_note", false),
        ("is there", "delete_note", true),
        ("hangs", "show_note", true),
        ("panics", "show_note", true),
    ] {
        let guard = Guard::builder(fresh(), anonymous).confirm_destructive();
        let server = Server::default();
        let protected = guard.build().unwrap().protect(server.clone());
        let (mut asked, _) = Asked::calling(protected, tool, list).await;
        let heard = asked.hear().await;
        assert_eq!(heard["method"] == "elicitation/create", is_asked, "{heard}");
        let ran = server.0.load(Ordering::SeqCst);
        assert_eq!(ran, u32::from(!is_asked), "{list}");
    }
}

#[tokio::test]
async fn a_yes_counts_while_its_call_waits() {
    for (is_cancelled, expected) in [(false, 1), (true, 0)] {
        let guard = Guard::builder(fresh(), anonymous).confirm("delete_note", "Delete note {id}?");
        let server = Server::default();
        let protected = guard.build().unwrap().protect(server.clone());
        let (mut asked, ended) = Asked::calling(protected, "delete_note", "").await;
        let question = asked.hear().await;
        assert_eq!(question["method"], "elicitation/create");
        if is_cancelled {
            let method = "notifications/cancelled";
            let late = json!({"method": method, "params": {"requestId": 1}});
            asked.say(late).await;
        }
        let yes = json!({"action": "accept", "content": {"choice": "yes"}});
        let yes = json!({"id": question["id"], "result": yes});
        asked.say(yes).await;
        if !is_cancelled {
            assert_eq!(asked.hear().await["result"]["content"][0]["text"], "done");
        }
        drop(asked);
        ended.await.unwrap();
        assert_eq!(server.0.load(Ordering::SeqCst), expected);
    }
}
