//! Data-layer sessions, through servers and clients of rmcp over HTTP.

use std::time::Duration;

use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use sealwax::{Codec, Key, KeyRing};
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{
    Accept, BoxError, Guard, GuardBuilder, Kind, Presented, Session, Sessions, SessionsBuilder,
    from_claims,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::accept::{Rule, end_of, yes};
use crate::clients::*;
use crate::server::{Refusals, codec, serve, text};

pub const SESSION: &str = "io.modelcontextprotocol/session";

#[derive(Clone)]
struct Server {
    sessions: Sessions<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Write {
    text: String,
    /// What follows the write: `error` or `isError`.
    #[serde(default)]
    then: String,
}

#[derive(Deserialize, JsonSchema)]
struct Fork {
    /// What is written before.
    write: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Flood {
    bytes: usize,
}

#[tool_router]
impl Server {
    #[tool(description = "Needs a session by its argument")]
    async fn read(&self, session: Session<String>) -> CallToolResult {
        let (value, ulid) = (session.value(), session.ulid());
        CallToolResult::structured(
            json!({"value": value, "ulid": ulid, "generation": session.generation()}),
        )
    }

    #[tool(description = "Needs a session by the guard's options")]
    async fn needy(&self) -> CallToolResult {
        text("fine")
    }

    #[tool(description = "Needs none")]
    async fn free(&self, context: RequestContext<RoleServer>) -> Result<CallToolResult, ErrorData> {
        let session = self.sessions.of(&context)?;
        Ok(text(&format!("{:?}", session.map(|it| it.value().clone()))))
    }

    #[tool(description = "Writes, and then")]
    async fn write(
        &self,
        mut session: Session<String>,
        Parameters(Write { text: to, then }): Parameters<Write>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        session.write(to.clone())?;
        assert_eq!(session.value(), &to);
        let again = self.sessions.of(&context)?.unwrap();
        assert_eq!((again.value(), again.id()), (&to, session.id()));
        match then.as_str() {
            "error" => Err(ErrorData::invalid_request("no", None)),
            "isError" => Ok(CallToolResult::error(vec![])),
            _ => {
                let mut result = text("written");
                let mut meta = MetaObject::new();
                meta.0.insert("com.example/other".into(), json!(1));
                result.meta = Some(meta);
                Ok(result)
            }
        }
    }

    #[tool(description = "Writes more than fits")]
    async fn flood(
        &self,
        mut session: Session<String>,
        Parameters(Flood { bytes }): Parameters<Flood>,
    ) -> Result<CallToolResult, ErrorData> {
        session.write("x".repeat(bytes))?;
        Ok(text("never seen"))
    }

    #[tool(description = "Another session that begins as this one is")]
    async fn fork(
        &self,
        mut session: Session<String>,
        Parameters(Fork { write }): Parameters<Fork>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Some(write) = write {
            session.write(write)?;
        }
        let forked = session.fork(&context)?;
        Ok(CallToolResult::structured(json!({ "session": forked })))
    }
}

#[tool_handler]
impl ServerHandler for Server {
    #[expect(deprecated, reason = "a method whose result rmcp leaves empty")]
    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.level == LoggingLevel::Error
            && let Some(mut session) = self.sessions.of(&context)?
        {
            session.write("lost".into())?;
        }
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.sessions.of(&context)?.is_some() {
            return Err(ErrorData::invalid_request("a list saw a session", None));
        }
        let mut list = ListResourcesResult::with_all_items(vec![]);
        list.cache_scope = Some(CacheScope::Public);
        list.ttl_ms = Some(60_000);
        Ok(list)
    }

    /// A list and another method of the server's own, which any cache may serve.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let session = self.sessions.of(&context)?;
        if session.is_some() != (request.method == "notes/count") {
            return Err(ErrorData::invalid_request("a list saw a session", None));
        }
        let public = json!({"resultType": "complete", "cacheScope": "public", "ttlMs": 60_000});
        Ok(CustomResult::new(public))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let result = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(result
            .with_cache_scope(CacheScope::Public)
            .with_ttl_ms(60_000))
    }

    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools();
        ServerConfig::new(offers.enable_resources().build())
    }
}

