//! Manners: mistakes in using the guard, what panics, and what the log says.

use std::cell::RefCell;
use std::io;
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use sealwax_mcp::Profile;
use sealwax_rmcp::{Guard, Kind, anonymous, from_claims};
use serde_json::json;

use crate::clients::{SESSION, call, client, json_of, legacy, raw, refusal, state};
use crate::own_ledger::{How, Own};
use crate::server::*;
use crate::serving::{Refusals, fresh, serve};

/// The likeliest misuse: `anonymous` stays in place when authentication comes.
#[tokio::test]
async fn anonymous_beside_a_signed_in_user_is_warned_of_once() {
    keep_log();
    // Each guard has its own warning; a token is a sign, too.
    for (users, said) in [
        (&["alice", "mallory"][..], "VerifiedClaims"),
        (&["nobody"], "an Authorization header"),
    ] {
        let server = start_as(Guard::builder(fresh(), anonymous)).await;
        for user in users {
            state(&client(&server.uri, user).await, call("count", json!({}))).await;
        }
        let text = String::from_utf8(LOG.take()).unwrap();
        let lines = text.lines().filter(|line| line.contains("SECURITY"));
        let lines: Vec<_> = lines.collect();
        assert_eq!(lines.len(), 1, "{lines:?}");
        for said in [" WARN ", "from_claims", said] {
            assert!(lines[0].contains(said), "{lines:?}");
        }
        assert!(!lines[0].contains("alice"), "{lines:?}");
    }
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    state(&alice, call("count", json!({}))).await;
    let text = String::from_utf8(LOG.take()).unwrap();
    assert!(!text.contains("SECURITY"), "{text}");
}

#[tokio::test]
async fn a_hook_that_panics_changes_nothing() {
    let guard = Guard::builder(fresh(), from_claims).on_refused(|_| panic!("the hook"));
    let server = start_as(guard).await;
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
    for (how, says) in [
        (How::Panics, "found a panic"),
        (How::Fails, "it rains"),
        (How::Oddly, "expected a reply as LEDGER.md specifies"),
    ] {
        let guard = Guard::builder(fresh(), from_claims).ledger(Own::new(how));
        let server = start_as(guard).await;
        let alice = client(&server.uri, "alice").await;
        let asked = async {
            let sealed = state(&alice, call("count", json!({}))).await;
            let again = call("count", json!({})).with_request_state(&sealed);
            let failed = json_of(alice.call_tool_once(again).await.map(|_| ()));
            assert_eq!(failed, Err(internal(Profile::RequestState)));
        };
        in_time(asked).await;
        let told = server.refusals.take();
        assert_eq!((told.len(), told[0].code), (1, "ledger_unavailable"));
        assert!(told[0].message.contains(says), "{told:?}");
    }
}

/// Nothing answers a request whose task panicked.
async fn in_time(asked: impl Future<Output = ()>) {
    let limit = Duration::from_secs(20);
    tokio::time::timeout(limit, asked).await.expect("in time");
}

#[tokio::test]
async fn what_its_guard_does_not_protect_or_cannot_name_mints_nothing() {
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), from_claims).on_refused(refusals.hook());
    let guard = guard.build().unwrap();
    let other = Guard::builder(fresh(), from_claims).build().unwrap();
    for (uri, says) in [
        (
            serve(server(&guard, "basket")).await,
            "guard.protect(server)",
        ),
        (serve(other.protect(server(&guard, "basket"))).await, ""),
        (serve(guard.protect(server(&guard, "Basket!"))).await, ""),
    ] {
        let alice = client(&uri, "alice").await;
        for (name, kind) in [("mint", Kind::Handle), ("hold", Kind::HandleState)] {
            let failed = tool(&alice, name, json!({})).await;
            assert_eq!(failed, internal(Profile::Handle));
            let told = refusals.take();
            assert_eq!((told.len(), told[0].code), (1, "invalid_argument"));
            assert_eq!(told[0].kind, kind);
            assert!(told[0].message.contains(says), "{}", told[0].message);
        }
    }
    let alice = client(&serve(server(&guard, "basket")).await, "alice").await;
    let made_up = json!({"_meta": {SESSION: {"sessionId": "x", "state": "x"}}});
    let failed = raw(&alice, "notes/read", made_up).await;
    assert_eq!(failed.unwrap_err()["code"], -32603);
    let forged = call("count", json!({})).with_request_state("8");
    for params in [call("count", json!({})), forged] {
        let failed = json_of(alice.call_tool_once(params).await.map(|_| ()));
        assert_eq!(failed, Err(internal(Profile::RequestState)));
    }
}

