//! The arguments that a request context binds, beside the vectors.

use sealwax::{RequestContext, canonical_json};
use sha2::{Digest as _, Sha256};

fn context(arguments: &str) -> Result<RequestContext, sealwax::Error> {
    RequestContext::new("m", "t", Some(arguments))
}

/// The context of arguments whose canonical form is known.
fn of_canonical(canonical: &[u8]) -> RequestContext {
    let mut digest = Sha256::new_with_prefix(3_u64.to_le_bytes());
    for piece in [&b"m"[..], b"t", canonical] {
        digest.update((piece.len() as u64).to_le_bytes());
        digest.update(piece);
    }
    RequestContext::from_bytes(&digest.finalize()).unwrap()
}

#[track_caller]
fn assert_canonical(arguments: &str, canonical: &str) {
    assert_eq!(
        context(arguments).unwrap(),
        of_canonical(canonical.as_bytes()),
        "{arguments}"
    );
}

#[test]
fn a_number_in_disguise_is_an_object() {
    let disguised = r#"{"$serde_json::private::Number":"7"}"#;
    assert_canonical(disguised, disguised);
    assert_canonical(r#"{"\u0024serde_json::private::Number":"7"}"#, disguised);
    assert_canonical(&format!("[7.0,{disguised}]"), &format!("[7,{disguised}]"));
    assert_canonical(r#"{"":7}"#, r#"{"":7}"#);
}

#[test]
fn a_text_or_a_number_is_no_arguments() {
    for scalar in [r#""{\"id\":7}""#, "7", "true"] {
        let message = context(scalar).unwrap_err().to_string();
        assert!(message.contains("expected an object or none"), "{message}");
    }
}

#[test]
fn a_canonical_text_is_what_a_context_binds() {
    let canonical = canonical_json(r#"{"b": [1.0], "a": "\u0041"}"#).unwrap();
    assert_eq!(canonical, r#"{"a":"A","b":[1]}"#);
    assert!(canonical_json("[1").is_err());
}

#[test]
fn what_is_not_named_is_not_judged() {
    let json = r#"{"n":9007199254740993,"id":{"n":1,"id":2},"n":[],"name":"x"}"#;
    let named = |names: &[&str]| RequestContext::only("m", "t", Some(json), names);
    let expected = of_canonical(br#"{"id":{"id":2,"n":1}}"#);
    assert_eq!(named(&["id"]).unwrap(), expected);
    let expected = of_canonical(br#"{"name":"x"}"#);
    assert_eq!(named(&["name", "size"]).unwrap(), expected);
    // Canonical already, and yet only some arguments are bound.
    let canonical = r#"{"id":1,"name":"x"}"#;
    let only_id = RequestContext::only("m", "t", Some(canonical), &["id"]).unwrap();
    assert_eq!(only_id, of_canonical(br#"{"id":1}"#));
    assert_eq!(
        context(canonical).unwrap(),
        of_canonical(canonical.as_bytes())
    );
    for names in [&["n"][..], &["size"], &[]] {
        assert_eq!(
            named(names).unwrap_err().code(),
            "invalid_argument",
            "{names:?}"
        );
    }
    for other in ["", "null", "[]", "{}"] {
        let refused = RequestContext::only("m", "t", Some(other), &["id"]);
        assert!(refused.is_err(), "{other}");
    }
}