struct Running {
    uri: String,
    refusals: Refusals,
}

fn fresh() -> Codec {
    codec(&[&Key::generate().unwrap()])
}

async fn start_with(
    codec: Codec,
    options: impl FnOnce(GuardBuilder) -> GuardBuilder,
    sessions: impl FnOnce(SessionsBuilder<String>) -> SessionsBuilder<String>,
) -> Running {
    let refusals = Refusals::default();
    let builder = Guard::builder(codec, from_claims).on_refused(refusals.hook());
    let guard = options(builder).build().unwrap();
    let begin = |_, params: Option<Value>| async move {
        let begin = params.and_then(|it| it["begin"].as_str().map(str::to_owned));
        match begin.as_deref() {
            Some("never") => Err(ErrorData::invalid_params("never", None)),
            _ => Ok(begin.unwrap_or_else(|| "new".into())),
        }
    };
    let sessions = sessions(guard.sessions(begin).require_tools(["needy"]));
    let sessions = sessions.build().unwrap();
    let uri = serve(guard.protect(Server { sessions })).await;
    Running { uri, refusals }
}

async fn start() -> Running {
    start_with(fresh(), |guard| guard, |sessions| sessions).await
}

async fn connect(revision: &str, uri: &str, user: &str) -> Client {
    match revision {
        "2026-07-28" => client(uri, user).await,
        _ => legacy(uri, user).await,
    }
}

pub async fn create(client: &Client) -> Value {
    let created = raw(client, "sessions/create", json!({})).await.unwrap();
    created["session"].clone()
}

pub async fn call_in(
    client: &Client,
    tool: &str,
    args: Value,
    session: &Value,
) -> Result<Value, Value> {
    let params = json!({"name": tool, "arguments": args, "_meta": {SESSION: session}});
    let params: CallToolRequestParams = serde_json::from_value(params).unwrap();
    json_of(client.call_tool(params).await)
}

async fn write(client: &Client, to: &str, session: &Value) -> Value {
    let result = call_in(client, "write", json!({"text": to}), session).await;
    let result = result.unwrap();
    let left = result["_meta"][SESSION].clone();
    assert_eq!(left["sessionId"], session["sessionId"]);
    assert!(left["expiresAt"].is_string(), "{left}");
    left
}

fn not_found(session: &Value) -> Value {
    let id = &session["sessionId"];
    json!({"code": -32043, "message": "Session not found", "data": {"sessionId": id}})
}

#[tokio::test]
async fn a_session_is_made_read_written_and_deleted() {
    let server = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    for revision in ["2026-07-28", "2025-11-25"] {
        let alice = connect(revision, &server.uri, "alice").await;
        let made = raw(&alice, "sessions/create", json!({"begin": "hello"}))
            .await
            .unwrap();
        let complete = made["resultType"] == "complete";
        assert_eq!(complete, revision == "2026-07-28", "{made}");
        let first = &made["session"];
        assert!(first["expiresAt"].as_str().unwrap().ends_with('Z'));
        assert!(!first["state"].as_str().unwrap().contains("hello"));

        let read = call_in(&alice, "read", json!({}), first).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!("hello"), &json!(0))
        );
        let ulid = seen["ulid"].as_str().unwrap();
        assert_eq!(ulid.len(), 32);
        // Nothing was written, so the id comes back alone.
        assert_eq!(
            read["_meta"][SESSION],
            json!({"sessionId": first["sessionId"]})
        );

        let second = write(&alice, "there", first).await;
        let read = call_in(&alice, "read", json!({}), &second).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!("there"), &json!(1))
        );
        assert_eq!(seen["ulid"], ulid);

        // The id alone is enough to delete.
        let alone = json!({SESSION: {"sessionId": first["sessionId"]}});
        let deleted = raw(&alice, "sessions/delete", json!({"_meta": alone}))
            .await
            .unwrap();
        let expected = if complete {
            json!({"resultType": "complete"})
        } else {
            json!({})
        };
        assert_eq!(deleted, expected);
    }
    assert!(server.refusals.take().is_empty());
}

