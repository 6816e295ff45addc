//! Messages and exit statuses for a user's mistakes: each names its flag.

use super::{ALICE, KEYS, refused, sealwax, sealwax_with, stdout, with};

/// A mistake in a command line, and its message.
type Mistake<'a> = (&'a [&'a str], &'a str);

#[track_caller]
fn wrong_usage(args: &[&str], told: &str) {
    let output = sealwax(args, "");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), &output.stdout[..]),
        (Some(2), &b""[..]),
        "{args:?}"
    );
    assert!(message.contains(told), "{args:?}: {message}");
}

#[test]
fn a_mistake_is_told_by_its_flag() {
    let long = "a".repeat(1025);
    let custom = ["--kind", "custom", "--label", "x"];
    let request = ["--method", "m", "--target", "t"];
    let mistakes: [Mistake<'_>; 23] = [
        (
            &["--kind", "nonsense"],
            "invalid_argument: --kind: expected state, request-state",
        ),
        (
            &["--kind", "state"],
            "invalid_argument: --session-id: required",
        ),
        (
            &["--kind", "request-state"],
            "invalid_argument: --context, or --method and --target: required",
        ),
        (&["--kind", "cursor"], "invalid_argument: --label: required"),
        (
            &["--kind", "session", "--label", "x"],
            "--label: not used by kind session",
        ),
        (
            &["--kind", "cursor", "--label", &long],
            "--label: expected at most 1024 bytes",
        ),
        (
            &["--kind", "handle-state", "--label", "X"],
            "invalid_argument: --label: expected a small",
        ),
        (
            &["--kind", "state", "--session-id", ""],
            "invalid_argument: --session-id: expected a text",
        ),
        (
            &["--kind", "state", "--session-id", &long],
            "invalid_argument: --session-id: expected",
        ),
        (
            &["--kind", "request-state", "--context", "xy"],
            "invalid_argument: --context: expected 64 hex",
        ),
        (
            &["--kind", "request-state", "--context", "abcd"],
            "invalid_argument: --context: expected 64 hex",
        ),
        (
            &[&custom[..], &["--context", ""]].concat(),
            "invalid_argument: --context: expected 64 hex",
        ),
        (
            &[&custom[..], &["--method", "m"]].concat(),
            "invalid_argument: --method: expected --target beside it",
        ),
        (
            &[&custom[..], &["--method", "m", "--target", ""]].concat(),
            "invalid_argument: --target: expected 1 to",
        ),
        (
            &[&custom[..], &["--method", "", "--target", "t"]].concat(),
            "invalid_argument: --method: expected 1 to",
        ),
        (
            &[&custom[..], &request, &["--arguments", ""]].concat(),
            "invalid_argument: --arguments: expected a text",
        ),
        (
            &[&custom[..], &request, &["--arguments", r#"{"a":1,"a":2}"#]].concat(),
            "invalid_argument: argument \"a\": expected each key once",
        ),
        (
            &["--kind", "session", "--ttl", "0"],
            "invalid_argument: --ttl: expected 1 second or more; --no",
        ),
        (
            &["--kind", "session", "--ttl", "5 parsecs"],
            "invalid_argument: --ttl: expected whole seconds",
        ),
        (
            &["--kind", "session", "--ttl", "1", "--no-expiry"],
            "invalid_argument: --ttl: cannot be used with --no-expiry",
        ),
        (
            &["--kind", "session", "--age", "4294967296"],
            "invalid_argument: --age: expected 4294967295 seconds at most",
        ),
        (
            &["--kind", "session", "--payload-limit", "1048577"],
            "invalid_argument: --payload-limit: expected a number of 0 to 1048576",
        ),
        (
            &["--kind", "session", "--anonymous"],
            "invalid_argument: --anonymous: cannot be used with --subject",
        ),
    ];
    for (mistake, told) in mistakes {
        wrong_usage(&with(&["seal"], mistake), told);
    }
    let open = ["open", "--kind", "session"];
    wrong_usage(
        &with(&open, &["--skew", "301"]),
        "invalid_argument: --skew: expected 5m at most",
    );
    wrong_usage(
        &with(&open, &["--max-age", "1.5s"]),
        "invalid_argument: --max-age: expected whole seconds",
    );
    wrong_usage(
        &with(&["handle", "new", "--type", "X"], &[]),
        "invalid_argument: --type: expected",
    );
    wrong_usage(
        &["context", "--method", "m", "--target", ""],
        "invalid_argument: --target:",
    );
    wrong_usage(
        &["keygen", "--count", "0"],
        "invalid_argument: --count: expected a number of 1 to 65535",
    );
    wrong_usage(
        &["man", "nonsense"],
        "COMMAND: expected a command of sealwax",
    );
    wrong_usage(&["nonsense"], "unrecognized subcommand");
}

#[test]
fn nobody_is_no_principal() {
    let session = ["seal", "--kind", "session", "--audience"];
    let seal = |rest: &[&'static str]| [&session[..], rest].concat();
    wrong_usage(
        &seal(&["a"]),
        "invalid_argument: --subject: expected --subject, --client or both, or --anonymous",
    );
    wrong_usage(
        &seal(&["a", "--issuer", "i"]),
        "invalid_argument: --issuer: expected --subject or",
    );
    wrong_usage(
        &seal(&["a", "--subject", ""]),
        "invalid_argument: --subject: expected 1 to",
    );
    wrong_usage(
        &seal(&["", "--subject", "s"]),
        "invalid_argument: --audience: expected 1 to",
    );
}

#[test]
fn keys_are_told_by_their_place() {
    let seal = with(&["seal", "--kind", "session"], &[]);
    let none = sealwax_with(None, &seal, "");
    refused(&none, 2, "invalid_key: SEALWAX_KEYS is not set");
    assert!(String::from_utf8_lossy(&none.stderr).contains("--key-file"));
    refused(
        &sealwax_with(Some(""), &seal, ""),
        2,
        "invalid_key: SEALWAX_KEYS is not set",
    );
    refused(
        &sealwax_with(Some("swk1_nonsense"), &seal, ""),
        2,
        "invalid_key: SEALWAX_KEYS: key 1 of the ring: expected a key text",
    );
    let twice = format!("{KEYS} {KEYS}");
    refused(
        &sealwax_with(Some(&twice), &seal, ""),
        2,
        "invalid_key: SEALWAX_KEYS: expected each key once",
    );
    wrong_usage(
        &[
            &["seal", "--kind", "session", "--key-file", "/no/such/file"],
            &ALICE[..],
        ]
        .concat(),
        "sealwax: --key-file /no/such/file: No such file",
    );
    wrong_usage(
        &[
            &["seal", "--kind", "session", "--key-file", "src/lib.rs"],
            &ALICE[..],
        ]
        .concat(),
        "invalid_key: --key-file src/lib.rs: key 1 of the ring",
    );
}

/// A payload over its limit is the user's mistake; a token over its limit is refused.
#[test]
fn what_is_too_large_is_sealed_and_opened_by_a_limit_of_its_own() {
    let payload = "x".repeat(5000);
    let session = |command, rest| with(&[command, "--kind", "session"], rest);
    let more: &[&str] = &["--payload-limit", "5000"];
    refused(
        &sealwax(&session("seal", &[]), &payload),
        2,
        "too_large: expected a payload of at most 4096",
    );
    let token = stdout(&sealwax(&session("seal", more), &payload));
    let found = sealwax(&session("open", &[]), &token);
    refused(&found, 1, "too_large: expected a token of at most 5580");
    assert!(String::from_utf8_lossy(&found.stderr).contains("--payload-limit"));
    assert_eq!(stdout(&sealwax(&session("open", more), &token)), payload);

    let largest = "x".repeat(1 << 20);
    let most: &[&str] = &["--payload-limit", "1048576"];
    let token = stdout(&sealwax(&session("seal", most), &largest));
    assert_eq!(stdout(&sealwax(&session("open", most), &token)), largest);
    let over = largest + "x";
    refused(&sealwax(&session("seal", most), over), 2, "too_large");
}

#[test]
fn durations_have_units() {
    let seal = with(
        &["seal", "--kind", "session"],
        &["--now", "1780000000", "--ttl", "1h30m", "--age", "2d"],
    );
    let token = stdout(&sealwax(&seal, "x"));
    let open = |rest: &[&str]| {
        let open = with(&["open", "--kind", "session", "--json"], rest);
        sealwax(&open, &token)
    };
    let facts = stdout(&open(&["--now", "1780000000"]));
    assert!(facts.contains(r#""expires_at":1780005400"#), "{facts}");
    assert!(facts.contains(r#""started_at":1779827200"#), "{facts}");
    refused(
        &open(&["--now", "1780000000", "--max-age", "48h"]),
        1,
        "expired",
    );
    stdout(&open(&["--now", "1780000000", "--max-age", "49h"]));
    refused(&open(&["--now", "1779999760"]), 1, "not_yet_valid");
    stdout(&open(&["--now", "1779999760", "--skew", "4m"]));
}
