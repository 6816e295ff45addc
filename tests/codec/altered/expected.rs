//! What becomes of a text that nobody sealed, by SPEC.md, section 9, without the core.

use sealwax::Kind;

use super::spelling::{BASE32, BASE64URL};
use super::world::{HANDLE_TYPE, Opener};

/// The longest id or handle that is read.
const IDENTIFIER: usize = 1024;

/// Returns the code of the refusal; `limit` is that of a sealed token, `keys` are the ids of the ring.
pub fn code(opener: Opener, text: &str, limit: usize, keys: &[[u8; 4]]) -> &'static str {
    let verdict = match opener {
        Opener::Sealed(kind) => sealed(kind, text, limit, keys),
        Opener::SessionId => session_id(text, keys),
        Opener::Handle => handle(text),
    };
    verdict.err().unwrap_or("unauthentic")
}

type Verdict = Result<(), &'static str>;

fn require(holds: bool, code: &'static str) -> Verdict {
    if holds { Ok(()) } else { Err(code) }
}

fn sealed(expected: Kind, text: &str, limit: usize, keys: &[[u8; 4]]) -> Verdict {
    require(text.len() <= limit, "too_large")?;
    let Some(body) = text.strip_prefix("sw1.") else {
        let version = text
            .strip_prefix("sw")
            .and_then(|rest| rest.split_once('.'));
        let other = version.is_some_and(|(number, _)| {
            !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
        });
        return Err(if other { "unsupported" } else { "malformed" });
    };
    let length = BASE64URL.length(body).ok_or("malformed")?;
    require(length >= 65, "malformed")?;
    let bytes = first_bytes(body)?;
    require(matches!(bytes[0], 1..=5 | 0x7f), "unsupported")?;
    require(bytes[0] == expected as u8, "wrong_purpose")?;
    require(
        keys.iter().any(|key| bytes[1..].starts_with(key)),
        "unknown_key",
    )
}

/// Reads six bytes of a text that spells more.
fn first_bytes(body: &str) -> Result<Vec<u8>, &'static str> {
    BASE64URL.decode(&body[..8]).ok_or("malformed")
}

fn session_id(text: &str, keys: &[[u8; 4]]) -> Verdict {
    require(text.len() <= IDENTIFIER, "too_large")?;
    let body = text.strip_prefix("sess_").ok_or("malformed")?;
    let length = BASE64URL.length(body).ok_or("malformed")?;
    require(length == 44, "malformed")?;
    let bytes = first_bytes(body)?;
    require(keys.iter().any(|key| bytes.starts_with(key)), "unknown_key")
}

fn handle(text: &str) -> Verdict {
    require(text.len() <= IDENTIFIER, "too_large")?;
    let (found, body) = text.split_once('_').ok_or("malformed")?;
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_type = found.len() <= 32
        && found.starts_with(|first: char| first.is_ascii_lowercase())
        && found.bytes().all(letters)
        && !["sess", "sw1", "swk1"].contains(&found);
    require(is_type, "malformed")?;
    let length = BASE32.length(body).ok_or("malformed")?;
    require(length == 26, "malformed")?;
    require(found == HANDLE_TYPE, "wrong_purpose")
}