#[tokio::test]
async fn the_server_says_that_it_has_sessions() {
    let server = start().await;
    for alice in [
        client(&server.uri, "alice").await,
        legacy(&server.uri, "alice").await,
    ] {
        let info = serde_json::to_value(&*alice.peer_info().unwrap()).unwrap();
        assert_eq!(
            info["capabilities"]["experimental"]["sessions"],
            json!({}),
            "{info}"
        );
    }
}

#[tokio::test]
async fn other_metadata_stays_and_an_error_discards_the_write() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let kept = call_in(&alice, "write", json!({"text": "a"}), &session)
        .await
        .unwrap();
    assert_eq!(kept["_meta"]["com.example/other"], 1);

    let failed = json!({"text": "b", "then": "isError"});
    let kept = call_in(&alice, "write", failed, &session).await.unwrap();
    assert_eq!(kept["isError"], true);
    let kept = &kept["_meta"][SESSION];
    let read = call_in(&alice, "read", json!({}), kept).await.unwrap();
    assert_eq!(read["structuredContent"]["value"], "b");

    let failed = json!({"text": "c", "then": "error"});
    let error = call_in(&alice, "write", failed, &session)
        .await
        .unwrap_err();
    assert_eq!(error["message"], "no");
    assert!(!error.to_string().contains("swt"), "{error}");
}

#[tokio::test]
async fn a_session_is_needed_where_it_was_said() {
    let server = start().await;
    let required = json!({"code": -32043, "message": "Session required",
                          "data": {"reason": "session_required"}});
    let alice = client(&server.uri, "alice").await;
    for tool in ["needy", "read"] {
        let error = json_of(alice.call_tool(CallToolRequestParams::new(tool)).await);
        assert_eq!(error, Err(required.clone()), "{tool}");
        assert_eq!(server.refusals.code(), "malformed");
    }
    let free = json_of(alice.call_tool(CallToolRequestParams::new("free")).await).unwrap();
    assert_eq!(free["content"][0]["text"], "None");
    assert_eq!(free["_meta"][SESSION], Value::Null);
    let session = create(&alice).await;
    let free = call_in(&alice, "free", json!({}), &session).await.unwrap();
    assert_eq!(free["content"][0]["text"], "Some(\"new\")");

    let remembers = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    let alice = client(&remembers.uri, "alice").await;
    let deleted = raw(&alice, "sessions/delete", json!({})).await;
    assert_eq!(deleted, Err(required.clone()));

    let strict = start_with(fresh(), |guard| guard, SessionsBuilder::require_all).await;
    let alice = client(&strict.uri, "alice").await;
    assert!(alice.list_tools(None).await.is_ok());
    let error = json_of(alice.call_tool(CallToolRequestParams::new("free")).await);
    assert_eq!(error, Err(required.clone()));
    let error = raw(&alice, "notes/any", json!({})).await;
    assert_eq!(error, Err(required));
}

#[tokio::test]
async fn create_takes_no_metadata_and_the_author_may_refuse() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let error = raw(
        &alice,
        "sessions/create",
        json!({"_meta": {SESSION: session}}),
    )
    .await;
    assert_eq!(error.unwrap_err()["code"], -32602);
    assert_eq!(server.refusals.code(), "malformed");
    let error = raw(&alice, "sessions/create", json!({"begin": "never"})).await;
    assert_eq!(error, Err(json!({"code": -32602, "message": "never"})));
    let nobody = client(&server.uri, "nobody").await;
    let error = raw(&nobody, "sessions/create", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32603);
    assert_eq!(server.refusals.code(), "invalid_argument");
}

