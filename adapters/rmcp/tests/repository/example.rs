//! `examples/notes.rs` in a process, on stdio and on HTTP.

use std::process::Command;

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

const OURS: &str = "https://notes.example.com";

fn yes() -> User {
    User(ElicitationAction::Accept, true)
}

async fn stdio(key: &str, user: User) -> Session {
    let session = user.serve_with_lifecycle(process("notes", key), modern());
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
    let mut sizes = vec![];
    let mut cursor = None;
    loop {
        let page = list(session, cursor).await.unwrap();
        sizes.push(page.resources.len());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [10, 10, if deletes { 4 } else { 5 }]);
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
    let session = yes().serve(process("notes", &key())).await.unwrap();
    tour(&session, false).await;
    session.cancel().await.unwrap();
}

/// A replica with the same key continues what another began; one with another key does not.
#[tokio::test]
async fn on_stdio_what_is_refused_looks_alike() {
    let shared = key();
    let (one, two) = (stdio(&shared, yes()).await, stdio(&shared, yes()).await);
    let stranger = stdio(&key(), yes()).await;
    let delete =
        || CallToolRequestParams::new("delete_note").with_arguments(arguments(json!({"id": 7})));
    let CallToolResponse::InputRequired(asked) = one.call_tool_once(delete()).await.unwrap() else {
        panic!("expected a question");
    };
    let sealed = asked.request_state.unwrap();
    let cursor = list(&one, None).await.unwrap().next_cursor.unwrap();
    let basket = call(&one, "new_basket", json!({})).await["structuredContent"]["basket"].clone();
    let bad = json!(altered(basket.as_str().unwrap()));
    for (session, state, cursor, basket) in [
        (&two, altered(&sealed), altered(&cursor), bad),
        (&stranger, sealed.clone(), cursor, basket),
    ] {
        let again = session.call_tool_once(delete().with_request_state(state));
        let refused = json_of(again.await.map(|_| ()));
        assert_eq!(refused, Err(refusal(Profile::RequestState)));
        let listed = list(session, Some(cursor)).await;
        assert_eq!(listed.unwrap_err(), refusal(Profile::Cursor));
        let added = add(session, &basket, &json!("x")).await;
        assert_eq!(added, refusal(Profile::Handle));
    }
    let again = two.call_tool_once(delete().with_request_state(sealed));
    assert!(again.await.is_ok());
}

/// More of users is in examples/demo/fleet_requests.py.
#[tokio::test]
async fn on_http_for_the_user_of_the_token() {
    let mut server = served(&mut Command::new(built("notes")), &key(), Some("secret"));
    // It answers all the same, also whom it refuses.
    server.log = None;
    let as_user = async |name| {
        let token = jwt(&OURS.into(), "secret", name, 600);
        let config = StreamableHttpClientTransportConfig::with_uri(&*server.uri).auth_header(token);
        let connection = StreamableHttpClientTransport::from_config(config);
        let session = yes().serve_with_lifecycle(connection, modern());
        session.await.unwrap()
    };
    let alice = as_user("alice").await;
    tour(&alice, true).await;
    let stolen = list(&alice, None).await.unwrap().next_cursor;
    let stolen = list(&as_user("mallory").await, stolen).await;
    assert_eq!(stolen.unwrap_err(), refusal(Profile::Cursor));
}

/// And of examples/http.rs.
#[tokio::test]
async fn on_http_for_nobody_else() {
    for example in ["notes", "http"] {
        let server = served(&mut Command::new(built(example)), &key(), Some("secret"));
        for (token, is_good) in [
            (jwt(&OURS.into(), "secret", "alice", 600), true),
            (jwt(&OURS.into(), "another", "alice", 600), false),
            (jwt(&OURS.into(), "secret", "alice", -600), false),
            (jwt(&Value::Null, "secret", "alice", 600), false),
            (
                jwt(&"https://other.example.com".into(), "secret", "alice", 600),
                false,
            ),
            (String::new(), false),
        ] {
            let request = reqwest::Client::new().post(&server.uri).body("{}");
            let answer = request.bearer_auth(&token).send().await.unwrap();
            assert_eq!(answer.status() != 401, is_good, "{example}: {token}");
        }
    }
}
