//! The guard's options, and mistakes in using it.

use std::cell::RefCell;
use std::io;
use std::sync::Once;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sealwax::{Codec, Environment, Key, KeyRing, System};
use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Kind, Sessions, State, anonymous, from_claims};
use serde_json::json;

use crate::clients::{call, client, internal, json_of, raw, refusal, state, tool};
use crate::own_ledger::{How, Own};
use crate::server::*;
use crate::serving::{Refusals, fresh, serve};

/// rmcp passes such a call on as a custom request.
#[tokio::test]
async fn a_tool_whose_name_is_no_text_gets_a_json_rpc_error() {
    #[derive(Clone)]
    struct Plain;
    impl rmcp::ServerHandler for Plain {}
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let sessions = Sessions::new(|_, _| async { Ok(0) }).require_tools(["delete"]);
    let guard = guard.sessions(sessions).build().unwrap();
    let alice = client(&serve(guard.protect(Plain)).await, "alice").await;
    for name in [
        json!(["delete"]),
        json!(7),
        json!({"delete": 1}),
        json!(true),
    ] {
        let error = raw(&alice, "tools/call", json!({"name": name})).await;
        assert_eq!(error.unwrap_err()["code"], -32601, "{name}");
        let state = json!({"name": name, "requestState": "x"});
        let error = raw(&alice, "tools/call", state).await.unwrap_err();
        let expected = json!({"code": -32602, "message": "Invalid params"});
        assert_eq!(error, expected, "{name}");
        assert_eq!(refusals.code(), "invalid_request");
    }
}

/// The likeliest misuse: `anonymous` stays in place when authentication comes.
#[tokio::test]
async fn anonymous_beside_a_signed_in_user_is_warned_of_once() {
    keep_log();
    let warned = || {
        let text = String::from_utf8(LOG.take()).unwrap();
        let ours = text.lines().filter(|line| line.contains("SECURITY"));
        ours.map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let server = start_as(Guard::builder(fresh(), anonymous), |guard| guard).await;
    for user in ["alice", "mallory"] {
        let client = client(&server.uri, user).await;
        state(&client, call("count", json!({}))).await;
    }
    let lines = warned();
    assert_eq!(lines.len(), 1, "{lines:?}");
    for said in [" WARN ", "VerifiedClaims", "from_claims"] {
        assert!(lines[0].contains(said), "{lines:?}");
    }
    assert!(!lines[0].contains("alice"), "{lines:?}");

    // Another guard has its own; a token is a sign, too.
    let server = start_as(Guard::builder(fresh(), anonymous), |guard| guard).await;
    state(
        &client(&server.uri, "nobody").await,
        call("count", json!({})),
    )
    .await;
    let lines = warned();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("an Authorization header"), "{lines:?}");

    let server = start(|guard| guard).await;
    state(
        &client(&server.uri, "alice").await,
        call("count", json!({})),
    )
    .await;
    assert_eq!(warned(), Vec::<String>::new());
}

#[derive(Clone)]
struct Elsewhere;

impl Elsewhere {
    fn read<T>(context: &RequestContext<RoleServer>) -> Result<T, ErrorData> {
        let state = State::<serde_json::Value>::of(context)?;
        let read = state.into_inner();
        Err(ErrorData::invalid_request("read and could write", read))
    }
}

impl rmcp::ServerHandler for Elsewhere {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Self::read(&context)
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Self::read(&context)
    }

    async fn on_custom_request(
        &self,
        _: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Self::read(&context)
    }
}

#[tokio::test]
async fn where_none_is_carried_a_state_is_neither_read_nor_written() {
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let guard = guard.build().unwrap();
    let alice = client(&serve(guard.protect(Elsewhere)).await, "alice").await;
    let mut requests = vec![(
        "completion/complete",
        json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
    )];
    for method in ["tools/list", "notes/list", "notes/state", "tools/CALL"] {
        requests.push((method, json!({})));
    }
    for (method, params) in requests {
        for forged in [json!(null), json!("{}"), json!({"asked": 8}), json!(5)] {
            let mut params = params.clone();
            params["requestState"] = forged.clone();
            params["name"] = json!("delete");
            // Writing one needs a State, which is not available here.
            let refused = raw(&alice, method, params).await;
            assert_eq!(refused, Err(internal(Profile::RequestState)), "{method}");
            let told = refusals.take();
            assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
            assert!(told[0].message.starts_with("State: "), "{told:?}");
        }
    }
}