#[tokio::test]
async fn the_client_cannot_tell_why_it_was_refused() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |guard| guard, |sessions| sessions).await;
    let server = start_with(codec(&[&new]), |guard| guard, |sessions| sessions).await;
    for revision in ["2026-07-28", "2025-11-25"] {
        let alice = connect(revision, &server.uri, "alice").await;
        let mallory = connect(revision, &server.uri, "mallory").await;
        let [good, other] = [create(&alice).await, create(&alice).await];
        let retired = create(&connect(revision, &before.uri, "alice").await).await;
        let with = |member: &str, value: Value| {
            let mut sent = good.clone();
            sent[member] = value;
            sent
        };
        let state = good["state"].as_str().unwrap();
        let mut alone = good.clone();
        alone.as_object_mut().unwrap().remove("state");
        let id = altered(good["sessionId"].as_str().unwrap());
        for (who, sent, code) in [
            (&mallory, good.clone(), "principal_mismatch"),
            (&alice, with("state", other["state"].clone()), "unauthentic"),
            (&alice, with("state", json!(altered(state))), "unauthentic"),
            (&alice, with("sessionId", json!(id)), "unauthentic"),
            (&alice, with("state", json!(state.repeat(100))), "too_large"),
            (&alice, with("state", json!(5)), "malformed"),
            (&alice, with("sessionId", json!("sess-1")), "malformed"),
            (&alice, retired, "unknown_key"),
            (&alice, alone, "malformed"),
        ] {
            // Also where none is needed.
            for tool in ["read", "free"] {
                let refused = call_in(who, tool, json!({}), &sent).await;
                assert_eq!(refused, Err(not_found(&sent)), "{code}");
                let told = server.refusals.take();
                assert_eq!((told.len(), told[0].kind), (1, Kind::Session));
                assert_eq!(told[0].code, code);
            }
            let refused = raw(who, "tools/list", json!({"_meta": {SESSION: sent}})).await;
            assert_eq!(refused, Err(not_found(&sent)), "{code}");
            server.refusals.take();
        }
        let odd = call_in(&alice, "free", json!({}), &json!("sess"))
            .await
            .unwrap_err();
        assert_eq!(odd, json!({"code": -32043, "message": "Session not found"}));
        assert_eq!(server.refusals.code(), "malformed");
    }
}

#[tokio::test]
async fn an_idle_and_an_old_session_are_refused_in_the_same_words() {
    let ring = || KeyRing::new([Key::generate().unwrap()]).unwrap();
    let two_seconds = Duration::from_secs(2);
    let short = Codec::builder(ring(), "https://mcp.example.com")
        .session_max_age(two_seconds)
        .build()
        .unwrap();
    let idle = start_with(fresh(), |it| it, |sessions| sessions.ttl(two_seconds)).await;
    let old = start_with(short, |it| it, SessionsBuilder::no_expiry).await;
    let mut sessions = vec![];
    for server in [&idle, &old] {
        let alice = client(&server.uri, "alice").await;
        let session = create(&alice).await;
        sessions.push((server, alice, session));
    }
    tokio::time::sleep(Duration::from_millis(2300)).await;
    for (server, alice, session) in sessions {
        let refused = call_in(&alice, "read", json!({}), &session).await;
        assert_eq!(refused, Err(not_found(&session)));
        assert_eq!(server.refusals.code(), "expired");
    }
}

