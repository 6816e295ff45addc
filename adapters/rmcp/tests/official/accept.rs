//! `Accept`: the questions that it is asked, and what happens if it does not answer.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::PaginatedRequestParams;
use sealwax_mcp::Profile;
use sealwax_rmcp::{Accept, BoxError, Kind, Presented};
use serde_json::json;

use crate::clients::{Client, call, client, internal, json_of, raw, refusal, state, tool};
use crate::server::*;
use crate::serving::unix_seconds;

/// Gives a fixed answer, and records the questions.
#[derive(Clone)]
pub struct Rule {
    answer: fn() -> BoxFuture<'static, Result<bool, BoxError>>,
    pub asked: Arc<Mutex<Vec<Presented>>>,
    pub ended: Arc<Mutex<Vec<Presented>>>,
}

impl Rule {
    pub fn new(answer: fn() -> BoxFuture<'static, Result<bool, BoxError>>) -> Self {
        let (asked, ended) = Default::default();
        Self {
            answer,
            asked,
            ended,
        }
    }
}

impl Accept for Rule {
    fn accept<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<bool, BoxError>> {
        self.asked.lock().unwrap().push(token.clone());
        (self.answer)()
    }

    fn ended<'a>(&'a self, token: &'a Presented) -> BoxFuture<'a, Result<(), BoxError>> {
        self.ended.lock().unwrap().push(token.clone());
        (self.answer)().map(|answer| answer.map(drop)).boxed()
    }
}

pub fn yes() -> BoxFuture<'static, Result<bool, BoxError>> {
    async { Ok(true) }.boxed()
}

fn no() -> BoxFuture<'static, Result<bool, BoxError>> {
    async { Ok(false) }.boxed()
}

pub fn fails() -> BoxFuture<'static, Result<bool, BoxError>> {
    let down = "redis://:s3cret@db is down";
    async move { Err(io::Error::new(io::ErrorKind::ConnectionRefused, down).into()) }.boxed()
}

fn slow() -> BoxFuture<'static, Result<bool, BoxError>> {
    tokio::time::sleep(Duration::from_secs(60))
        .map(|()| Ok(true))
        .boxed()
}

fn panics() -> BoxFuture<'static, Result<bool, BoxError>> {
    panic!("the store")
}

/// Presents one token of each kind once, and returns the answers.
async fn present_each(client: &Client) -> [serde_json::Value; 4] {
    let sealed = state(client, call("count", json!({}))).await;
    let again = call("count", json!({})).with_request_state(sealed);
    let state = json_of(client.call_tool_once(again).await.map(|_| "opened"));
    let cursor = client.list_tools(None).await.unwrap().next_cursor;
    let page = PaginatedRequestParams::default().with_cursor(cursor);
    let list = json_of(client.list_tools(Some(page)).await.map(|_| "opened"));
    let minted = tool(client, "mint", json!({})).await["structuredContent"]["handle"].clone();
    let check = tool(client, "check", json!({ "handle": minted })).await;
    let held =
        tool(client, "hold", json!({"bytes": 1})).await["structuredContent"]["handle"].clone();
    let add = tool(client, "add", json!({ "handle": held })).await;
    [
        state.unwrap_or_else(|error| error),
        list.unwrap_or_else(|error| error),
        check,
        add,
    ]
}

#[tokio::test]
async fn is_asked_with_what_was_verified() {
    let rule = Rule::new(yes);
    let server = start(|guard| guard.accept(rule.clone())).await;
    let alice = client(&server.uri, "alice").await;
    let [state, list, check, add] = present_each(&alice).await;
    assert_eq!((state, list), (json!("opened"), json!("opened")));
    assert_eq!(
        (&check["isError"], &add["isError"]),
        (&json!(false), &json!(false))
    );
    let asked = std::mem::take(&mut *rule.asked.lock().unwrap());
    let kinds: Vec<_> = asked.iter().map(|token| token.kind.name()).collect();
    assert_eq!(kinds, ["request-state", "cursor", "handle", "handle-state"]);
    for token in &asked {
        assert_eq!(token.id.len(), 32);
        assert_eq!(token.principal.parts().unwrap().subject, Some("alice"));
        assert!(token.expires_at.unwrap() > 1_700_000_000);
    }
    assert_eq!(check["structuredContent"]["ulid"], asked[2].id);

    let minted = tool(&alice, "mint", json!({})).await["structuredContent"].clone();
    tool(&alice, "end", json!({"handle": minted["handle"]})).await;
    let ended = std::mem::take(&mut *rule.ended.lock().unwrap());
    assert_eq!((ended.len(), ended[0].kind), (1, Kind::Handle));
    assert_eq!(minted["ulid"], ended[0].id);

    // It is not asked about tokens that were not verified.
    let mallory = client(&server.uri, "mallory").await;
    tool(&mallory, "check", json!({"handle": minted["handle"]})).await;
    tool(&mallory, "end", json!({"handle": minted["handle"]})).await;
    raw(&mallory, "tools/list", json!({"cursor": "x"}))
        .await
        .unwrap_err();
    assert!(rule.asked.lock().unwrap().is_empty() && rule.ended.lock().unwrap().is_empty());
}

