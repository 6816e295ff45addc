//! `examples/notes.rs` in a process, on stdio and on HTTP.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ClientServiceExt as _, ErrorData, ServiceExt as _};
use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{altered, arguments, json_of, modern, refusal};
use crate::programs::{built, jwt, key, process, served};

/// A user who gives every question the same answer.
#[derive(Clone)]
struct User(ElicitationAction, bool);

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        config
    }

    async fn create_elicitation(
        &self,
        question: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = question else {
            panic!("expected a form");
        };
        assert_eq!(message, "Delete note 7?");
        Ok(ElicitResult::new(self.0.clone()).with_content(json!({"confirm": self.1})))
    }
}

type Session = RunningService<RoleClient, User>;

fn yes() -> User {
    User(ElicitationAction::Accept, true)
}

static NOTES: LazyLock<PathBuf> = LazyLock::new(|| built("notes"));

async fn stdio(key: &str, user: User) -> Session {
    let session = user.serve_with_lifecycle(process(&NOTES, key), modern());
    session.await.unwrap()
}

async fn call(session: &Session, tool: &'static str, args: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments(args));
    json_of(session.call_tool(params).await).unwrap()
}

async fn list(session: &Session, cursor: Option<String>) -> Result<ListResourcesResult, Value> {
    let page = PaginatedRequestParams::default().with_cursor(cursor);
    let listed = json_of(session.list_resources(Some(page)).await);
    listed.map(|list| serde_json::from_value(list).unwrap())
}

async fn add(session: &Session, basket: &Value, item: &Value) -> Value {
    let addition = json!({"basket": basket, "item": item});
    call(session, "add_to_basket", addition).await
}

/// Uses everything that the example offers.
async fn tour(session: &Session, deletes: bool) {
    if deletes {
        let done = call(session, "delete_note", json!({"id": 7})).await;
        assert_eq!(done["content"][0]["text"], "note 7 deleted");
    }
    let empty = call(session, "new_basket", json!({})).await;
    let mut basket = empty["structuredContent"]["basket"].clone();
    for items in [json!(["apple"]), json!(["apple", "pear"])] {
        let item = items.as_array().unwrap().last().unwrap();
        let mut next = add(session, &basket, item).await["structuredContent"].take();
        assert_eq!(next["items"], items);
        assert_eq!(next["expiresAt"].as_str().unwrap().len(), 20);
        basket = next["basket"].take();
    }
    let mut pages = vec![list(session, None).await.unwrap()];
    while let Some(cursor) = pages.last().unwrap().next_cursor.clone() {
        pages.push(list(session, Some(cursor)).await.unwrap());
    }
    let sizes: Vec<_> = pages.iter().map(|page| page.resources.len()).collect();
    assert_eq!(sizes, [10, 10, if deletes { 4 } else { 5 }]);
    let mut notes = pages.iter().flat_map(|page| &page.resources);
    assert_eq!(notes.clone().any(|it| it.uri == "note:///7"), !deletes);
    assert!(notes.any(|it| it.uri == "note:///25"));
    for (note, exists) in [("25", true), ("7", !deletes), ("26", false)] {
        let read = ReadResourceRequestParams::new(format!("note:///{note}"));
        let read = json_of(session.read_resource(read).await);
        assert_eq!(read.is_ok(), exists, "{read:?}");
    }
}

#[tokio::test]
async fn on_stdio_of_2026_07_28() {
    tour(&stdio(&key(), yes()).await, true).await;
    let no = User(ElicitationAction::Decline, true);
    let kept = call(&stdio(&key(), no).await, "delete_note", json!({"id": 7})).await;
    assert_eq!(kept["content"][0]["text"], "note 7 kept");
}

#[tokio::test]
async fn on_stdio_of_2025_11_25() {
    let session = yes().serve(process(&NOTES, &key())).await.unwrap();
    tour(&session, false).await;
    session.cancel().await.unwrap();
}

/// A replica with the same key continues what another began; one with another key does not.
#[tokio::test]
async fn on_stdio_what_is_refused_looks_alike() {
    let shared = key();
    let (one, two) = (stdio(&shared, yes()).await, stdio(&shared, yes()).await);
    let stranger = stdio(&key(), yes()).await;
    let params = |id: u32| {
        CallToolRequestParams::new("delete_note").with_arguments(arguments(json!({ "id": id })))
    };
    let CallToolResponse::InputRequired(asked) = one.call_tool_once(params(7)).await.unwrap()
    else {
        panic!("expected a question");
    };
    let sealed = asked.request_state.unwrap();
    let refused = Err(refusal(Profile::RequestState));
    for (session, id, state, expected) in [
        (&two, 7, sealed.clone(), Ok(json!(null))),
        (&two, 8, sealed.clone(), refused.clone()),
        (&two, 7, altered(&sealed), refused.clone()),
        (&stranger, 7, sealed, refused),
    ] {
        let again = params(id).with_request_state(state);
        let again = session.call_tool_once(again).await;
        assert_eq!(json_of(again.map(|_| ())), expected);
    }
    let cursor = list(&one, None).await.unwrap().next_cursor.unwrap();
    let basket = call(&one, "new_basket", json!({})).await["structuredContent"]["basket"].clone();
    let bad = json!(altered(basket.as_str().unwrap()));
    for (session, cursor, basket) in [(&two, altered(&cursor), bad), (&stranger, cursor, basket)] {
        let listed = list(session, Some(cursor)).await;
        assert_eq!(listed.unwrap_err(), refusal(Profile::Cursor));
        let added = add(session, &basket, &json!("x")).await;
        assert_eq!(added, refusal(Profile::Handle));
    }
}

#[test]
fn without_keys_it_says_how_to_make_one() {
    let mut command = Command::new(&*NOTES);
    let run = command.env_remove("SEALWAX_KEYS").output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(!run.status.success());
    assert!(said.contains("sealwax keygen"), "{said}");
}

/// More of users is in examples/demo/fleet_requests.py.
#[tokio::test]
async fn on_http_for_the_user_of_the_token() {
    let mut server = served(&mut Command::new(&*NOTES), &key(), Some("secret"));
    // It answers all the same, also whom it refuses.
    server.log = None;
    let as_user = async |token: String| {
        let config = StreamableHttpClientTransportConfig::with_uri(&*server.uri).auth_header(token);
        let connection = StreamableHttpClientTransport::from_config(config);
        yes().serve_with_lifecycle(connection, modern()).await
    };
    let ours = json!("https://notes.example.com");
    let good = |name| jwt(&ours, "secret", name, 600);
    let alice = as_user(good("alice")).await.unwrap();
    tour(&alice, true).await;
    let mallory = as_user(good("mallory")).await.unwrap();
    let stolen = list(&alice, None).await.unwrap().next_cursor;
    let stolen = list(&mallory, stolen).await;
    assert_eq!(stolen.unwrap_err(), refusal(Profile::Cursor));
    for bad in [
        jwt(&ours, "another", "alice", 600),
        jwt(&ours, "secret", "alice", -600),
        jwt(&Value::Null, "secret", "alice", 600),
        jwt(&json!("https://other.example.com"), "secret", "alice", 600),
        String::new(),
    ] {
        assert!(as_user(bad).await.is_err());
    }
}
