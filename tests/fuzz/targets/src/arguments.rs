//! The arguments of a request: their canonical form is that of another reader and another writer (RFC 8785), so that it depends
//! on what they say, not on how it is spelled.

use sealwax::hazmat::canonical;
use sealwax::{RequestContext, canonical_json};

#[path = "../../../../tests/codec/oracle.rs"]
mod oracle;

/// An input is five bytes, the last of which tells how many members are named, and a text.
pub fn run(input: &[u8]) -> bool {
    let Some(([.., named], text)) = input.split_first_chunk::<5>() else {
        return false;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let names = ["a", "b", "é", "\u{e000}", "\u{1f602}"];
    agree(text, Some(&names[..usize::from(*named) % 6]));
    agree(text, None)
}

/// Asserts that the other reader says the same, and returns whether the text is accepted.
fn agree(text: &str, only: Option<&[&str]>) -> bool {
    let written = canonical(text, only);
    let expected = oracle::canonical(text, only);
    assert_eq!(
        written.as_deref().ok(),
        expected.as_deref().map(str::as_bytes),
        "{text}"
    );
    let context = match only {
        Some(names) => RequestContext::only("tools/call", "x", Some(text), names),
        None => RequestContext::new("tools/call", "x", Some(text)),
    };
    match (&written, context) {
        (Err(error), found) => {
            assert_eq!(
                (error.code(), Err(error.clone())),
                ("invalid_argument", found)
            );
            false
        }
        (Ok(written), found) => {
            let written = std::str::from_utf8(written).unwrap();
            // What is canonical stays as it is, and names the same request.
            let again = RequestContext::new("tools/call", "x", Some(written));
            assert_eq!(found, again, "{text}");
            if only.is_none() {
                assert_eq!(canonical_json(written).as_deref(), Ok(written));
            }
            true
        }
    }
}
