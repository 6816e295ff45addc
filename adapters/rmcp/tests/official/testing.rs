//! An application's own test, as docs/testing.md shows it.

use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientConfig, InputRequiredResult};
use sealwax::Principal;
use sealwax_rmcp::Guard;
use sealwax_rmcp::testing::{TestClock, TestPrincipal, codec, connect, ledger};
use serde_json::json;

use crate::server::{server, tool};
use crate::serving::Rounds;

#[tokio::test]
async fn an_answer_is_for_its_user_for_ten_minutes_and_once()
-> Result<(), Box<dyn std::error::Error>> {
    let clock = TestClock::new();
    let user = TestPrincipal::new(Principal::subject("alice"));
    let guard = Guard::builder(codec(&clock)?, user.resolver());
    let guard = guard.ledger(ledger(&clock)).build()?;
    let client = connect(guard.protect(Rounds), ClientConfig::default()).await?;

    let count = || CallToolRequestParams::new("count");
    let asked = client.call_tool_once(count()).await?;
    let CallToolResponse::InputRequired(InputRequiredResult {
        request_state: Some(state),
        ..
    }) = asked
    else {
        panic!("expected a requestState, found {asked:?}");
    };
    let answer = || client.call_tool_once(count().with_request_state(state.clone()));

    user.set(Principal::subject("mallory"));
    assert!(answer().await.is_err());
    user.set(Principal::subject("alice"));
    clock.advance(Duration::from_secs(599));
    assert!(answer().await.is_ok());
    assert!(answer().await.is_err()); // the ledger has it
    Ok(())
}

#[tokio::test]
async fn a_handle_ends_with_its_time() -> Result<(), Box<dyn std::error::Error>> {
    let clock = TestClock::new();
    let guard = Guard::builder(codec(&clock)?, |_: &_| Principal::subject("alice")).build()?;
    let server = guard.protect(server(&guard, "basket"));
    let client = connect(server, ClientConfig::default()).await?;
    let held = tool(&client, "hold", json!({})).await;
    let sent = json!({"handle": held["structuredContent"]["handle"]});
    for (later, ended) in [(59, false), (1, true)] {
        clock.advance(Duration::from_secs(later));
        assert_eq!(tool(&client, "look", sent.clone()).await["isError"], ended);
    }
    Ok(())
}

/// Minting waits for nothing, so the ledger is open before.
#[tokio::test]
async fn a_list_that_comes_first_may_hand_out_handles() -> Result<(), Box<dyn std::error::Error>> {
    let clock = TestClock::new();
    let guard = Guard::builder(codec(&clock)?, |_: &_| Principal::subject("alice"));
    let guard = guard.ledger(ledger(&clock)).build()?;
    let server = guard.protect(server(&guard, "basket"));
    let client = connect(server, ClientConfig::default()).await?;
    client.list_resources(None).await?;
    Ok(())
}
