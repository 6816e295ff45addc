//! Reads texts that nobody sealed, by everything that reads one: nothing opens, and no message quotes them.

use std::fmt::Display;
use std::sync::LazyLock;

use sealwax::report::Report;
use sealwax::{Error, Inspected, Key, KeyRing, RequestContext, SessionMetadata, View, inspect};

use crate::alter::decoded;
use crate::leaks;
use crate::world::{NOW, Ring, Who, codec};

static ALICE: LazyLock<View> = LazyLock::new(|| codec().view(&Who::Alice.principal()).unwrap());

pub fn run(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else {
        return false;
    };
    let view = &*ALICE;
    let context = RequestContext::new("tools/call", "x", None).unwrap();
    refused(view.session().open(text).map(drop), text);
    refused(view.cursor("tools/list").open(text).map(drop), text);
    refused(view.request_state(&context).open(text).map(drop), text);
    refused(view.handle_state("basket").open(text).map(drop), text);
    refused(view.custom("x").open(text).map(drop), text);
    refused(view.verify_session_id(text, None).map(drop), text);
    let handle = view.verify_handle("basket", text, None).map(drop);
    quiet(&is_refused(handle), text);
    match SessionMetadata::from_json(text) {
        Ok(metadata) => {
            refused(
                view.sessions().open(&metadata).map(drop),
                &metadata.session_id,
            );
            let again = SessionMetadata::from_json(&metadata.to_json()).unwrap();
            assert_eq!(again, metadata, "parse and print agree");
        }
        Err(error) => leaks::assert_none(&error, text),
    }
    spelling(text);
    keys(text);
    let _ = RequestContext::new(text, text, Some(text));
    let _ = view.mint_handle(text);
    let _ = view.cursor(text).seal(input);
    reported(text)
}

fn refused(opened: Result<(), Error>, text: &str) {
    leaks::assert_none(&is_refused(opened), text);
}

fn is_refused(opened: Result<(), Error>) -> Error {
    let error = opened.expect_err("nobody sealed it");
    assert!(error.is_refusal(), "{error}");
    error
}

/// Holds nothing of the text but its prefix: a handle's type is told, which may be a part of the rest again.
fn quiet(message: &dyn Display, text: &str) {
    let (prefix, body) = text.split_once(['_', '.']).unwrap_or(("", text));
    let message = message.to_string();
    let beside = if prefix.is_empty() {
        message
    } else {
        message.replace(prefix, " ")
    };
    leaks::assert_none(&beside, body);
}

/// What is read without a key has one spelling.
fn spelling(text: &str) {
    if let Ok(Inspected::Token {
        kind,
        key_id,
        token_id,
    }) = inspect(text)
    {
        let (prefix, bytes) = decoded(text).expect("base64url in its one spelling");
        assert!(prefix == "sw1." && bytes.len() >= 65);
        assert_eq!(
            (bytes[0], &bytes[1..5]),
            (kind as u8, &key_id.as_bytes()[..])
        );
        assert_eq!(&bytes[5..21], token_id.as_bytes());
    }
}

fn keys(text: &str) {
    match text.parse::<Key>() {
        Ok(key) => assert_eq!(key.to_text().unwrap().as_str(), text, "one spelling"),
        Err(error) => leaks::assert_none(&error, text),
    }
    let derived = Key::derive(text).err();
    for error in text.parse::<KeyRing>().err().into_iter().chain(derived) {
        leaks::assert_none(&error, text);
    }
}

/// What a report says of a text is what `inspect` read in it.
fn reported(text: &str) -> bool {
    let ring = Ring::NewOld.ring();
    let (read, report) = match (inspect(text), Report::of(text, Some(&ring))) {
        (Ok(read), Ok(report)) => (read, report),
        (Err(read), Err(report)) => {
            assert_eq!(read, report);
            leaks::assert_none(&read, text);
            return false;
        }
        _ => panic!("a report is of what can be inspected"),
    };
    let json: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
    let what = match read {
        Inspected::Token { .. } => "token",
        Inspected::SessionId { .. } => "session-id",
        Inspected::Handle { .. } => "handle",
        _ => "key",
    };
    assert_eq!(
        (&json["what"], &json["length"]),
        (&what.into(), &text.len().into())
    );
    let words = report.words(NOW);
    quiet(&words, text);
    quiet(&json, text);
    true
}
