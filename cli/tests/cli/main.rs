//! The `sealwax` command as a script uses it. The cases of every package are in tests/command.json: `make test-command`.
#![allow(missing_docs, clippy::unwrap_used)]

mod inspect;
mod ledger;
#[cfg(unix)]
mod shell;
mod tokens;

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

const KEYS: &str = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";
const ALICE: [&str; 4] = ["--audience", "urn:notes", "--subject", "alice"];

fn sealwax(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    sealwax_with(Some(KEYS), args, input)
}

fn sealwax_with(keys: Option<&str>, args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut command = command(args);
    command.envs(keys.map(|keys| ("SEALWAX_KEYS", keys)));
    given(command, input.as_ref())
}

/// Returns the command, without the variables that it reads.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealwax"));
    command.args(args);
    for name in [
        "SEALWAX_KEYS",
        "SEALWAX_KEYS_FILE",
        "SEALWAX_SECRET",
        "SEALWAX_SECRET_FALLBACKS",
        "SEALWAX_LEDGER",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs a command with this on stdin.
fn given(mut command: Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before it reads closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// `told` is a code, or a code and the beginning of its message.
#[track_caller]
fn refused(output: &Output, status: i32, told: &str) {
    assert_eq!(output.status.code(), Some(status));
    assert_eq!(output.stdout, b"", "nothing on stdout");
    let message = String::from_utf8_lossy(&output.stderr);
    let end = if told.contains(':') { "" } else { ": " };
    assert!(
        message.starts_with(&format!("sealwax: {told}{end}")),
        "{message}"
    );
}

fn with<'a>(command: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [command, &ALICE, rest].concat()
}