#[tokio::test]
async fn no_is_a_refusal_like_any_other() {
    let server = start(|guard| guard.accept(Rule::new(no))).await;
    let alice = client(&server.uri, "alice").await;
    let seen = present_each(&alice).await;
    let [state, cursor, handle] =
        [Profile::RequestState, Profile::Cursor, Profile::Handle].map(refusal);
    assert_eq!(seen, [state, cursor, handle.clone(), handle]);
    for told in server.refusals.take() {
        assert_eq!(told.code, "not_accepted");
        assert!(told.id.is_some(), "it was verified");
    }
}

#[tokio::test]
async fn no_answer_is_the_servers_trouble() {
    for (answer, said) in [
        // Its own words may hold a credential.
        (fails as fn() -> _, "accept: it failed: ECONNREFUSED"),
        (slow, "no answer in 50ms"),
        (panics, "panicked"),
    ] {
        let options = |guard: sealwax_rmcp::GuardBuilder| {
            guard
                .accept(Rule::new(answer))
                .time_limit(Duration::from_millis(50))
        };
        let server = start(options).await;
        let alice = client(&server.uri, "alice").await;
        let seen = present_each(&alice).await;
        let [state, cursor, handle] =
            [Profile::RequestState, Profile::Cursor, Profile::Handle].map(internal);
        assert_eq!(seen, [state, cursor, handle.clone(), handle.clone()]);
        let told = server.refusals.take();
        assert_eq!(told.len(), 4);
        for told in told {
            assert_eq!(told.code, "accept_unavailable");
            assert!(told.message.contains(said), "{}", told.message);
            assert!(!told.line.contains("s3cret"), "{}", told.line);
        }
        let minted = tool(&alice, "mint", json!({})).await["structuredContent"]["handle"].clone();
        assert_eq!(
            tool(&alice, "end", json!({ "handle": minted })).await,
            handle
        );
        assert_eq!(server.refusals.code(), "accept_unavailable");
    }
}

/// Returns the expiry of a handle, rounded up to whole seconds, plus 300.
pub fn end_of(ulid: &str, seconds: u64) -> Option<u64> {
    let created_ms = u64::from_str_radix(&ulid[..12], 16).unwrap();
    Some((created_ms + seconds * 1000).div_ceil(1000) + 300)
}

/// The expiry in whole seconds, rounded up, plus 300 for clocks that differ.
#[tokio::test]
async fn is_told_from_when_on_nothing_opens_anywhere() {
    let rule = Rule::new(yes);
    let server = start(|guard| guard.accept(rule.clone())).await;
    let alice = client(&server.uri, "alice").await;
    let begin = unix_seconds();
    present_each(&alice).await;
    let end = unix_seconds();
    let asked = std::mem::take(&mut *rule.asked.lock().unwrap());
    for token in &asked {
        let lives = match token.kind {
            Kind::RequestState => 600,
            Kind::Cursor | Kind::HandleState => 24 * 3600,
            _ => continue,
        };
        let expires_at = token.expires_at.unwrap();
        let expected = begin + lives + 300..=end + lives + 300;
        assert!(expected.contains(&expires_at), "{token:?}");
    }
    let handle = asked.iter().find(|token| token.kind == Kind::Handle);
    let handle = handle.unwrap();
    assert_eq!(handle.expires_at, end_of(&handle.id, 3600));
}
