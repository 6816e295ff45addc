//! The scenario server of rmcp: tests/driver/run.py says what it is told, and what it says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod control;
mod handler;
mod handles;
mod lossy_ledger;
mod stage;

use std::io;

use axum::Router;
use axum::extract::Request;
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tower_service::Service as _;

use crate::control::{say, tell};
use crate::stage::{Stage, stage};

// On one thread, so that `settle` can let all others go first.
#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    // Refusals are reported; the log of them goes nowhere.
    tracing_subscriber::fmt().with_writer(io::sink).init();
    let http = TcpListener::bind("127.0.0.1:0").await?;
    let http_port = http.local_addr()?.port();
    let app = Router::new()
        .fallback(|request: Request| async move { stage().routes().call(request).await });
    tokio::spawn(async { axum::serve(http, app).await });
    let (lines, stream) = (listen(true).await?, listen(false).await?);
    say(&json!({"http": http_port, "lines": lines, "stream": stream, "events": true}));

    let mut input = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = input.next_line().await? {
        let told: Value = serde_json::from_str(&line)?;
        if told.get("to").is_some() {
            tell(told);
            continue;
        }
        let done = done(&told).await;
        say(&json!({"done": done}));
    }
    Ok(())
}

async fn done(told: &Value) -> Value {
    match told["do"].as_str().unwrap() {
        "serve" => Stage::begin(told),
        "at" => stage().at(told),
        "keys" => stage().set_keys(told),
        // It has no garbage, and the driver sees what the process takes.
        "heap" => return json!({}),
        "revoke" => return stage().revoke(&told["whom"]).await.into(),
        "settle" => {
            // Nobody waits for what a notification's handler does.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
        }
        other => panic!("nothing is named {other}"),
    }
    Value::Null
}

/// Returns the port of streams to the server: inside the guard's wrapper, as stdio is served, or not.
async fn listen(wrapped: bool) -> io::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (stage, streams) = (stage(), tokio::io::split(socket));
            let server = stage.server.clone();
            tokio::spawn(async move {
                let running = match wrapped {
                    true => server.serve(stage.streams().wrap(streams)).await,
                    false => server.serve(streams).await,
                };
                // It ends with the client.
                if let Ok(running) = running {
                    _ = running.waiting().await;
                }
            });
        }
    });
    Ok(port)
}
