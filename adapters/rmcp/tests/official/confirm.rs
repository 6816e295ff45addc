//! A confirmation on a connection: a yes runs the tool, and one that comes after its call was cancelled does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax_rmcp::{Guard, anonymous};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

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
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move { protected.serve(theirs).await.unwrap().waiting().await });
        let (from, mut to) = tokio::io::split(ours);
        let mut lines = BufReader::new(from).lines();
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "c", "version": "1"},
        });
        let call = json!({"name": tool, "arguments": {"id": 7}, "_meta": {"list": list}});
        for message in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        ] {
            let line = format!("{message}\n");
            to.write_all(line.as_bytes()).await.unwrap();
        }
        lines.next_line().await.unwrap();
        let heard = lines.next_line().await.unwrap().unwrap();
        assert_eq!(heard.contains("elicitation/create"), is_asked, "{heard}");
        assert_eq!(
            server.0.load(Ordering::SeqCst),
            u32::from(!is_asked),
            "{list}"
        );
    }
}

#[tokio::test]
async fn a_yes_counts_while_its_call_waits() {
    for (is_cancelled, expected) in [(false, 1), (true, 0)] {
        let guard = Guard::builder(fresh(), anonymous)
            .confirm("delete_note", "Delete note {id}?")
            .build()
            .unwrap();
        let server = Server::default();
        let protected = guard.protect(server.clone());
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let running =
            tokio::spawn(async move { protected.serve(theirs).await.unwrap().waiting().await });
        let (from, mut to) = tokio::io::split(ours);
        let mut lines = BufReader::new(from).lines();
        let mut heard = async || -> Value {
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap()
        };
        let mut say = async |message: Value| {
            let mut message = message;
            message["jsonrpc"] = json!("2.0");
            to.write_all(format!("{message}\n").as_bytes())
                .await
                .unwrap();
        };
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "c", "version": "1"},
        });
        say(json!({"id": 0, "method": "initialize", "params": params})).await;
        heard().await;
        say(json!({"method": "notifications/initialized"})).await;
        let params = json!({"name": "delete_note", "arguments": {"id": 7}});
        say(json!({"id": 1, "method": "tools/call", "params": params})).await;
        let question = heard().await;
        assert_eq!(question["method"], "elicitation/create");
        if is_cancelled {
            let params = json!({"requestId": 1});
            say(json!({"method": "notifications/cancelled", "params": params})).await;
        }
        let yes = json!({"action": "accept", "content": {"choice": "yes"}});
        say(json!({"id": question["id"], "result": yes})).await;
        if !is_cancelled {
            assert_eq!(heard().await["result"]["content"][0]["text"], "done");
        }
        drop((to, lines));
        // It ends once everything that came was served.
        running.await.unwrap().unwrap();
        assert_eq!(server.0.load(Ordering::SeqCst), expected);
    }
}
