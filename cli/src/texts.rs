//! Finds tokens, session ids, handles and key texts in what stands around them: a header, a JSON message, a line of a log.
//!
//! The page has the same rule (`inspector/src/paste.ts`), because the module that it loads has no part of the command. Both
//! pass tests/inspect.json.

use sealwax::{Error, inspect};

/// The error of what begins as none of ours.
const NONE: &str = "a sealed token, a session id, a handle or a key text";
/// What is expected where no word comes near.
const EXPECTED: &str =
    "a sealed token, a session id, a handle or a key text, alone or in a header, JSON or a log";
/// The most bytes of a text, as the core has it.
const LIMIT: usize = 2 << 20;
/// The most characters of a name.
const LONGEST_NAME: usize = 40;

pub(crate) struct Found<'a> {
    pub text: &'a str,
    /// The member or the header before it; or that there is none.
    pub name: &'a str,
}

/// Returns the texts in their order, each once, and at least one.
///
/// # Errors
///
/// That of the whole if it is too large; else that of the word that comes nearest.
pub(crate) fn texts_in(given: &str) -> Result<Vec<Found<'_>>, Error> {
    let bytes = given.as_bytes();
    let (mut found, mut nearest): (Vec<Found<'_>>, _) = (Vec::new(), "");
    let (mut name, mut named) = ("", false);
    let (mut start, mut last) = (0, b' ');
    // What is too large is one word, whose error says so: it may be cut off.
    let mut at = if bytes.len() > LIMIT { bytes.len() } else { 0 };
    while at <= bytes.len() {
        let byte = bytes.get(at).copied().unwrap_or(b' ');
        at += 1;
        let apart = match byte {
            // It is padding, an error, where no text or value begins.
            b'=' => bytes.get(at).is_some_and(u8::is_ascii_lowercase),
            b'n' | b'r' | b't' => last == b'\\',
            // A backslash is before the quotes of JSON within JSON.
            b'"' | b'\'' | b'`' | b',' | b':' | b';' | b'\\' => true,
            b'{' | b'}' | b'[' | b']' | b'(' | b')' => true,
            _ => !byte.is_ascii_graphic(),
        };
        last = byte;
        if !apart {
            continue;
        }
        if let Some(text) = given.get(start..at - 1)
            && !text.is_empty()
        {
            match inspect(text) {
                Err(Error::Malformed(NONE)) => {}
                Err(_) => {
                    if nearest.is_empty() {
                        nearest = text;
                    }
                }
                Ok(_) if found.iter().any(|one| one.text == text) => {}
                Ok(_) => {
                    let named = named && is_name(name);
                    let name = if named { name } else { "without a name" };
                    found.push(Found { text, name });
                }
            }
            (name, named) = (text, false);
        }
        named |= matches!(byte, b':' | b'=');
        start = at;
    }
    if !found.is_empty() {
        return Ok(found);
    }
    match inspect(nearest) {
        Err(error) if !nearest.is_empty() => Err(error),
        _ => Err(Error::Malformed(EXPECTED)),
    }
}

/// Reports whether a word is a name to print. Without digits it is no key text, nor the beginning of one.
fn is_name(word: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_');
    word.len() <= LONGEST_NAME && word.bytes().all(of_name)
}
