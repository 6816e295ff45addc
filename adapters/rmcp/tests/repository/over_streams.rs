//! Lines on a duplex stream, as over stdio.

use std::error::Error;
use std::time::Duration;

use rmcp::transport::IntoTransport;
use rmcp::{RoleServer, ServiceExt as _};
use sealwax_rmcp::Protected;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{ReadHalf, WriteHalf};

use crate::over_http::completed;
use crate::scripted_server::Server;

pub struct Lines {
    write: WriteHalf<DuplexStream>,
    read: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Lines {
    pub fn new<E: Error + Send + Sync + 'static, A>(
        server: Protected<Server>,
        streams: impl IntoTransport<RoleServer, E, A>,
        ours: DuplexStream,
    ) -> Self {
        tokio::spawn(async move { server.serve(streams).await.unwrap().waiting().await });
        let (read, write) = tokio::io::split(ours);
        let read = BufReader::new(read).lines();
        Self { write, read }
    }

    /// Sends `initialize`, as a client of the older revisions does.
    pub async fn initialize(&mut self) {
        let message = json!({"method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "client", "version": "1"},
        }});
        self.send(&json!({}), message).await;
    }

    pub async fn send(&mut self, event: &Value, mut message: Value) -> Value {
        completed(event, &mut message);
        self.write(&message).await;
        if message["method"] == "initialize" {
            let answered = self.answer(&message["id"]).await;
            let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            self.write(&initialized).await;
            return answered;
        }
        if !event["answered"].is_null() {
            return self.answer(&message["id"]).await;
        }
        // It has no answer: the next line answers the next request.
        let after = json!({"jsonrpc": "2.0", "id": "after", "method": "ping"});
        self.write(&after).await;
        self.answer(&after["id"]).await;
        Value::Null
    }

    async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    /// Reads the next answer, which must be to that request.
    async fn answer(&mut self, id: &Value) -> Value {
        let limit = Duration::from_secs(30);
        let line = tokio::time::timeout(limit, self.read.next_line()).await;
        let line = line.unwrap().unwrap().unwrap();
        let mut message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["id"], *id, "{message}");
        let message = message.as_object_mut().unwrap();
        message.retain(|name, _| name == "result" || name == "error");
        json!(message)
    }
}
