//! Payloads that no case of tests/command.json can hold: any bytes, and large ones.

use super::{refused, sealwax, sealwax_with, stdout, with};

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
