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
fn keygen_makes_a_ring() {
    let keys = stdout(&sealwax_with(None, &["keygen", "--count", "3"], ""));
    assert_eq!(keys.lines().filter(|key| key.len() == 53).count(), 3);
    let new = with(&["session-id", "new"], &[]);
    assert_eq!(stdout(&sealwax_with(Some(&keys), &new, "")).len(), 65);
}

/// A payload over its limit is the user's mistake, by tests/command.json; a token over its limit is refused.
#[test]
fn what_is_large_is_sealed_and_opened_by_a_limit_of_its_own() {
    let session = |command, rest| with(&[command, "--kind", "session"], rest);
    let largest = "x".repeat(1 << 20);
    let most: &[&str] = &["--payload-limit", "1048576"];
    let token = stdout(&sealwax(&session("seal", most), &largest));
    assert_eq!(stdout(&sealwax(&session("open", most), &token)), largest);
    let found = sealwax(&session("open", &[]), &token);
    refused(&found, 1, "too_large: expected a token of at most 5580");
    assert!(String::from_utf8_lossy(&found.stderr).contains("--payload-limit"));
    let over = largest + "x";
    refused(&sealwax(&session("seal", most), over), 2, "too_large");
}
