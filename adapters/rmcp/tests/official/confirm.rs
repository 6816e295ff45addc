//! A confirmation on a connection: a yes runs the tool, and one that comes after its call was cancelled does not.

use std::sync::atomic::Ordering;

use sealwax_rmcp::{Guard, GuardBuilder, anonymous};
use serde_json::json;

use crate::pipe::{Pipe, hello, initialized, notification, request, served};
use crate::serving::{Refusals, fresh};

/// Begins a session of a client that may be asked, and calls a tool.
async fn calling(
    change: impl FnOnce(GuardBuilder) -> GuardBuilder,
    tool: &str,
    list: &str,
) -> Pipe {
    let guard = change(Guard::builder(fresh(), anonymous));
    let guard = guard.build().unwrap();
    let mut client = served(guard.streams(), &guard, Refusals::default());
    let mut hello = hello();
    hello["params"]["capabilities"] = json!({"elicitation": {}});
    client.ask(hello).await;
    client.send(initialized()).await;
    let call = json!({"name": tool, "arguments": {"id": 7}, "_meta": {"list": list}});
    client.send(request(2, "tools/call", call)).await;
    client
}

#[tokio::test]
async fn what_the_list_marks_is_asked_about() {
    for (list, tool, is_asked) in [
        ("is there", "show_note", false),
        ("is there", "delete_note", true),
        ("hangs", "show_note", true),
        ("panics", "show_note", true),
    ] {
        let mut asked = calling(GuardBuilder::confirm_destructive, tool, list).await;
        let heard = asked.next().await;
        assert_eq!(heard["method"] == "elicitation/create", is_asked, "{heard}");
        let ran = asked.server.served.load(Ordering::SeqCst);
        assert_eq!(ran, u32::from(!is_asked), "{list}");
    }
}

#[tokio::test]
async fn a_yes_counts_while_its_call_waits() {
    for (is_cancelled, expected) in [(false, 1), (true, 0)] {
        let confirm = |guard: GuardBuilder| guard.confirm("delete_note", "Delete note {id}?");
        let mut asked = calling(confirm, "delete_note", "").await;
        let question = asked.next().await;
        assert_eq!(question["method"], "elicitation/create");
        if is_cancelled {
            asked
                .send(notification("cancelled", json!({"requestId": 2})))
                .await;
        }
        let yes = json!({"action": "accept", "content": {"choice": "yes"}});
        asked
            .send(json!({"jsonrpc": "2.0", "id": question["id"], "result": yes}))
            .await;
        if !is_cancelled {
            assert_eq!(asked.next().await["result"]["content"][0]["text"], "done");
        }
        assert_eq!(asked.served_in_all().await, expected);
    }
}
