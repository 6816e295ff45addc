//! Runs commands at a ledger of `sealwax-rmcp`, as agent.py beside it describes.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::time::Duration;

use sealwax_rmcp::ledger::{Command, Ledger, Memory, Redis, Script, Sqlite};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    script: String,
    keys: Vec<String>,
    args: Vec<String>,
    within_ms: Option<u64>,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const TIMEOUT: Duration = Duration::from_secs(1);

fn ledger(store: &str) -> Result<Box<dyn Ledger>, BoxError> {
    if store == "memory" {
        return Ok(Box::new(Memory::default()));
    }
    if let Some(path) = store.strip_prefix("sqlite:") {
        return Ok(Box::new(Sqlite::open(path)?));
    }
    Ok(Box::new(match store.strip_suffix("?cluster") {
        Some(node) => Redis::cluster(redis::cluster::ClusterClient::new([node])?),
        None => Redis::open(store)?,
    }))
}

fn command(line: &str) -> Result<Command, BoxError> {
    let line: Line = serde_json::from_str(line)?;
    let named = Script::ALL
        .into_iter()
        .find(|one| one.name() == line.script);
    let script = named.ok_or("expected the name of a script")?;
    let mut command = Command::new(script, line.keys, line.args);
    if let Some(within) = line.within_ms {
        command.within = Duration::from_millis(within);
    }
    Ok(command)
}

// What drives the connections must run while a line is waited for.
#[tokio::main(flavor = "multi_thread", worker_threads = 1)]
async fn main() -> Result<(), BoxError> {
    let store = std::env::args().nth(1).ok_or("expected a store")?;
    let mut made = None;
    for line in stdin().lock().lines() {
        let line = line?;
        if made.is_none() {
            made = ledger(&store).ok();
        }
        let reply = match (&made, command(&line)) {
            (Some(ledger), Ok(command)) => match timeout(TIMEOUT, ledger.run(&command)).await {
                Ok(reply) => reply.map_err(BoxError::from),
                Err(late) => Err(late.into()),
            },
            (None, _) => Err("expected a store that can be opened".into()),
            (_, Err(error)) => Err(error),
        };
        let told = match reply {
            Ok(reply) => json!(reply),
            Err(error) => json!({"failed": error.to_string()}),
        };
        println!("{told}");
        stdout().flush()?;
    }
    Ok(())
}