#[tokio::test]
async fn an_ended_session_is_refused_and_its_fork_is_not() {
    let server = start_with(fresh(), |it| it.ledger(Memory::default()), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let forked = call_in(&alice, "fork", json!({}), &session).await.unwrap();
    let forked = &forked["structuredContent"]["session"];
    assert_ne!(forked["sessionId"], session["sessionId"]);
    let later = write(&alice, "later", &session).await;
    let delete = json!({"_meta": {SESSION: {"sessionId": session["sessionId"]}}});
    raw(&alice, "sessions/delete", delete.clone())
        .await
        .unwrap();
    for sent in [&session, &later] {
        let refused = call_in(&alice, "read", json!({}), sent).await;
        assert_eq!(refused, Err(not_found(&session)));
        assert_eq!(server.refusals.code(), "ended");
    }
    assert_eq!(
        raw(&alice, "sessions/delete", delete).await,
        Err(not_found(&session))
    );
    let read = call_in(&alice, "read", json!({}), forked).await.unwrap();
    assert_eq!(read["structuredContent"]["value"], "new");
}

struct Down;

impl Accept for Down {
    fn accept<'a>(
        &'a self,
        token: &'a Presented,
    ) -> futures::future::BoxFuture<'a, Result<bool, BoxError>> {
        assert!(token.kind == Kind::Session && token.expires_at.is_some());
        Box::pin(async { Err("down".into()) })
    }

    fn ended<'a>(
        &'a self,
        _: &'a Presented,
    ) -> futures::future::BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async { Err("down".into()) })
    }
}

#[tokio::test]
async fn trouble_of_the_server_does_not_end_a_session() {
    let server = start_with(fresh(), |it| it.accept(Down), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let error = call_in(&alice, "read", json!({}), &session).await;
    assert_eq!(
        error,
        Err(json!({"code": -32603, "message": "Internal error"}))
    );
    assert_eq!(server.refusals.code(), "accept_unavailable");
}

#[tokio::test]
async fn too_large_a_state_is_told_to_the_author() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let error = call_in(&alice, "flood", json!({"bytes": 200_000}), &session).await;
    assert_eq!(
        error,
        Err(json!({"code": -32603, "message": "Internal error"}))
    );
    assert_eq!(server.refusals.code(), "too_large");
    assert!(call_in(&alice, "read", json!({}), &session).await.is_ok());
}

#[tokio::test]
async fn a_write_that_rmcp_would_lose_is_told_to_the_author() {
    let server = start().await;
    let alice = legacy(&server.uri, "alice").await;
    let session = create(&alice).await;
    let level = |level: &str| json!({"level": level, "_meta": {SESSION: session}});
    let quiet = raw(&alice, "logging/setLevel", level("info")).await;
    assert_eq!(quiet, Ok(json!({})));
    let lost = raw(&alice, "logging/setLevel", level("error")).await;
    assert_eq!(lost.unwrap_err()["code"], -32603);
    assert_eq!(server.refusals.code(), "invalid_argument");
}

#[tokio::test]
async fn a_list_never_depends_on_a_session() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let first = create(&alice).await;
    let second = write(&alice, "another", &create(&alice).await).await;
    let mut lists = vec![];
    for meta in [json!({}), json!({SESSION: first}), json!({SESSION: second})] {
        let mut list = raw(&alice, "tools/list", json!({"_meta": meta}))
            .await
            .unwrap();
        let left = list.as_object_mut().unwrap().remove("_meta");
        let left = left.map(|meta| meta[SESSION]["sessionId"].clone());
        assert_eq!(left.unwrap_or_default(), meta[SESSION]["sessionId"]);
        // Who may cache it differs, for its metadata does; what is listed must not.
        let scope = list.as_object_mut().unwrap().remove("cacheScope");
        list.as_object_mut().unwrap().remove("ttlMs");
        let expected = if meta[SESSION].is_null() {
            "public"
        } else {
            "private"
        };
        assert_eq!(scope, Some(json!(expected)));
        lists.push(list);
    }
    assert_eq!(lists[0], lists[1]);
    assert_eq!(lists[1], lists[2]);
}