#[tokio::test]
async fn every_function_is_told_the_method_and_how_long_the_guard_took() {
    let told: [Arc<Mutex<Vec<_>>>; 2] = Default::default();
    let mut guard = Guard::builder(fresh(), from_claims);
    for told in told.clone() {
        guard = guard.on_event(move |event| {
            // The handler's own time is not the guard's.
            let since = RETURNED.get().unwrap().elapsed();
            assert!(event.took <= since, "{event:?} {since:?}");
            let method = event.method.as_deref().map(String::from);
            let told = &mut *told.lock().unwrap();
            told.push((event.event.name(), method.unwrap(), event.custom_method));
        });
    }
    let alice = client(&start_as(guard).await.uri, "alice").await;
    alice.list_tools(None).await.unwrap();
    raw(&alice, "notes/list", json!({})).await.unwrap();
    let sealed = |method: &str, is_custom| ("sealed", method.to_owned(), is_custom);
    let expected = [sealed("tools/list", false), sealed("notes/list", true)];
    for told in told {
        assert_eq!(*told.lock().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_position_of_another_type_is_the_servers_failure() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let first = tool(&alice, "page", json!({})).await;
    let next = &first["structuredContent"]["next"];
    let failed = tool(&alice, "page", json!({"cursor": next})).await;
    assert_eq!(
        failed["content"][0]["text"],
        "The server failed. Try again later."
    );
    assert_eq!(failed["isError"], true);
}

/// Results before 2026-07-28 have no `resultType`; the rest is the same.
#[tokio::test]
async fn a_handle_is_the_key_of_its_row_in_either_revision() {
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let mut expected = refusal(Profile::Handle);
    expected.as_object_mut().unwrap().remove("resultType");
    for (make, check) in [("mint", "check"), ("hold", "look")] {
        let made = tool(&alice, make, json!({})).await["structuredContent"].clone();
        let (before, mallory) = (
            legacy(&server.uri, "alice").await,
            legacy(&server.uri, "mallory").await,
        );
        let sent = json!({"handle": made["handle"]});
        let checked = tool(&before, check, sent.clone()).await;
        let checked = &checked["structuredContent"];
        assert_eq!(checked["expiresAt"], made["expiresAt"]);
        assert_eq!(checked["ulid"], made["ulid"]);
        assert_eq!(made["expiresAt"].as_str().unwrap().len(), 20);
        assert_eq!(tool(&mallory, check, sent).await, expected);
        assert!(["unauthentic", "principal_mismatch"].contains(&server.refusals.code()));
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
    let server = start().await;
    let alice = client(&server.uri, "alice").await;
    let mallory = client(&server.uri, "mallory").await;
    let sealed = state(&alice, call("count", json!({}))).await;
    let held = tool(&alice, "hold", json!({})).await;
    let held = held["structuredContent"]["handle"].as_str().unwrap();
    let stolen = call("count", json!({})).with_request_state(&sealed);
    assert!(mallory.call_tool_once(stolen).await.is_err());
    tool(&mallory, "look", json!({ "handle": held })).await;
    let told = server.refusals.take();
    let text = String::from_utf8(LOG.take()).unwrap();
    let ours = text.lines().filter(|line| line.contains("sealwax_rmcp"));
    let ours: Vec<_> = ours.collect();
    assert_eq!((ours.len(), told.len()), (2, 2), "{text}");
    for (target, (line, told)) in ["count", "look"].iter().zip(ours.iter().zip(&told)) {
        let asked = (told.method.as_deref(), told.target.as_deref());
        assert_eq!(asked, (Some("tools/call"), Some(*target)));
        for said in [" WARN ", told.code, told.id.as_deref().unwrap()] {
            assert!(line.contains(said), "{line}");
        }
        for (name, value) in [
            ("method", "tools/call"),
            ("subject", "mallory"),
            ("target", target),
        ] {
            assert!(line.contains(&format!("{name}=\"{value}\"")), "{line}");
        }
    }
    for secret in [&sealed[..], held] {
        assert!(!text.contains(secret) && !format!("{told:?}").contains(secret));
    }
}
