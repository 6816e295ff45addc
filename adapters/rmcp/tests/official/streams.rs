//! SEP-1359 on stdio, and what streams tell of data-layer sessions.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex as Locked};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use sealwax::{Codec, Key, KeyRing, Principal};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, GuardBuilder, Kind, Streams};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::{Mutex, Notify};

use crate::clients::*;
use crate::example::{built, key};
use crate::server::{Refusals, codec};
use crate::session::SESSION;

/// Counts notifications, waits where it is told to, and lets not everybody in.
#[derive(Clone, Default)]
struct Server {
    progress: Arc<AtomicU32>,
    /// What ends the wait of `wait/a` and of `wait/b`, whoever has cancelled it.
    go_on: Arc<[Notify; 2]>,
}

impl ServerHandler for Server {
    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleServer>) {
        self.progress.fetch_add(1, Ordering::SeqCst);
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        match request.method.as_str() {
            "wait/a" => self.go_on[0].notified().await,
            "wait/b" => self.go_on[1].notified().await,
            _ => return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "none", None)),
        }
        Ok(CustomResult::new(json!({"waited": request.method})))
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
        told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        self.go_on[0].notified().await;
        Ok(())
    }

    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(offers.enable_tool_list_changed().build())
    }
}

/// A server at the other end of a pipe, line by line.
struct Pipe {
    write: WriteHalf<DuplexStream>,
    read: Lines<BufReader<ReadHalf<DuplexStream>>>,
    refusals: Refusals,
    /// Whether alice is not there.
    mallory: Arc<AtomicBool>,
    server: Server,
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
    let server = Server::default();
    let protected = guard.protect(server.clone());
    tokio::spawn(async move { protected.serve(streams).await.unwrap().waiting().await });
    let (read, write) = tokio::io::split(ours);
    let read = BufReader::new(read).lines();
    Pipe {
        write,
        read,
        refusals,
        mallory,
        server,
    }
}

impl Pipe {
    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.write.write_all(line.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(60), self.read.next_line());
        let line = line.await.expect("no answer").unwrap();
        serde_json::from_str(&line.expect("the server ended")).unwrap()
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

/// Waits for what other tasks do.
pub async fn until(done: impl Fn() -> bool) {
    let waited = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, waited).await.expect("in time");
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
    let once = |it: GuardBuilder| it.ledger(Memory::default());
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
        (false, ended, "ended"),
        (true, good.clone(), "principal_mismatch"),
        // The principal changed, so it ended.
        (false, good, "ended"),
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
        tokens.push(pipe.begin().await);
    }
    tokio::time::sleep(Duration::from_millis(2300)).await;
    for (pipe, token) in pipes.iter_mut().zip(tokens) {
        assert_eq!(pipe.ask(named(ping(), &token)).await, invalid(&token));
        assert_eq!(pipe.refusals.code(), "expired");
    }
}

#[tokio::test]
async fn sep_1359_ends_where_it_was_idle() {
    let idle: Change = |it| it.sep1359().idle(Duration::from_secs(5));
    let mut alice = pipe(fresh(), |it| it.ledger(Memory::default()), idle);
    let token = alice.begin().await;
    assert!(alice.ask(named(ping(), &token)).await["result"].is_object());
    tokio::time::sleep(Duration::from_millis(7200)).await;
    assert_eq!(alice.ask(named(ping(), &token)).await, invalid(&token));
    assert_eq!(alice.refusals.code(), "ended");
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
    let mut seen = 0;
    for (meta, passes) in [
        (json!({}), 1),
        (json!({ SESSION: session }), 1),
        (json!({ SESSION: bad }), 0),
    ] {
        alice.send(progress(meta)).await;
        seen += passes;
        let told = || alice.server.progress.load(Ordering::SeqCst) == seen;
        let dropped = || passes == 1 || !alice.refusals.is_empty();
        until(|| told() && dropped()).await;
    }
    assert_eq!(alice.refusals.code(), "unauthentic");
    assert_eq!(alice.server.progress.load(Ordering::SeqCst), 2);
}

fn wait(id: Value, which: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": format!("wait/{which}")})
}

fn cancelled(id: Value, reason: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": id, "reason": reason}})
}

