//! No message holds a key, a token or a payload.

use std::fmt::Display;

/// Longer than any word that messages are made of: a fuzzer learns these.
const WINDOW: usize = 24;

/// Panics if the message holds a part of the secret.
pub fn assert_none(message: &dyn Display, secret: &str) {
    if secret.len() < WINDOW {
        return;
    }
    let message = message.to_string();
    for part in secret.split_whitespace() {
        let ends = part.char_indices().map(|(at, c)| at + c.len_utf8());
        for (begin, end) in part
            .char_indices()
            .map(|(at, _)| at)
            .zip(ends.skip(WINDOW - 1))
        {
            let window = &part[begin..end];
            // A run of one character is no secret.
            let varied = window.chars().any(|c| !window.starts_with(c));
            assert!(
                !varied || !message.contains(window),
                "{window:?} in {message:?}"
            );
        }
    }
}
