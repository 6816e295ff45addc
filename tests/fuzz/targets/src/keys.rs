//! Key texts, rings of them, and files of rings: what is read is what was written, and no message holds a part of a key.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sealwax::{Error, Key, KeyId, KeyRing};
use sha2::{Digest as _, Sha256};

use crate::alter::{Change, altered};
use crate::leaks;
use crate::world::keys;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text(&'a str),
    Pieces(Vec<Piece<'a>>),
    File(Vec<Piece<'a>>),
    Secret(&'a [u8]),
    Edge(Edge),
}

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    Known(u8),
    /// Of a secret that begins with these bytes.
    Key([u8; 4]),
    Altered(u8, Vec<Change<'a>>),
    Space(Space),
    Comment(&'a str),
    Text(&'a str),
    Bytes(&'a [u8]),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Space {
    Comma,
    Blank,
    Tab,
    Line,
    FormFeed,
    Return,
    /// White space to Unicode and to C, and not here.
    VerticalTab,
    NoBreak,
    NextLine,
}

/// A file about as large as the limit.
#[derive(Arbitrary, Debug)]
struct Edge {
    over: i8,
    at_the_end: bool,
}

/// Of a process, because many run at once. Shorter than what counts as a leak, because messages have it, and a fuzzer
/// learns it.
static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from("/dev/shm");
    let folder = if folder.is_dir() {
        folder
    } else {
        std::env::temp_dir()
    };
    folder.join(format!("fuzz-{}", std::process::id()))
});

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    match input {
        Input::Text(text) => ring(text),
        Input::Pieces(pieces) => std::str::from_utf8(&together(&pieces)).is_ok_and(ring),
        Input::File(pieces) => file(&together(&pieces)),
        Input::Secret(secret) => imported(secret),
        Input::Edge(edge) => {
            let comment =
                vec![b'#'; (1 << 16) - 54_usize.saturating_add_signed(-isize::from(edge.over))];
            let key = keys()[0].to_text().unwrap();
            let (key, end) = (key.as_bytes(), b"\n");
            file(
                &if edge.at_the_end {
                    [&comment, &end[..], key]
                } else {
                    [key, end, &comment]
                }
                .concat(),
            )
        }
    }
}

fn together(pieces: &[Piece<'_>]) -> Vec<u8> {
    pieces.iter().take(40).flat_map(Piece::bytes).collect()
}

impl Piece<'_> {
    fn bytes(&self) -> Vec<u8> {
        let known = |at: &u8| keys()[usize::from(*at) % 3].to_text().unwrap().to_string();
        match self {
            Self::Known(at) => known(at).into(),
            Self::Key(begin) => {
                let mut secret = *b"\0\x01fuzz\xff\xfe0123456789abcdefghijklmn";
                secret[..4].copy_from_slice(begin);
                let mut bytes = secret.to_vec();
                bytes.resize(32, 0xa5);
                text(&bytes).into()
            }
            Self::Altered(at, changes) => {
                altered(&known(at), &known(&at.wrapping_add(1)), changes).into()
            }
            Self::Space(space) => space.text().into(),
            Self::Comment(text) => format!("#{text}").into(),
            Self::Text(text) => (*text).into(),
            Self::Bytes(bytes) => bytes.to_vec(),
        }
    }
}

impl Space {
    fn text(self) -> &'static str {
        match self {
            Self::Comma => ",",
            Self::Blank => " ",
            Self::Tab => "\t",
            Self::Line => "\n",
            Self::FormFeed => "\x0c",
            Self::Return => "\r",
            Self::VerticalTab => "\x0b",
            Self::NoBreak => "\u{a0}",
            Self::NextLine => "\u{85}",
        }
    }
}

/// The text of a secret, as section 3 of SPEC.md has it.
fn text(secret: &[u8]) -> String {
    let sum = Sha256::new_with_prefix("sealwax/v1/key")
        .chain_update(secret)
        .finalize();
    format!(
        "swk1_{}",
        BASE64_URL_SAFE_NO_PAD.encode([secret, &sum[..4]].concat())
    )
}

/// The secret of a key text, by other means.
fn secret(word: &str) -> Option<Vec<u8>> {
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(word.strip_prefix("swk1_")?)
        .ok()?;
    let secret = bytes.get(..32)?;
    (text(secret) == word && !is_guessed(secret)).then(|| secret.to_vec())
}

fn is_guessed(secret: &[u8]) -> bool {
    secret
        .iter()
        .all(|byte| matches!(byte, b'!'..=b'~' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c'))
        || secret.iter().all(|byte| *byte == secret[0])
}

/// The words of a ring's text.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '#' => {
                let _ = rest.by_ref().find(|c| matches!(c, '\n' | '\r'));
                words.push(String::new());
            }
            ',' | ' ' | '\t' | '\n' | '\r' | '\x0c' => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Reads a file as its text, and returns whether it is a ring.
fn file(bytes: &[u8]) -> bool {
    fs::write(&*PATH, bytes).unwrap();
    let read = KeyRing::read(&*PATH);
    fs::remove_file(&*PATH).unwrap();
    let text = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| text.len() <= 1 << 16);
    match read {
        Ok(read) => assert_eq!(text.unwrap().parse(), Ok(read)),
        Err(error) => {
            assert!(text.is_none_or(|text| text.parse::<KeyRing>().is_err()));
            silent(&error, &words(&String::from_utf8_lossy(bytes)));
        }
    }
    text.is_some_and(ring)
}

/// Reads a text, and returns whether it is a ring.
fn ring(text: &str) -> bool {
    let parsed = text.parse::<KeyRing>();
    let words = words(text);
    if let Err(error) = &parsed {
        silent(error, &words);
    }
    for word in &words {
        one(word);
    }
    derived(text);
    let secrets: Option<Vec<_>> = words.iter().map(|word| secret(word)).collect();
    let ids: Option<Vec<KeyId>> = secrets.map(|all| {
        all.iter()
            .map(|secret| Key::from_secret(secret).unwrap().id())
            .collect()
    });
    // Editors show a CR as the end of a line.
    let after = text.bytes().skip(1).chain([0]);
    let is_alone = text
        .bytes()
        .zip(after)
        .any(|(c, next)| c == b'\r' && next != b'\n');
    let ids = ids.filter(|ids| !is_alone && (1..=16).contains(&ids.len()));
    let ids = ids.filter(|ids| (1..ids.len()).all(|at| !ids[..at].contains(&ids[at])));
    assert_eq!(
        parsed.as_ref().ok().map(|ring| ring.ids().collect()),
        ids,
        "{text:?}"
    );
    let Ok(ring) = parsed else { return false };
    leaks::assert_none(&format!("{ring:?}"), &words[0]);
    // Printed and read again, it is the same.
    assert_eq!(words.join(",").parse::<KeyRing>().unwrap(), ring);
    true
}

fn one(word: &str) {
    let key = word.parse::<Key>();
    assert_eq!(key.is_ok(), secret(word).is_some(), "{word}");
    match key {
        Ok(key) => {
            assert_eq!(key.to_text().unwrap().as_str(), word, "one spelling");
            leaks::assert_none(&format!("{key:?}"), word);
        }
        Err(error) => silent(&error, &[word.into()]),
    }
}

/// A key of any text has a text form, and an error nothing of the secret.
fn derived(text: &str) {
    match Key::derive(text) {
        Ok(key) => {
            assert!(text.chars().count() >= 32 && !text.contains(char::is_whitespace));
            assert!(!text.starts_with("swk1_"));
            let written = key.to_text().unwrap();
            assert_eq!(written.parse::<Key>().unwrap(), key);
            leaks::assert_none(&format!("{key:?}"), text);
        }
        Err(error) => silent(&error, &words(text)),
    }
}

fn imported(secret: &[u8]) -> bool {
    match Key::from_secret(secret) {
        Ok(key) => {
            assert!(secret.len() >= 32 && !is_guessed(secret));
            let expected = (secret.len() == 32).then(|| text(secret));
            assert_eq!(key.to_text().map(|text| text.to_string()), expected);
            if let Some(text) = expected {
                assert_eq!(text.parse::<Key>().unwrap(), key);
            }
            true
        }
        Err(error) => {
            assert!(secret.len() < 32 || is_guessed(secret));
            leaks::assert_none(&error, &String::from_utf8_lossy(secret));
            false
        }
    }
}

fn silent(error: &Error, words: &[String]) {
    assert_eq!(error.code(), "invalid_key");
    for word in words {
        leaks::assert_none(error, word);
    }
}
