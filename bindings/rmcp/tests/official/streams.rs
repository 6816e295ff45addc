//! SEP-1359 on stdio, and what streams tell of data-layer sessions.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex as Locked};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::NotificationContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};
use sealwax::{Codec, Key, KeyRing, Principal};
use sealwax_rmcp::{Guard, GuardBuilder, Kind, SingleUse, Streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::Mutex;

use crate::clients::*;
use crate::example::{built, key};
use crate::server::{Refusals, codec};
use crate::session::SESSION;

/// Counts notifications.
struct Server(Arc<AtomicU32>);

impl ServerHandler for Server {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleServer>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server at the other end of a pipe, line by line.
struct Pipe {
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    refusals: Refusals,
    /// Whether alice is not there.
    mallory: Arc<AtomicBool>,
    progress: Arc<AtomicU32>,
}

type Change = fn(Streams) -> Streams;

fn pipe(codec: Codec, options: impl FnOnce(GuardBuilder) -> GuardBuilder, change: Change) -> Pipe {
    let (refusals, mallory) = (Refusals::default(), Arc::new(AtomicBool::new(false)));
    let who = mallory.clone();
    let principal = move |_: &_| match who.load(Ordering::SeqCst) {
        true => Principal::subject("mallory"),
        false => Principal::subject("alice"),
    };
    let builder = Guard::builder(codec, principal).on_refused(refusals.hook());
    let guard = options(builder).build().unwrap();
    guard.sessions(|_, _| async { Ok(0) }).build().unwrap();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let streams = change(guard.streams()).wrap(tokio::io::split(theirs));
    let progress = Arc::new(AtomicU32::new(0));
    let server = guard.protect(Server(progress.clone()));
    tokio::spawn(async move { server.serve(streams).await.unwrap().waiting().await });
    let (read, write) = tokio::io::split(ours);
    let read = BufReader::new(read).lines();
    Pipe {
        write,
        read,
        refusals,
        mallory,
        progress,
    }
}

impl Pipe {
    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        let line = tokio::time::timeout(Duration::from_secs(10), self.read.next_line());
        serde_json::from_str(&line.await.unwrap().unwrap().unwrap()).unwrap()
    }

    async fn begin(&mut self) -> String {
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

fn fresh() -> Codec {
    codec(&[&Key::generate().unwrap()])
}

fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}}})
}

fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})
}

fn named(mut message: Value, token: &str) -> Value {
    message["sessionId"] = json!(token);
    message
}

fn invalid(id: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": "p", "error":
        {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": id}}})
}

#[tokio::test]
async fn sep_1359_names_the_session_of_who_names_it() {
    let mut alice = pipe(fresh(), |it| it, Streams::sep1359);
    let token = alice.begin().await;
    let pong = alice.ask(named(ping(), &token)).await;
    assert_eq!(pong["result"], json!({"sessionId": token}));
    assert_eq!(alice.ask(ping()).await["result"], json!({}));
    let terminate = json!({"jsonrpc": "2.0", "id": 2, "method": "session/terminate"});
    let done = alice.ask(named(terminate, &token)).await;
    assert_eq!(done, json!({"jsonrpc": "2.0", "id": 2, "result": {}}));
    assert!(alice.refusals.take().is_empty());
}

#[tokio::test]
async fn sep_1359_goes_on_after_a_restart_without_initialize() {
    let codec = fresh();
    let token = pipe(codec.clone(), |it| it, Streams::sep1359).begin().await;
    let mut again = pipe(codec, |it| it, Streams::sep1359);
    for _ in 0..2 {
        let pong = again.ask(named(ping(), &token)).await;
        assert_eq!(pong["id"], "p");
        assert_eq!(pong["result"], json!({"sessionId": token}));
    }
    // A good one of another user does not begin anything.
    let mut other = pipe(fresh(), |it| it, Streams::sep1359);
    assert_eq!(other.ask(named(ping(), &token)).await, invalid(&token));
    assert_eq!(other.refusals.code(), "unknown_key");
}

#[tokio::test]
async fn sep_1359_refuses_in_one_way() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let retired = pipe(codec(&[&old]), |it| it, Streams::sep1359)
        .begin()
        .await;
    let once = |it: GuardBuilder| it.accept(SingleUse::default());
    let mut alice = pipe(codec(&[&new]), once, Streams::sep1359);
    let [ended, good] = [alice.begin().await, {
        let mut other = pipe(codec(&[&new]), |it| it, Streams::sep1359);
        other.begin().await
    }];
    let terminate = json!({"jsonrpc": "2.0", "id": 2, "method": "session/terminate"});
    alice.ask(named(terminate, &ended)).await;
    for (mallory, token, code) in [
        (false, altered(&good), "unauthentic"),
        (false, retired, "unknown_key"),
        (false, String::new(), "malformed"),
        (false, good.repeat(20), "too_large"),
        (false, ended, "not_accepted"),
        (true, good.clone(), "principal_mismatch"),
        // The principal changed, so it ended.
        (false, good, "not_accepted"),
    ] {
        alice.mallory.store(mallory, Ordering::SeqCst);
        let mut expected = invalid(&token);
        if matches!(code, "too_large" | "malformed") {
            // The core repeats neither what is too long nor what is no id.
            expected["error"].as_object_mut().unwrap().remove("data");
        }
        // A notification has no answer: the next line is of the next request.
        let lost = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        alice.send(named(lost, &token)).await;
        assert_eq!(alice.ask(named(ping(), &token)).await, expected, "{code}");
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].kind), (2, Kind::Session));
        assert_eq!((told[0].code, told[1].code), (code, code));
    }
    assert_eq!(alice.ask(ping()).await["result"], json!({}));
}

