//! The examples, built, and in processes of their own.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{EncodingKey, Header, encode};
use rmcp::transport::TokioChildProcess;
use sealwax::Key;
use serde_json::{Value, json};

/// Returns the path of an example. `make programs` and `cargo test` build them, `cargo test --test` does not.
pub fn built(example: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join(example)
}

pub fn key() -> String {
    Key::generate().unwrap().to_text().unwrap().to_string()
}

/// A process on stdio.
pub fn process(example: &str, key: &str) -> TokioChildProcess {
    let mut command = tokio::process::Command::new(built(example));
    command.env("SEALWAX_KEYS", key);
    command.env_remove("PORT").env_remove("SEALWAX_LEDGER");
    TokioChildProcess::new(command).unwrap()
}

/// A process on HTTP.
pub struct Http {
    child: Child,
    pub uri: String,
    /// What it says. Nobody reads it; without it, nobody can.
    pub log: Option<BufReader<ChildStderr>>,
}

impl Drop for Http {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Starts one; with a secret it serves the users of tokens.
pub fn served(command: &mut Command, key: &str, secret: Option<&str>) -> Http {
    let mut child = command
        .env("SEALWAX_KEYS", key)
        .env("PORT", "0")
        .env_remove("NOTES_JWT_SECRET")
        .envs(secret.map(|secret| ("NOTES_JWT_SECRET", secret)))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    log.read_line(&mut first).unwrap();
    let uri = first.trim_end().strip_prefix("listening on ").unwrap();
    Http {
        child,
        uri: uri.to_owned(),
        log: Some(log),
    }
}

/// A token for an audience.
pub fn jwt(audience: &Value, secret: &str, subject: &str, seconds: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let exp = now.as_secs().checked_add_signed(seconds).unwrap();
    let mut claims = json!({
        "iss": "https://idp.example.com", "sub": subject, "client_id": "cli-7", "exp": exp
    });
    if !audience.is_null() {
        claims["aud"] = audience.clone();
    }
    let key = EncodingKey::from_secret(secret.as_bytes());
    encode(&Header::default(), &claims, &key).unwrap()
}
