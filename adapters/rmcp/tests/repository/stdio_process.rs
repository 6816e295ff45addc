//! SEP-1359 on stdio, around a server process that can be replaced.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, LazyLock, Mutex as Locked};

use rmcp::ServiceExt as _;
use rmcp::model::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, WriteHalf};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Mutex;

use crate::clients::json_of;
use crate::example::{built, key};

static SERVER: LazyLock<PathBuf> = LazyLock::new(|| built("sep1359-stdio"));

/// Does what rmcp's client lacks for SEP-1359, around a process that can be replaced.
struct Shim {
    key: String,
    session: Arc<Locked<Option<Value>>>,
    to_client: Arc<Mutex<WriteHalf<DuplexStream>>>,
    child: Mutex<(Child, ChildStdin)>,
}

impl Shim {
    fn start(key: &str) -> (Arc<Self>, DuplexStream) {
        let (client, ours) = tokio::io::duplex(1 << 16);
        let (from_client, to_client) = tokio::io::split(ours);
        let to_client = Arc::new(Mutex::new(to_client));
        let session = Arc::default();
        let child = Self::spawn(key, &session, &to_client);
        let shim = Arc::new(Self {
            key: key.into(),
            session,
            to_client,
            child: Mutex::new(child),
        });
        let sending = shim.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(from_client).lines();
            while let Ok(Some(line)) = lines.next_line().await {
                let mut message: Value = serde_json::from_str(&line).unwrap();
                if let Some(id) = sending.session.lock().unwrap().clone() {
                    message["sessionId"] = id;
                }
                let mut child = sending.child.lock().await;
                let line = format!("{message}\n");
                child.1.write_all(line.as_bytes()).await.unwrap();
            }
        });
        (shim, client)
    }

    fn spawn(
        key: &str,
        session: &Arc<Locked<Option<Value>>>,
        to_client: &Arc<Mutex<WriteHalf<DuplexStream>>>,
    ) -> (Child, ChildStdin) {
        let mut child = Command::new(&*SERVER)
            .env("SEALWAX_KEYS", key)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (session, to_client) = (session.clone(), to_client.clone());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let mut message: Value = serde_json::from_str(&line).unwrap();
                if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
                    let id = result
                        .remove("sessionId")
                        .expect("a result without sessionId");
                    *session.lock().unwrap() = Some(id);
                }
                let line = format!("{message}\n");
                to_client
                    .lock()
                    .await
                    .write_all(line.as_bytes())
                    .await
                    .unwrap();
            }
        });
        (child, stdin)
    }

    async fn restart(&self) {
        let mut child = self.child.lock().await;
        child.0.kill().await.unwrap();
        *child = Self::spawn(&self.key, &self.session, &self.to_client);
    }
}

#[tokio::test]
async fn sep_1359_with_the_official_client_behind_a_shim_outlives_the_process() {
    let (shim, stream) = Shim::start(&key());
    let mut config = ClientConfig::default();
    config.client_info.name = "tester".into();
    config.capabilities = ClientCapabilities::builder().enable_elicitation().build();
    let client = config.serve(tokio::io::split(stream)).await.unwrap();
    let mut processes = vec![];
    for _ in 0..3 {
        let who = json_of(client.call_tool(CallToolRequestParams::new("who")).await).unwrap();
        let mut who = who["structuredContent"].clone();
        processes.push(who.as_object_mut().unwrap().remove("process").unwrap());
        assert_eq!(
            who,
            json!({"version": "2025-11-25", "client": "tester", "elicitation": true})
        );
        shim.restart().await;
    }
    processes.dedup();
    assert_eq!(processes.len(), 3);
}