#[tokio::test]
async fn two_writers_at_once_have_the_same_generation() {
    let server = start().await;
    let [alice, agent] = [
        client(&server.uri, "alice").await,
        client(&server.uri, "alice").await,
    ];
    let session = create(&alice).await;
    let (one, two) = tokio::join!(
        write(&alice, "one", &session),
        write(&agent, "two", &session)
    );
    for (left, value) in [(one, "one"), (two, "two")] {
        let read = call_in(&alice, "read", json!({}), &left).await.unwrap();
        let seen = &read["structuredContent"];
        assert_eq!(
            (&seen["value"], &seen["generation"]),
            (&json!(value), &json!(1))
        );
    }
}

#[tokio::test]
async fn a_state_of_an_older_key_leaves_under_the_new() {
    let [old, new] = [Key::generate().unwrap(), Key::generate().unwrap()];
    let before = start_with(codec(&[&old]), |it| it, |it| it).await;
    let server = start_with(codec(&[&new, &old]), |it| it, |it| it).await;
    let after = create(&client(&before.uri, "alice").await).await;
    let alice = client(&server.uri, "alice").await;
    let read = call_in(&alice, "read", json!({}), &after).await.unwrap();
    let left = &read["_meta"][SESSION];
    assert!(
        left["state"].is_string() && left["state"] != after["state"],
        "{left}"
    );
    assert_eq!(left["sessionId"], after["sessionId"]);
    assert_eq!(read["structuredContent"]["value"], "new");
}

#[tokio::test]
async fn no_cache_serves_a_result_of_a_session_to_others() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let methods = [
        "resources/list",
        "notes/list",
        "notes/count",
        "server/discover",
    ];
    for method in methods {
        for (meta, scope, ttl) in [
            (json!({}), "public", 60_000),
            (json!({ SESSION: session }), "private", 0),
        ] {
            if method == "notes/count" && scope == "public" {
                continue;
            }
            let list = raw(&alice, method, json!({ "_meta": meta })).await;
            let list = list.unwrap();
            assert_eq!(
                (&list["cacheScope"], &list["ttlMs"]),
                (&json!(scope), &json!(ttl)),
                "{method}"
            );
        }
    }
}

/// It is verified all the same, and goes back.
#[tokio::test]
async fn a_list_does_not_see_the_session_of_its_request() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    for method in ["resources/list", "notes/list"] {
        let meta = json!({"_meta": {SESSION: session}});
        let list = raw(&alice, method, meta).await.unwrap();
        let left = &list["_meta"][SESSION];
        assert_eq!(left, &json!({"sessionId": session["sessionId"]}));
    }
    assert!(server.refusals.take().is_empty());
}

/// rmcp knows the members by one name each.
#[tokio::test]
async fn an_alias_shows_a_handler_no_session() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    let mut snake = session.clone();
    snake["session_id"] = snake["sessionId"].take();
    for params in [
        json!({"meta": {SESSION: session}}),
        json!({"Meta": {SESSION: session}}),
        json!({SESSION: session}),
        json!({"session": session}),
        json!({"_meta": {"session": session}}),
        json!({"arguments": {"_meta": {SESSION: session}}}),
    ] {
        let mut params = params;
        params["name"] = json!("read");
        let refused = raw(&alice, "tools/call", params.clone()).await;
        assert_eq!(refused.unwrap_err()["message"], "Session required");
        assert_eq!(server.refusals.code(), "malformed");
    }
    let refused = call_in(&alice, "read", json!({}), &snake).await;
    assert_eq!(refused.unwrap_err()["message"], "Session not found");
    assert_eq!(server.refusals.code(), "malformed");
}

#[tokio::test]
async fn a_fork_begins_with_what_was_written() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    for write in [json!({}), json!({"write": "written"})] {
        let forked = call_in(&alice, "fork", write.clone(), &session).await;
        let forked = &forked.unwrap()["structuredContent"]["session"];
        let read = call_in(&alice, "read", json!({}), forked).await.unwrap();
        let seen = &read["structuredContent"];
        let began_with = write["write"].as_str().unwrap_or("new");
        assert_eq!(seen["value"], began_with);
        assert_eq!(seen["generation"], 0);
    }
}