#[tokio::test]
async fn sep_1359_ends_by_its_own_time_and_by_the_codecs() {
    let two_seconds = Duration::from_secs(2);
    let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
    let short = Codec::builder(ring, "https://mcp.example.com").session_max_age(two_seconds);
    let own: Change = |it| it.sep1359().ttl(Duration::from_secs(2));
    let mut pipes = [
        pipe(fresh(), |it| it, own),
        pipe(short.build().unwrap(), |it| it, Streams::sep1359),
    ];
    let mut tokens = vec![];
    for pipe in &mut pipes {
        let token = pipe.begin().await;
        assert!(pipe.ask(named(ping(), &token)).await["result"].is_object());
        tokens.push(token);
    }
    tokio::time::sleep(Duration::from_millis(2300)).await;
    for (pipe, token) in pipes.iter_mut().zip(tokens) {
        assert_eq!(pipe.ask(named(ping(), &token)).await, invalid(&token));
        assert_eq!(pipe.refusals.code(), "expired");
    }
}

#[tokio::test]
async fn a_notification_with_a_bad_data_layer_session_is_dropped() {
    let mut alice = pipe(fresh(), |it| it, |it| it);
    let begun = alice.ask(hello()).await;
    assert_eq!(begun["result"]["capabilities"]["sessions"], json!({}));
    assert_eq!(begun["result"]["sessionId"], Value::Null);
    alice
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    let create = json!({"jsonrpc": "2.0", "id": 2, "method": "sessions/create"});
    let session = alice.ask(create).await["result"]["session"].clone();
    let mut asked = ping();
    asked["params"] = json!({"_meta": {SESSION: session}});
    let pong = alice.ask(asked).await;
    let only = json!({"sessionId": session["sessionId"]});
    assert_eq!(pong["result"], json!({"_meta": {SESSION: only}}));
    let progress = |meta: Value| {
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params":
            {"progressToken": 1, "progress": 1, "_meta": meta}})
    };
    let mut bad = session.clone();
    bad["state"] = json!(altered(session["state"].as_str().unwrap()));
    for (meta, seen) in [
        (json!({}), 1),
        (json!({ SESSION: session }), 2),
        (json!({ SESSION: bad }), 2),
    ] {
        alice.send(progress(meta)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(alice.progress.load(Ordering::SeqCst), seen);
    }
    assert_eq!(alice.refusals.code(), "unauthentic");
}

static SERVER: LazyLock<PathBuf> = LazyLock::new(|| built("sep1359-stdio"));

/// What a client of SEP-1359 does and rmcp's does not, around a process that can be replaced.
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
