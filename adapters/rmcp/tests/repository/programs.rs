//! The examples, built, and in processes of their own.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{EncodingKey, Header, encode};
use rmcp::transport::TokioChildProcess;
use sealwax::Key;
use serde_json::{Value, json};

/// Builds an example, because `cargo test --tests` does not, and returns its path. The packages and features are those
/// of `make test-rust`, so that nothing is compiled twice.
pub fn built(example: &str) -> PathBuf {
    // What cargo tells a test of its package: `ring` and all that uses it would be compiled again, and then once more.
    let of_this_package = std::env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
    });
    let mut command = Command::new(env!("CARGO"));
    of_this_package.for_each(|name| {
        command.env_remove(name);
    });
    let packages = "sealwax sealwax-mcp sealwax-cli sealwax-rmcp sealwax-fuzz-targets format-model ledger-model";
    let built = command
        .args(["build", "--quiet", "--offline", "--all-features"])
        .args(packages.split(' ').flat_map(|name| ["--package", name]))
        .args(["--example", example, "--message-format", "json"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let told = serde_json::Deserializer::from_slice(&built.stdout).into_iter::<Value>();
    let mut programs = told.filter_map(|told| told.unwrap()["executable"].as_str().map(Into::into));
    programs.next().expect("the example was not built")
}

pub fn key() -> String {
    Key::generate().unwrap().to_text().unwrap().to_string()
}

/// A process on stdio.
pub fn process(program: &Path, key: &str) -> TokioChildProcess {
    let mut command = tokio::process::Command::new(program);
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