#[tokio::test]
async fn a_hook_that_panics_changes_nothing() {
    let server = start(|guard| guard.on_refused(|_| panic!("the hook"))).await;
    let alice = client(&server.uri, "alice").await;
    let asked = async {
        let refused = raw(&alice, "tools/list", json!({"cursor": "x"})).await;
        assert_eq!(refused, Err(refusal(Profile::Cursor)));
        let refused = tool(&alice, "check", json!({"handle": "x"})).await;
        assert_eq!(refused, refusal(Profile::Handle));
    };
    in_time(asked).await;
}

#[tokio::test]
async fn a_ledger_that_panics_is_one_that_fails() {
    let server = start(|guard| guard.ledger(Own::new(How::Panics))).await;
    let alice = client(&server.uri, "alice").await;
    let asked = async {
        let sealed = state(&alice, call("count", json!({}))).await;
        let again = call("count", json!({})).with_request_state(&sealed);
        let failed = json_of(alice.call_tool_once(again).await.map(|_| ()));
        assert_eq!(failed, Err(internal(Profile::RequestState)));
    };
    in_time(asked).await;
    assert_eq!(server.refusals.code(), "ledger_unavailable");
}

/// Nothing answers a request whose task panicked.
async fn in_time(asked: impl Future<Output = ()>) {
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, asked).await.expect("in time");
}

#[tokio::test]
async fn unprotected_nothing_is_read_written_or_minted() {
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims)
        .on_refused(refusals.hook())
        .build()
        .unwrap();
    let server = Server {
        handles: guard.reference_handles("basket"),
        held: guard.self_contained_handles("cart"),
    };
    let alice = client(&serve(server).await, "alice").await;
    let forged = call("delete", json!({"id": 8})).with_request_state(r#"{"asked":8}"#);
    for params in [call("delete", json!({"id": 8})), forged] {
        let failed = json_of(alice.call_tool_once(params).await.map(|_| ()));
        assert_eq!(failed, Err(internal(Profile::RequestState)));
    }
    for (name, kind) in [("mint", Kind::Handle), ("hold", Kind::HandleState)] {
        assert_eq!(
            tool(&alice, name, json!({"bytes": 1})).await,
            internal(Profile::Handle)
        );
        let told = refusals.take();
        assert_eq!(
            (told.len(), told[0].code, told[0].kind),
            (1, "invalid_argument", kind)
        );
        assert!(
            told[0].message.contains("guard.protect(server)"),
            "{}",
            told[0].message
        );
    }
}

#[tokio::test]
async fn handles_belong_to_the_guard_that_protects() {
    let refusals = Refusals::default();
    let other = Guard::builder(fresh(), from_claims)
        .on_refused(refusals.hook())
        .build()
        .unwrap();
    let server = Server {
        handles: other.reference_handles("basket"),
        held: other.self_contained_handles("cart"),
    };
    let guard = Guard::builder(fresh(), from_claims).build().unwrap();
    let alice = client(&serve(guard.protect(server)).await, "alice").await;
    assert_eq!(
        tool(&alice, "mint", json!({})).await,
        internal(Profile::Handle)
    );
    assert_eq!(refusals.code(), "invalid_argument");
}

#[tokio::test]
async fn a_type_that_is_none_and_a_state_where_none_is_carried_fail_closed() {
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims)
        .on_refused(refusals.hook())
        .build()
        .unwrap();
    let server = Server {
        handles: guard.reference_handles("Basket!"),
        held: guard.self_contained_handles(""),
    };
    let alice = client(&serve(guard.protect(server)).await, "alice").await;
    for name in ["mint", "hold"] {
        assert_eq!(
            tool(&alice, name, json!({"bytes": 1})).await,
            internal(Profile::Handle)
        );
        assert_eq!(refusals.code(), "invalid_argument");
    }
    let failed = raw(&alice, "notes/state", json!({})).await;
    assert_eq!(failed, Err(internal(Profile::RequestState)));
    assert_eq!(refusals.code(), "invalid_argument");
}