#[tokio::test]
async fn without_a_memory_there_is_no_deletion() {
    let server = start().await;
    for revision in ["2026-07-28", "2025-11-25"] {
        let alice = connect(revision, &server.uri, "alice").await;
        let session = create(&alice).await;
        for params in [json!({}), json!({"_meta": {SESSION: session}})] {
            let refused = raw(&alice, "sessions/delete", params).await;
            let expected = json!({"code": -32601, "message": "Method not found"});
            assert_eq!(refused, Err(expected), "{revision}");
        }
        assert!(call_in(&alice, "read", json!({}), &session).await.is_ok());
    }
    assert!(server.refusals.take().is_empty());
}

#[tokio::test]
async fn a_store_is_told_from_when_on_nothing_of_a_session_opens() {
    let rule = Rule::new(yes);
    let server = start_with(fresh(), |it| it.accept(rule.clone()), |it| it).await;
    let alice = client(&server.uri, "alice").await;
    let session = create(&alice).await;
    call_in(&alice, "read", json!({}), &session).await.unwrap();
    let asked = rule.asked.lock().unwrap().pop().unwrap();
    assert_eq!(asked.expires_at, end_of(&asked.id, 30 * 24 * 3600));
}

#[tokio::test]
async fn a_state_of_another_type_is_refused_before_any_handler() {
    let codec = fresh();
    let numbers = Guard::builder(codec.clone(), from_claims).build().unwrap();
    numbers.sessions(|_, _| async { Ok(7) }).build().unwrap();
    let uri = serve(numbers.protect(Rows)).await;
    let session = create(&client(&uri, "alice").await).await;
    let texts = start_with(codec, |it| it, |it| it).await;
    let alice = client(&texts.uri, "alice").await;
    let refused = call_in(&alice, "free", json!({}), &session).await;
    assert_eq!(refused, Err(not_found(&session)));
    assert_eq!(texts.refusals.code(), "malformed");
}

#[tokio::test]
async fn a_forgotten_protect_gives_no_session() {
    let guard = Guard::builder(fresh(), from_claims).build().unwrap();
    guard.sessions_held_by_server().build().unwrap();
    let session = create(&client(&serve(guard.protect(Rows)).await, "alice").await).await;
    let uri = serve(Rows).await;
    let alice = client(&uri, "alice").await;
    let refused = call_in(&alice, "row", json!({}), &session).await;
    assert_eq!(refused.unwrap_err()["code"], -32603);
}

#[derive(Clone)]
struct Rows;

#[tool_router]
impl Rows {
    #[tool(description = "Which row")]
    async fn row(&self, mut session: Session<()>) -> CallToolResult {
        assert!(session.write(()).is_err());
        text(&session.ulid())
    }
}

#[tool_handler]
impl ServerHandler for Rows {}

#[tokio::test]
async fn the_server_may_hold_the_state_by_the_id_alone() {
    let guard = Guard::builder(fresh(), from_claims).build().unwrap();
    guard.sessions_held_by_server().build().unwrap();
    assert!(guard.sessions_held_by_server().build().is_err());
    let uri = serve(guard.protect(Rows)).await;
    let alice = client(&uri, "alice").await;
    let session = create(&alice).await;
    assert!(session["state"].is_null() && session["expiresAt"].is_string());
    let row = call_in(&alice, "row", json!({}), &session).await.unwrap();
    assert_eq!(row["content"][0]["text"].as_str().unwrap().len(), 32);
    assert_eq!(
        row["_meta"][SESSION],
        json!({"sessionId": session["sessionId"]})
    );
    let mallory = client(&uri, "mallory").await;
    let refused = call_in(&mallory, "row", json!({}), &session).await;
    assert_eq!(refused, Err(not_found(&session)));
}
