//! A ledger of `sealwax-rmcp` for the tests of all languages. Its argument is `redis://…`, `sqlite:PATH` or
//! `memory`; it reads `{"script": …, "keys": […], "args": […]}` a line, and writes the reply as a JSON array,
//! or `{"failed": "…"}`.

use std::io::{BufRead as _, Write as _, stdin, stdout};

use sealwax_rmcp::BoxError;
use sealwax_rmcp::ledger::{Command, Ledger, Memory, Redis, Script, Sqlite};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Line {
    script: String,
    keys: Vec<String>,
    args: Vec<String>,
}

fn ledger(store: &str) -> Result<Box<dyn Ledger>, BoxError> {
    Ok(match store.strip_prefix("sqlite:") {
        Some(path) => Box::new(Sqlite::open(path)?),
        None if store == "memory" => Box::new(Memory::default()),
        None => Box::new(Redis::open(store)?),
    })
}

fn command(line: &str) -> Result<Command, BoxError> {
    let Line { script, keys, args } = serde_json::from_str(line)?;
    let named = Script::ALL.into_iter().find(|one| one.name() == script);
    let script = named.ok_or("expected the name of a script")?;
    Ok(Command::new(script, keys, args))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let store = std::env::args().nth(1).ok_or("expected a store")?;
    let ledger = ledger(&store)?;
    for line in stdin().lock().lines() {
        let reply = match command(&line?) {
            Ok(command) => ledger.run(&command).await.map_err(BoxError::from),
            Err(error) => Err(error),
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
