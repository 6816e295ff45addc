//! A request that its client cancels: its session is dropped, and later writes are errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sealwax::Principal;
use sealwax_rmcp::ledger::Memory;
use sealwax_rmcp::{Guard, Sessions};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::timeout;

use crate::clients::SESSION;
use crate::pipe::{hello, initialized, notification, request, served};
use crate::serving::{Refusals, fresh, until};

/// The number of session values in memory.
static ALIVE: AtomicUsize = AtomicUsize::new(0);

#[derive(Serialize, Deserialize)]
#[serde(from = "u32")]
pub struct Counted(pub u32);

impl From<u32> for Counted {
    fn from(value: u32) -> Self {
        ALIVE.fetch_add(1, Ordering::SeqCst);
        Self(value)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_cancelled_request_lets_go_of_its_session_and_later_writes_are_errors() {
    let refusals = Refusals::default();
    let guard = Guard::builder(fresh(), |_: &_| Principal::subject("alice"));
    let sessions = Sessions::new(|_, _| async { Ok(Counted::from(1)) });
    // It would know of a write that was too late.
    let guard = guard.sessions(sessions).ledger(Memory::default());
    let guard = guard.on_refused(refusals.hook()).build().unwrap();
    let mut client = served(guard.streams(), &guard, refusals);
    let server = client.server.clone();
    client.ask(hello()).await;
    client.send(initialized()).await;
    let create = request(2, "sessions/create", json!({}));
    let session = client.ask(create).await["result"]["session"].take();
    let call = |id: u32, method: &str| request(id, method, json!({"_meta": {SESSION: session}}));
    // One that is refused begins nothing.
    let begun = async || {
        let begun = timeout(Duration::from_secs(60), server.begun.notified());
        begun.await.expect("in time");
    };
    // So does one whose handler panics.
    for (id, method) in [&[(3, "linger"); 20][..], &[(4, "panics")]].concat() {
        client.send(call(id, method)).await;
        begun().await;
        if method == "linger" {
            let why = json!({"requestId": id, "reason": "enough"});
            client.send(notification("cancelled", why)).await;
            begun().await;
        }
        let mut kept = server.kept.lock().unwrap().take().unwrap();
        assert!(kept.write(Counted::from(8)).is_err());
        assert_eq!(client.refusals.code(), "invalid_argument");
    }
    // The id of those that were cancelled is free, and nobody was answered.
    let read = client.ask(call(3, "read")).await;
    assert_eq!(read["id"], 3);
    let found = (&read["result"]["value"], &read["result"]["generation"]);
    assert_eq!(found, (&json!(1), &json!(0)));
    until(|| ALIVE.load(Ordering::SeqCst) == 0).await;
    assert!(client.refusals.take().is_empty());
}