/// Whatever a client does with its ids.
#[tokio::test]
async fn an_answer_leaves_with_the_session_of_its_own_request() {
    let codec = fresh();
    let mut other = pipe(codec.clone(), |it| it, Streams::sep1359);
    let there = other.begin().await;
    let mut alice = pipe(codec, |it| it, Streams::sep1359);
    let here = alice.begin().await;
    // An id is used again: at once, after a cancellation, and after one that rmcp does not take up.
    for (cancel, answers) in [
        (None, true),
        (Some(json!("late")), false),
        (Some(json!(5)), true),
    ] {
        alice.send(named(wait(json!(7), "a"), &here)).await;
        if let Some(reason) = &cancel {
            alice.send(cancelled(json!(7), reason.clone())).await;
        }
        alice.send(named(wait(json!(7), "b"), &there)).await;
        // Both are under way.
        alice.ask(ping()).await;
        alice.server.go_on[0].notify_one();
        if answers {
            let first = json!({"waited": "wait/a", "sessionId": here});
            let expected = json!({"jsonrpc": "2.0", "id": 7, "result": first});
            assert_eq!(alice.next().await, expected, "{cancel:?}");
        }
        assert_eq!(alice.ask(ping()).await["id"], "p", "{cancel:?}");
        alice.server.go_on[1].notify_one();
        let second = json!({"waited": "wait/b", "sessionId": there});
        let expected = json!({"jsonrpc": "2.0", "id": 7, "result": second});
        assert_eq!(alice.next().await, expected, "{cancel:?}");
    }
}

#[tokio::test]
async fn a_cancellation_reaches_the_request_that_it_names_and_no_other() {
    let mut alice = pipe(fresh(), |it| it, |it| it);
    alice.ask(hello()).await;
    // Of these numbers some are rmcp's for another request.
    for id in [
        json!("1"),
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!(-1),
        json!("x"),
    ] {
        alice.send(cancelled(id, json!("none is"))).await;
    }
    alice.send(wait(json!("a"), "a")).await;
    for id in [
        json!(1),
        json!(2),
        json!(3),
        json!(4),
        json!("A"),
        json!(null),
    ] {
        alice.send(cancelled(id, json!("another"))).await;
    }
    alice.send(wait(json!("b"), "b")).await;
    alice.send(cancelled(json!("b"), json!("it is"))).await;
    alice.ask(ping()).await;
    alice.server.go_on[1].notify_one();
    alice.server.go_on[0].notify_one();
    assert_eq!(alice.next().await["id"], "a");
    assert_eq!(alice.ask(ping()).await["id"], "p");
}

#[tokio::test]
async fn every_request_is_answered_under_its_own_id() {
    for change in [(|it| it) as Change, Streams::sep1359] {
        let mut alice = pipe(fresh(), |it| it, change);
        alice.ask(hello()).await;
        for id in [
            json!("sealwax-replay"),
            json!(""),
            json!("1"),
            json!(1),
            json!(0),
            json!(-1),
            json!(i64::MAX),
            json!("\u{2028}\""),
        ] {
            let pong = alice
                .ask(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
                .await;
            assert_eq!(pong, json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        }
        // rmcp answers these, and has no id to do it under.
        for id in [json!(null), json!(1.5), json!([1]), json!({}), json!(true)] {
            let odd = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
            let refused = alice.ask(odd).await;
            assert_eq!(
                (&refused["id"], &refused["error"]["code"]),
                (&json!(null), &json!(-32600))
            );
        }
        alice
            .write
            .write_all(b"{\"id\":\xff}\nno JSON\n[]\n")
            .await
            .unwrap();
        assert_eq!(alice.next().await["error"]["code"], -32600);
        assert_eq!(alice.ask(ping()).await["id"], "p");
    }
}

#[tokio::test]
async fn a_subscription_is_told_by_the_id_of_its_request() {
    const ID: &str = "io.modelcontextprotocol/subscriptionId";
    let mut alice = pipe(fresh(), |it| it, Streams::sep1359);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let discover = json!({"jsonrpc": "2.0", "id": "d", "method": "server/discover",
        "params": {"_meta": meta}});
    alice.ask(discover).await;
    let filter = json!({"toolsListChanged": true});
    let listen = json!({"jsonrpc": "2.0", "id": "news", "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": filter}});
    let accepted = alice.ask(listen).await;
    assert_eq!(
        accepted["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(accepted["params"]["_meta"][ID], "news");
    let news = alice.next().await;
    assert_eq!(news["method"], "notifications/tools/list_changed");
    assert_eq!(news["params"]["_meta"][ID], "news");
    alice.server.go_on[0].notify_one();
    let over = alice.next().await;
    assert_eq!(
        (&over["id"], &over["result"]["_meta"][ID]),
        (&json!("news"), &json!("news"))
    );
}

/// What another server agreed on with its client, as a token that opens here.
fn agreed_elsewhere(codec: &Codec, version: &str, capabilities: &Value, client: &str) -> String {
    let alice = codec.view(&Principal::subject("alice")).unwrap();
    let negotiated = json!({"protocolVersion": version, "clientCapabilities": capabilities,
        "clientInfo": {"name": client, "version": "1"}, "serverCapabilities": {}});
    alice
        .session()
        .seal_json(&negotiated)
        .unwrap()
        .into_string()
}

#[tokio::test]
async fn sep_1359_refuses_a_session_that_rmcp_would_not_begin_and_goes_on() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), |it| it, Streams::sep1359);
    let none = json!({});
    for (version, capabilities, client) in [
        ("2025-11-25", &json!(null), "t"),
        ("2025-11-25", &json!("all"), "t"),
        ("2025-11-25", &json!({"elicitation": 5}), "t"),
        ("1999-01-01", &none, "t"),
        ("2026-07-28", &none, "t"),
        ("", &none, "t"),
        ("2025-11-25", &none, "mallory"),
    ] {
        let token = agreed_elsewhere(&codec, version, capabilities, client);
        let lost = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        alice.send(named(lost, &token)).await;
        let refused = alice.ask(named(ping(), &token)).await;
        assert_eq!(
            refused,
            invalid(&token),
            "{version} {capabilities} {client}"
        );
        let told = alice.refusals.take();
        assert_eq!((told.len(), told[0].code), (2, "malformed"), "{told:?}");
    }
    // Nothing has begun, and everything still can: by another session, or anew.
    let good = agreed_elsewhere(&codec, "2025-06-18", &json!({"elicitation": {}}), "t");
    let mut another = pipe(codec, |it| it, Streams::sep1359);
    for pipe in [&mut alice, &mut another] {
        let pong = pipe.ask(named(ping(), &good)).await;
        assert_eq!(pong["result"], json!({"sessionId": good}));
    }
    let token = alice.begin().await;
    let pong = alice.ask(named(ping(), &token)).await;
    assert_eq!(pong["result"], json!({"sessionId": token}));
}

