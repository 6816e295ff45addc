//! The `sealwax` command as a script uses it.
#![cfg(feature = "cli")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const KEYS: &str = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";
const ALICE: [&str; 4] = ["--audience", "urn:notes", "--subject", "alice"];

fn sealwax(args: &[&str], input: impl AsRef<[u8]>) -> Output {
    sealwax_with(Some(KEYS), args, input)
}

fn sealwax_with(keys: Option<&str>, args: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sealwax"));
    command
        .args(args)
        .env_remove("SEALWAX_KEYS")
        .env_remove("SEALWAX_LEDGER")
        .envs(keys.map(|keys| ("SEALWAX_KEYS", keys)));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails before it reads closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
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

#[track_caller]
fn refused(output: &Output, status: i32, code: &str) {
    assert_eq!(output.status.code(), Some(status));
    assert_eq!(output.stdout, b"", "nothing on stdout");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.starts_with(&format!("sealwax: {code}: ")),
        "{message}"
    );
}

fn with<'a>(command: &[&'a str], rest: &[&'a str]) -> Vec<&'a str> {
    [command, &ALICE, rest].concat()
}

#[test]
fn every_kind_seals_and_opens() {
    let context = "00".repeat(32);
    let kinds: [&[&str]; 8] = [
        &["--kind", "state", "--session-id", "sess_x"],
        &["--kind", "request-state", "--context", &context],
        &[
            "--kind",
            "request-state",
            "--method",
            "tools/call",
            "--target",
            "rm",
            "--arguments",
            r#"{"b":1,"a":[]}"#,
        ],
        &["--kind", "session"],
        &["--kind", "cursor", "--label", "tools/list"],
        &["--kind", "handle-state", "--label", "basket"],
        &["--kind", "custom", "--label", "report"],
        &[
            "--kind",
            "custom",
            "--label",
            "report",
            "--session-id",
            "sess_x",
            "--context",
            &context,
        ],
    ];
    for kind in kinds {
        let token = stdout(&sealwax(&with(&["seal"], kind), "language=en"));
        let payload = stdout(&sealwax(&with(&["open"], kind), &token));
        assert_eq!(payload, "language=en", "{kind:?}");
    }
}

#[test]
fn a_payload_is_sealed_to_the_byte() {
    let session = |command| with(&[command, "--kind", "session"], &[]);
    for payload in [&b"two\n\n"[..], b"\xff\n", b"\r\n", b"\n", b"\0", b""] {
        let token = stdout(&sealwax(&session("seal"), payload));
        assert_eq!(sealwax(&session("open"), &token).stdout, payload);
        for ending in ["", "\n", "\r\n"] {
            let token = format!("{}{ending}", token.trim_end());
            assert_eq!(sealwax(&session("open"), token).stdout, payload);
        }
        let two_endings = token + "\n";
        refused(&sealwax(&session("open"), two_endings), 1, "malformed");
    }
}

#[test]
fn open_tells_what_the_token_tells() {
    let seal = with(
        &["seal", "--kind", "session"],
        &[
            "--now",
            "1780000000",
            "--ttl",
            "600",
            "--age",
            "100",
            "--generation",
            "3",
        ],
    );
    let token = stdout(&sealwax(&seal, "x"));
    let open = with(
        &["open", "--kind", "session", "--json"],
        &["--now", "1780000599"],
    );
    let facts: Value = serde_json::from_str(&stdout(&sealwax(&open, &token))).unwrap();
    assert_eq!(facts["payload_base64"], "eA==");
    assert_eq!(facts["issued_at"], 1_780_000_000);
    assert_eq!(facts["expires_at"], 1_780_000_600);
    assert_eq!(facts["started_at"], 1_779_999_900);
    assert_eq!(facts["generation"], 3);
    assert_eq!(facts["needs_reseal"], false);
    assert_eq!(facts["token_id"].as_str().unwrap().len(), 32);

    let lasting = stdout(&sealwax(
        &with(&["seal", "--kind", "session"], &["--no-expiry"]),
        "x",
    ));
    let facts = stdout(&sealwax(
        &with(&["open", "--kind", "session", "--json"], &[]),
        &lasting,
    ));
    assert!(facts.contains(r#""expires_at":null"#), "{facts}");
}

#[test]
fn what_is_refused_exits_with_1() {
    let token = stdout(&sealwax(
        &with(
            &["seal", "--kind", "session"],
            &["--now", "1780000000", "--ttl", "60"],
        ),
        "x",
    ));
    let open = |rest: &[&str]| sealwax(&with(&["open", "--kind", "session"], rest), &token);
    refused(&open(&[]), 1, "expired");
    refused(
        &open(&["--now", "1780000000", "--max-age", "0"]),
        1,
        "expired",
    );
    refused(&open(&["--now", "1779999000"]), 1, "not_yet_valid");
    refused(&open(&["--client", "another"]), 1, "principal_mismatch");
    refused(
        &sealwax(
            &with(&["open", "--kind", "cursor"], &["--label", "x"]),
            &token,
        ),
        1,
        "wrong_purpose",
    );
    refused(
        &sealwax(&with(&["open", "--kind", "session"], &[]), "nonsense"),
        1,
        "malformed",
    );
    let other = stdout(&sealwax_with(None, &["keygen"], ""));
    refused(
        &sealwax_with(
            Some(&other),
            &with(&["open", "--kind", "session"], &[]),
            &token,
        ),
        1,
        "unknown_key",
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    let seal = ["seal", "--kind", "session"];
    for usage in [
        &["seal", "--kind", "session", "--audience", "a"][..],
        &[
            "seal",
            "--kind",
            "session",
            "--audience",
            "a",
            "--anonymous",
            "--subject",
            "s",
        ],
        &[
            "seal",
            "--kind",
            "nonsense",
            "--audience",
            "a",
            "--anonymous",
        ],
        &["nonsense"],
        &with(&seal, &["--ttl", "1", "--no-expiry"]),
    ] {
        let output = sealwax(usage, "");
        assert_eq!(
            (output.status.code(), output.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{usage:?}"
        );
    }
    refused(
        &sealwax(&with(&seal, &["--ttl", "0"]), ""),
        2,
        "invalid_argument",
    );
    refused(
        &sealwax(&with(&seal, &["--label", "x"]), ""),
        2,
        "invalid_argument",
    );
    refused(
        &sealwax(
            &with(&["seal", "--kind", "request-state"], &["--context", "xy"]),
            "",
        ),
        2,
        "invalid_argument",
    );
    refused(
        &sealwax(
            &[
                "seal",
                "--kind",
                "session",
                "--audience",
                "a",
                "--issuer",
                "i",
            ],
            "",
        ),
        2,
        "invalid_argument",
    );
    refused(&sealwax_with(None, &with(&seal, &[]), ""), 2, "invalid_key");
    refused(
        &sealwax_with(Some("swk1_nonsense"), &with(&seal, &[]), ""),
        2,
        "invalid_key",
    );
    let output = sealwax(&with(&seal, &["--key-file", "/no/such/file"]), "");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn ids_and_handles_are_made_and_verified() {
    for command in [&["session-id"][..], &["handle", "--type", "basket"]] {
        let run = |action: &str, rest: &[&str], input: &str| {
            sealwax(
                &[&command[..1], &[action], &command[1..], &ALICE, rest].concat(),
                input,
            )
        };
        let id = stdout(&run("new", &["--now", "1780000000"], ""));
        assert_eq!(stdout(&run("verify", &["--now", "1780000000"], &id)), id);
        refused(
            &run("verify", &["--now", "1780000060", "--max-age", "60"], &id),
            1,
            "expired",
        );
        refused(
            &run("verify", &["--now", "1779999000"], &id),
            1,
            "not_yet_valid",
        );
    }
}

#[test]
fn contexts_are_the_vectors() {
    let context = [
        "context",
        "--method",
        "tools/call",
        "--target",
        "search_code",
    ];
    let arguments = ["--arguments", r#"{"b":1,"a":2}"#];
    let expected = "507f26b4a1bdfdbbaf52692d3bd70091ad88149f5cb791122e98c7b3cf1fb9a8\n";
    assert_eq!(
        stdout(&sealwax_with(
            None,
            &[&context[..], &arguments].concat(),
            ""
        )),
        expected
    );
    let twice = ["--arguments", r#"{"a":1,"a":2}"#];
    refused(
        &sealwax_with(None, &[&context[..], &twice].concat(), ""),
        2,
        "invalid_argument",
    );
}

#[test]
fn inspect_tells_what_a_text_is() {
    let token = stdout(&sealwax(&with(&["seal", "--kind", "session"], &[]), "x"));
    let seen = stdout(&sealwax(&["inspect"], &token));
    let expected = "sealed token of kind session\nkey id: a8ca0d4a\nin this ring: yes\ntoken id: ";
    let token_id = seen.strip_prefix(expected).expect(&seen).trim_end();
    let opened = stdout(&sealwax(
        &with(&["open", "--kind", "session"], &["--json"]),
        &token,
    ));
    assert!(opened.contains(token_id), "{opened}");
    let key = stdout(&sealwax_with(None, &["keygen"], ""));
    let seen = stdout(&sealwax(&["inspect"], &key));
    assert!(
        seen.starts_with("key text, a secret\n") && seen.ends_with("in this ring: no\n"),
        "{seen}"
    );
    assert!(!seen.contains(&key[5..12]), "{seen}");
    let handle = stdout(&sealwax(
        &with(&["handle", "new", "--type", "basket"], &[]),
        "",
    ));
    assert!(stdout(&sealwax(&["inspect"], &handle)).starts_with("handle of type basket, made at "));
    assert!(stdout(&sealwax_with(None, &["inspect"], &token)).contains("no ring was given"));
    refused(&sealwax(&["inspect"], "nonsense"), 1, "malformed");
}

#[test]
fn keygen_fills_a_key_file() {
    let keys = stdout(&sealwax_with(None, &["keygen", "--count", "3"], ""));
    assert_eq!(keys.lines().filter(|key| key.len() == 53).count(), 3);
    let file = std::env::temp_dir().join(format!("sealwax-cli-test-{}", std::process::id()));
    std::fs::write(&file, keys).unwrap();
    let args = with(
        &["session-id", "new", "--key-file", file.to_str().unwrap()],
        &[],
    );
    let id = sealwax_with(None, &args, "");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(stdout(&id).len(), 65);
}

/// A ledger in a file that a server of this audience has used.
fn ledger(name: &str) -> (sealwax::ledger::Sqlite, String) {
    let path = std::env::temp_dir().join(format!("sealwax-{}-{name}.db", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let url = format!("sqlite:{}", path.display());
    let begin = ["ledger", "begin", &url, "--audience", "urn:notes"];
    assert_eq!(stdout(&sealwax(&begin, "")), "begun\n");
    (sealwax::ledger::Sqlite::open(&path).unwrap(), url)
}

#[test]
fn an_operator_looks_at_a_ledger_and_writes_to_it() {
    use sealwax::Principal;
    use sealwax::ledger::{Namespace, Tag};

    let (ledger, url) = ledger("written");
    let checked = stdout(&sealwax(
        &["ledger", "check", &url, "--audience", "urn:notes"],
        "",
    ));
    assert!(
        checked.contains("fit: yes") && checked.contains("remembers since: 20"),
        "{checked}"
    );

    // What the command wrote is what the guards read.
    let namespace = Namespace::new("urn:notes", "");
    let revoke = [&["ledger", "revoke", &url], &ALICE[..]].concat();
    stdout(&sealwax(&revoke, ""));
    let mark = namespace
        .revoke(&Principal::subject("alice"), None)
        .unwrap()
        .keys[0]
        .clone();
    let id = "0123456789abcdef0123456789abcdef";
    let end = [
        "ledger",
        "end",
        &url,
        "--audience",
        "urn:notes",
        "--kind",
        "session",
        "--id",
        id,
    ];
    stdout(&sealwax(&end, ""));
    let ended = namespace.end(&[Tag::Session], id, None).unwrap().keys[4].clone();
    drop(ledger);
    let file = rusqlite::Connection::open(url.strip_prefix("sqlite:").unwrap()).unwrap();
    for key in [mark, ended] {
        let found: u32 = file
            .query_row(
                "SELECT count(*) FROM sealwax_ledger WHERE key = ?",
                [&key],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(found, 1, "{key}");
    }
}

#[test]
fn an_operator_hears_which_ledger_is_none() {
    let (_ledger, url) = ledger("heard");
    let other = sealwax(&["ledger", "check", &url, "--audience", "urn:other"], "");
    assert!(stdout(&other).contains("remembers since: never"));
    let id = "0123456789abcdef0123456789abcdef";
    let end = |url: &str, audience: &str, id: &str| {
        let end = [
            "ledger",
            "end",
            url,
            "--audience",
            audience,
            "--kind",
            "handle",
            "--id",
            id,
        ];
        sealwax(&end, "")
    };
    refused(&end(&url, "urn:other", id), 2, "invalid_argument");
    refused(&end(&url, "urn:notes", &id[1..]), 2, "invalid_argument");
    let missing = format!("{url}.missing");
    refused(&end(&missing, "urn:notes", id), 2, "ledger_unavailable");
    assert!(!std::path::Path::new(missing.strip_prefix("sqlite:").unwrap()).exists());
    // Nothing listens on port 1; the password is not told.
    let down = end("redis://:hunter2@127.0.0.1:1", "urn:notes", id);
    refused(&down, 2, "ledger_unavailable");
    assert!(!String::from_utf8_lossy(&down.stderr).contains("hunter2"));
    refused(
        &end("http://127.0.0.1:1", "urn:notes", id),
        2,
        "ledger_unavailable",
    );
    refused(
        &sealwax(&["ledger", "check", "--audience", "urn:notes"], ""),
        2,
        "invalid_argument",
    );
}
