//! `examples/notes.rs` in a process, on stdio and on HTTP.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{EncodingKey, Header, encode};
use rmcp::model::*;
use rmcp::service::{RequestContext, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientHandler, ClientServiceExt as _, ErrorData, ServiceExt as _};
use sealwax::Key;
use sealwax_mcp::Profile;
use serde_json::{Value, json};

use crate::clients::{altered, arguments, json_of, modern, refusal};
use crate::counter::{Http, served};

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

fn notes() -> &'static PathBuf {
    static NOTES: OnceLock<PathBuf> = OnceLock::new();
    NOTES.get_or_init(|| built("notes"))
}

/// Builds an example, because `cargo test --tests` does not, and returns its path. The packages and features are those
/// of `make test-rust`, so that nothing is compiled twice.
pub fn built(example: &str) -> PathBuf {
    // What cargo tells a test of its package: `ring` and all that uses it would be compiled again, and then once more.
    let of_this_package = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    let mut command = Command::new(env!("CARGO"));
    for name in of_this_package {
        command.env_remove(name);
    }
    let built = command
        .args(["build", "--quiet", "--offline", "--all-features"])
        .args(["--package", "sealwax", "--package", "sealwax-mcp"])
        .args(["--package", "sealwax-cli", "--package", "sealwax-rmcp"])
        .args([
            "--package",
            "sealwax-fuzz-targets",
            "--package",
            "format-model",
        ])
        .args(["--package", "ledger-model"])
        .args(["--example", example, "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let lines = String::from_utf8(built.stdout).unwrap();
    let artefacts = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut programs = artefacts.filter_map(|line| line["executable"].as_str().map(Into::into));
    programs.next().expect("the example was not built")
}

pub fn key() -> String {
    Key::generate().unwrap().to_text().unwrap().to_string()
}

fn process(key: &str) -> TokioChildProcess {
    let mut command = tokio::process::Command::new(notes());
    command.env("SEALWAX_KEYS", key).env_remove("PORT");
    TokioChildProcess::new(command).unwrap()
}

async fn stdio(key: &str, user: User) -> Session {
    user.serve_with_lifecycle(process(key), modern())
        .await
        .unwrap()
}

async fn call(session: &Session, tool: &'static str, args: Value) -> Value {
    let params = CallToolRequestParams::new(tool).with_arguments(arguments(args));
    json_of(session.call_tool(params).await).unwrap()
}

/// Uses everything that the example offers.
async fn tour(session: &Session, deletes: bool) {
    if deletes {
        let done = call(session, "delete_note", json!({"id": 7})).await;
        assert_eq!(
            done["content"],
            json!([{"type": "text", "text": "note 7 deleted"}])
        );
    }
    let empty = call(session, "new_basket", json!({})).await;
    assert_eq!(empty["structuredContent"]["items"], json!([]));
    let text: Value = serde_json::from_str(empty["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, empty["structuredContent"]);
    let mut basket = empty["structuredContent"]["basket"].clone();
    for items in [json!(["apple"]), json!(["apple", "pear"])] {
        let item = items.as_array().unwrap().last().unwrap();
        let next = call(
            session,
            "add_to_basket",
            json!({"basket": basket, "item": item}),
        )
        .await;
        assert_eq!(next["structuredContent"]["items"], items);
        assert_eq!(
            next["structuredContent"]["expiresAt"]
                .as_str()
                .unwrap()
                .len(),
            20
        );
        basket = next["structuredContent"]["basket"].clone();
    }
    let mut pages = vec![session.list_resources(None).await.unwrap()];
    while let Some(cursor) = pages.last().unwrap().next_cursor.clone() {
        let page = PaginatedRequestParams::default().with_cursor(Some(cursor));
        pages.push(session.list_resources(Some(page)).await.unwrap());
    }
    let sizes: Vec<_> = pages.iter().map(|page| page.resources.len()).collect();
    assert_eq!(sizes, [10, 10, if deletes { 4 } else { 5 }]);
    let mut notes = pages.iter().flat_map(|page| &page.resources);
    assert_eq!(notes.clone().any(|it| it.uri == "note:///7"), !deletes);
    assert!(notes.any(|it| it.uri == "note:///25"));
    for (note, exists) in [("25", true), ("7", !deletes), ("26", false), ("x", false)] {
        let uri = format!("note:///{note}");
        let read = session.read_resource(ReadResourceRequestParams::new(&uri));
        let read = json_of(read.await);
        if exists {
            let text = format!("This is note {note}.");
            let text = json!([{"uri": uri, "mimeType": "text/plain", "text": text}]);
            assert_eq!(read.unwrap()["contents"], text);
        } else {
            assert_eq!(read.unwrap_err()["message"], "no such note");
        }
    }
}

#[tokio::test]
async fn on_stdio_of_2026_07_28() {
    let session = stdio(&key(), yes()).await;
    tour(&session, true).await;
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn on_stdio_of_2025_11_25() {
    let session = yes().serve(process(&key())).await.unwrap();
    tour(&session, false).await;
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn on_stdio_a_note_is_kept_unless_the_user_agrees() {
    for user in [
        User(ElicitationAction::Accept, false),
        User(ElicitationAction::Decline, true),
    ] {
        let session = stdio(&key(), user).await;
        let kept = call(&session, "delete_note", json!({"id": 7})).await;
        assert_eq!(kept["content"][0]["text"], "note 7 kept");
    }
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
    let accepted = two
        .call_tool_once(params(7).with_request_state(&sealed))
        .await
        .unwrap();
    assert!(matches!(accepted, CallToolResponse::Complete(_)));
    for (session, id, state) in [
        (&two, 8, sealed.clone()),
        (&two, 7, altered(&sealed)),
        (&stranger, 7, sealed.clone()),
        (&two, 7, "x".repeat(10_000)),
        (&two, 7, String::new()),
    ] {
        let again = session
            .call_tool_once(params(id).with_request_state(state))
            .await;
        assert_eq!(
            json_of(again.map(|_| ())),
            Err(refusal(Profile::RequestState))
        );
    }
    let cursor = one.list_resources(None).await.unwrap().next_cursor.unwrap();
    let basket = call(&one, "new_basket", json!({})).await["structuredContent"]["basket"].clone();
    let basket = basket.as_str().unwrap();
    for (session, cursor, basket) in [
        (&two, altered(&cursor), altered(basket)),
        (&stranger, cursor, basket.to_owned()),
    ] {
        let page = PaginatedRequestParams::default().with_cursor(Some(cursor));
        let listed = json_of(session.list_resources(Some(page)).await);
        assert_eq!(listed, Err(refusal(Profile::Cursor)));
        let added = call(
            session,
            "add_to_basket",
            json!({"basket": basket, "item": "x"}),
        )
        .await;
        assert_eq!(added, refusal(Profile::Handle));
    }
}

#[test]
fn without_keys_it_says_how_to_make_one() {
    let run = Command::new(notes())
        .env_remove("SEALWAX_KEYS")
        .output()
        .unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert!(
        !run.status.success() && said.contains("sealwax keygen"),
        "{said}"
    );
}

fn http(secret: Option<&str>) -> Http {
    served(&mut Command::new(notes()), &key(), secret)
}

/// A token for both examples.
pub fn jwt(secret: &str, subject: &str, seconds: i64) -> String {
    let both = json!(["https://notes.example.com", "https://counter.example.com"]);
    jwt_for(&both, secret, subject, seconds)
}

pub fn jwt_for(audience: &Value, secret: &str, subject: &str, seconds: i64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let exp = now.checked_add_signed(seconds).unwrap();
    let mut claims = json!({
        "iss": "https://idp.example.com", "sub": subject, "client_id": "cli-7", "exp": exp
    });
    if !audience.is_null() {
        claims["aud"] = audience.clone();
    }
    encode(
        &Header::default(),
        &claims,
        &EncodingKey::from_secret(secret.as_bytes()),
    )
    .unwrap()
}

fn connection(uri: &str, token: Option<String>) -> StreamableHttpClientTransport<reqwest::Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(uri);
    config.auth_header = token;
    StreamableHttpClientTransport::from_config(config)
}

#[tokio::test]
async fn on_http_for_anybody() {
    let server = http(None);
    let before = yes().serve(connection(&server.uri, None)).await.unwrap();
    tour(&before, false).await;
    let session = yes()
        .serve_with_lifecycle(connection(&server.uri, None), modern())
        .await
        .unwrap();
    tour(&session, true).await;
}

#[tokio::test]
async fn on_http_for_the_user_of_the_token() {
    let server = http(Some("secret"));
    let as_user = async |token: String| {
        yes()
            .serve_with_lifecycle(connection(&server.uri, Some(token)), modern())
            .await
    };
    let alice = as_user(jwt("secret", "alice", 600)).await.unwrap();
    let mallory = as_user(jwt("secret", "mallory", 600)).await.unwrap();
    tour(&alice, true).await;
    let basket = call(&alice, "new_basket", json!({})).await["structuredContent"]["basket"].clone();
    let stolen = call(
        &mallory,
        "add_to_basket",
        json!({"basket": basket, "item": "x"}),
    )
    .await;
    assert_eq!(stolen, refusal(Profile::Handle));
    let cursor = alice.list_resources(None).await.unwrap().next_cursor;
    let page = PaginatedRequestParams::default().with_cursor(cursor);
    assert_eq!(
        json_of(mallory.list_resources(Some(page)).await),
        Err(refusal(Profile::Cursor))
    );

    for bad in [
        jwt("another", "alice", 600),
        jwt("secret", "alice", -600),
        jwt_for(&Value::Null, "secret", "alice", 600),
        jwt_for(&json!("https://other.example.com"), "secret", "alice", 600),
        String::new(),
    ] {
        assert!(as_user(bad).await.is_err());
    }
    let post = |token: &str| {
        let request = reqwest::Client::new().post(&server.uri).body("{}");
        request
            .header("authorization", format!("Bearer {token}"))
            .send()
    };
    assert_eq!(post("").await.unwrap().status(), 401);
    assert_ne!(
        post(&jwt("secret", "alice", 600)).await.unwrap().status(),
        401
    );
}