#[tokio::test]
async fn after_a_session_that_was_refused_a_client_begins_anew() {
    let codec = fresh();
    let mut alice = pipe(codec.clone(), |it| it, Streams::sep1359);
    let token = agreed_elsewhere(&codec, "2025-11-25", &json!({}), "mallory");
    assert_eq!(alice.ask(named(ping(), &token)).await, invalid(&token));
    let token = alice.begin().await;
    let pong = alice.ask(named(ping(), &token)).await;
    assert_eq!(pong["result"], json!({"sessionId": token}));
}

#[tokio::test]
async fn sep_1359_ends_by_a_request_alone_and_where_that_is_remembered() {
    let terminate = json!({"jsonrpc": "2.0", "id": 2, "method": "session/terminate"});
    let mut forgets = pipe(fresh(), |it| it, Streams::sep1359);
    let token = forgets.begin().await;
    let not_found = json!({"code": -32601, "message": "Method not found"});
    for session in [&token, "other"] {
        let answer = forgets.ask(named(terminate.clone(), session)).await;
        assert_eq!(
            answer,
            json!({"jsonrpc": "2.0", "id": 2, "error": not_found})
        );
    }
    assert_eq!(
        forgets.ask(named(ping(), &token)).await["result"]["sessionId"],
        token.as_str()
    );
    assert!(forgets.refusals.take().is_empty());

    let mut alice = pipe(fresh(), |it| it.ledger(Memory::default()), Streams::sep1359);
    let token = alice.begin().await;
    let notification = json!({"jsonrpc": "2.0", "method": "session/terminate"});
    alice.send(named(notification, &token)).await;
    assert_eq!(
        alice.ask(named(ping(), &token)).await["result"]["sessionId"],
        token.as_str()
    );
    let told = alice.refusals.take();
    assert_eq!((told.len(), told[0].code), (1, "malformed"));
    assert!(told[0].message.contains("session/terminate"), "{told:?}");
    assert!(alice.ask(named(terminate, &token)).await["result"].is_object());
    assert_eq!(alice.ask(named(ping(), &token)).await, invalid(&token));
}

#[tokio::test]
async fn sep_1359_names_no_session_of_more_than_4096_characters() {
    let codec = fresh();
    let mut alice = pipe(codec, |it| it, Streams::sep1359);
    let mut long = hello();
    long["params"]["capabilities"] = json!({"experimental": {"pad": {"pad": "x".repeat(3500)}}});
    let failed = alice.ask(long).await;
    let internal = json!({"code": -32603, "message": "Internal error"});
    assert_eq!(
        failed,
        json!({"jsonrpc": "2.0", "id": 1, "error": internal})
    );
    assert_eq!(alice.refusals.code(), "too_large");
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
