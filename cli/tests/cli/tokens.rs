//! Sealed tokens open, and minted ids and handles verify.

use serde_json::Value;

use super::{ALICE, refused, sealwax, sealwax_with, stdout, with};

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