#[test]
fn mistakes_in_the_options_are_said_at_once() {
    let builder = || Guard::builder(fresh(), anonymous);
    let none: [&str; 0] = [];
    for (built, named) in [
        (
            builder()
                .request_state_ttl(Duration::from_millis(900))
                .build(),
            "request_state_ttl",
        ),
        (
            builder().request_state_ttl(Duration::MAX).build(),
            "request_state_ttl",
        ),
        (builder().time_limit(Duration::ZERO).build(), "time limit"),
        (builder().time_limit(Duration::MAX).build(), "time limit"),
        (builder().only("delete", none).build(), "only"),
    ] {
        let error = built.unwrap_err();
        assert_eq!(error.code(), "invalid_argument");
        assert!(error.to_string().starts_with(named), "{error}");
    }
}

/// Checking the options seals nothing.
#[test]
fn options_are_read_without_randomness() {
    struct Dry;
    impl Environment for Dry {
        fn now_ms(&self) -> u64 {
            System.now_ms()
        }
        fn fill(&self, _: &mut [u8]) -> Result<(), sealwax::Error> {
            Err(sealwax::Error::EntropyUnavailable)
        }
    }
    let built = |sessions| {
        let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
        let builder = Codec::builder(ring, "https://mcp.example.com");
        let codec = builder.build_in(Dry).unwrap();
        let guard = Guard::builder(codec, anonymous).request_state_ttl(Duration::from_secs(1));
        guard.sessions(sessions).build()
    };
    assert!(built(Sessions::held_by_server()).is_ok());
    for (ttl, good) in [(1000, true), (999, false)] {
        let sessions = Sessions::new(|_, _| async { Ok(0) });
        let sessions = sessions.ttl(Duration::from_millis(ttl));
        assert_eq!(built(sessions).is_ok(), good);
    }
}

thread_local! {
    /// The log of this thread. Every test and its server are on one thread.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps the log at level info, which servers use: at debug, rmcp logs whole results.
fn keep_log() {
    static KEPT: Once = Once::new();
    // Set for all threads, or else tracing caches that another thread does not log our events.
    KEPT.call_once(|| {
        let log = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO);
        log.with_ansi(false).with_writer(|| Log).init();
    });
}

#[tokio::test]
async fn the_log_has_the_reason_and_never_a_token_or_a_payload() {
    keep_log();
    let server = start(|guard| guard).await;
    let alice = client(&server.uri, "alice").await;
    let mallory = client(&server.uri, "mallory").await;
    let sealed = state(&alice, call("count", json!({}))).await;
    let held = tool(&alice, "hold", json!({"bytes": 1})).await;
    let held = held["structuredContent"]["handle"]
        .as_str()
        .unwrap()
        .to_owned();
    let stolen = call("count", json!({})).with_request_state(&sealed);
    assert!(mallory.call_tool_once(stolen).await.is_err());
    tool(&mallory, "add", json!({ "handle": held })).await;
    let told = server.refusals.take();
    let text = String::from_utf8(LOG.take()).unwrap();
    let ours: Vec<_> = text
        .lines()
        .filter(|line| line.contains("sealwax_rmcp"))
        .collect();
    assert_eq!((ours.len(), told.len()), (2, 2), "{text}");
    for (line, told) in ours.iter().zip(&told) {
        assert!(
            line.contains(" WARN ") && line.contains(told.code),
            "{line}"
        );
        assert!(line.contains(told.id.as_deref().unwrap()), "{line}");
        let (method, target) = (told.method.as_deref(), told.target.as_deref().unwrap());
        assert_eq!(method, Some("tools/call"));
        assert!(["count", "add"].contains(&target));
        for field in [r#"method="tools/call""#, r#"subject="mallory""#] {
            assert!(line.contains(field), "{line}");
        }
        assert!(line.contains(&format!(r#"target="{target}""#)), "{line}");
    }
    for secret in [&sealed[..], &held[..]] {
        assert!(!text.contains(secret) && !format!("{told:?}").contains(secret));
    }
}
