//! The canonical form of arguments equals that of another reader and another writer, and what is canonical
//! already is not copied. Of any other text, the fuzz target `arguments` says the same.

use std::borrow::Cow;

use sealwax::hazmat::canonical;
use sealwax::{RequestContext, canonical_json};

use crate::oracle;

#[test]
fn canonical_texts_are_not_copied() {
    let ordinary = [
        "{}",
        "[]",
        "[[],{},\"\"]",
        r#"{"":{"":0},"A":[true,false,null],"a":-1,"aa":{"a":1},"b":"7"}"#,
        "[999999999999999,-999999999999999,0,10]",
        "[\"\u{7f}\u{80}\u{2028}\u{d7ff}\u{e000}\u{ffff}\u{10ffff} /é\"]",
        // A number in disguise is an object.
        r#"{"$serde_json::private::Number":"7"}"#,
        "{\"\u{7f}\":1}",
    ];
    for text in ordinary {
        assert_kept(text);
    }
    for [open, close] in [["[", "]"], ["{\"a\":", "}"]] {
        let nested = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert_kept(&nested(100));
        assert_refused(&nested(101));
        let empty = |levels: usize| format!("{}[]{}", open.repeat(levels), close.repeat(levels));
        assert_kept(&empty(99));
        assert_refused(&empty(100));
    }
}

#[test]
fn other_texts_are_written_anew() {
    #[rustfmt::skip]
    let others = [
        ("", ""), ("null", ""), (" null\n", ""), (" {}", "{}"), ("{} ", "{}"), ("[ ]", "[]"), ("{ }", "{}"),
        ("[1, 2]", "[1,2]"), ("\t[1\n]", "[1]"), ("[-0]", "[0]"), ("[-0.0]", "[0]"), ("[1.0]", "[1]"),
        ("[0.50]", "[0.5]"), ("[1e3]", "[1000]"), ("[1E-7]", "[1e-7]"), ("[1e15]", "[1000000000000000]"),
        ("[9007199254740991]", "[9007199254740991]"), ("[1.5,-0.25]", "[1.5,-0.25]"),
        ("[\"\\u0041\\/\"]", "[\"A/\"]"), ("[\"\\u000a\\u000A\\n\"]", "[\"\\n\\n\\n\"]"),
        (r#"["\u0008\u0009\u000c\u000d\/"]"#, r#"["\b\t\f\r/"]"#), (r#"["\/\b\t\f\r"]"#, r#"["/\b\t\f\r"]"#),
        ("[\"\\u001F\\u0022\"]", "[\"\\u001f\\\"\"]"), ("[\"\\ud83d\\ude02\"]", "[\"\u{1f602}\"]"),
        (r#"{"b":1,"a":2}"#, r#"{"a":2,"b":1}"#), (r#"{"aa":1,"a":2}"#, r#"{"a":2,"aa":1}"#),
        (r#"{ "b" : { "d" : 1 , "c" : [ ] } , "a" : 2 }"#, r#"{"a":2,"b":{"c":[],"d":1}}"#),
        (r#"{"a\u0062":1,"a\n":2}"#, r#"{"a\n":2,"ab":1}"#),
        ("{\"\u{ffff}\":1,\"\u{1f602}\":2,\"\u{e000}\":3}", "{\"\u{1f602}\":2,\"\u{e000}\":3,\"\u{ffff}\":1}"),
    ];
    for (text, expected) in others {
        assert_eq!(
            canonical(text, None).unwrap(),
            expected.as_bytes(),
            "{text}"
        );
        assert_agrees(text, None);
    }
}

#[test]
fn texts_that_languages_read_differently_are_refused() {
    #[rustfmt::skip]
    let refused = [
        " ", "true", "7", "\"a\"", "\u{feff}{}", "{}{}", "[", "]", "{", "{]", "[}", "[1", "[1,", "[1,]",
        "[,1]", "[1 2]", "[\"", "[\"a", "[\"a]", "[nul]", "[truefalse]", "[True]", "[-]", "[00]", "[01]",
        "[-01]", "[+1]", "[.5]", "[1.]", "[1e]", "[1e+]", "[1e999]", "[9007199254740992]",
        "[-9007199254740992.0]", "[\"\n\"]", "[\"\u{1f}\"]", "[\"\0\"]", r#"{"a"}"#, r#"{"a":}"#,
        r#"{"a":1,}"#, r#"{,"a":1}"#, r#"{"a":1"b":2}"#, r#"{"a",1}"#, r#"{a:1}"#, r#"{"a":1,"a":1}"#,
        r#"{"b":1,"a":1,"b":1}"#, r#"{"a":1,"\u0061":1}"#, r#"{1:1}"#, r#"[{"a":1,"a":1}]"#, r#"["a":1]"#,
        r#"["\ud800"]"#, r#"["\udc00"]"#, r#"["\ud800\u0041"]"#, r#"["\ud800\ud800"]"#, r#"["\u00"]"#,
        r#"["\u00g0"]"#, r#"["\u+041"]"#, r#"["\x41"]"#, r#"["\"#,
    ];
    for text in refused {
        assert_refused(text);
    }
}

#[test]
fn a_refusal_names_the_argument() {
    let long = format!(r#"{{"{}":[1e16]}}"#, "é".repeat(65));
    let of_long = format!("argument \"{}\": ", r"\u{e9}".repeat(64));
    #[rustfmt::skip]
    let refused = [
        (r#"{"a":1,"id":{"b":[1e16]},"c":1}"#, r#"argument "id": "#, "2^53"),
        (r#"{"a":1,"i\nd":1e999}"#, r#"argument "i\nd": "#, "2^53"),
        (r#"{"a":1,"id":["\ud800"]}"#, r#"argument "id": "#, "surrogate"),
        (r#"{"a":1,"id":["\ud800-"]}"#, r#"argument "id": "#, "surrogate"),
        (r#"{"id":1,"a":1,"id":2}"#, r#"argument "id": "#, "once"),
        (r#"{"id":{"a":1,"a":2},"b":1}"#, r#"argument "id": "#, "once"),
        (r#"{"a":1,"\udc00":1}"#, "arguments: ", "surrogate"),
        (r#"{"a":1}]"#, "arguments: ", "JSON"),
        (r#"[{"a":1e16}]"#, "arguments: ", "2^53"),
        (&long, &of_long, "2^53"),
    ];
    for (text, place, why) in refused {
        let refusal = canonical(text, None).unwrap_err().to_string();
        assert!(
            refusal.starts_with(place) && refusal.contains(why),
            "{text}: {refusal}"
        );
    }
    let refusal = canonical(r#"{"a":1}"#, Some(&["id"]))
        .unwrap_err()
        .to_string();
    assert!(refusal.starts_with("arguments: "), "{refusal}");
    let scalar = RequestContext::new("m", "t", Some("7"));
    let refusal = scalar.unwrap_err().to_string();
    assert!(refusal.contains("expected an object or none"), "{refusal}");
    assert_eq!(canonical_json("[ 1.0]").unwrap(), "[1]");
    assert!(canonical_json("[1").is_err());
}

#[test]
fn of_named_members_only_these_are_checked() {
    let only: &[&str] = &["b", "a", "\u{e000}"];
    for (text, expected) in [
        (r#"{"a":1,"b":2}"#, Some(r#"{"a":1,"b":2}"#)),
        (
            r#"{"b":{"z":1,"c":2},"c":{"a":1},"a":1.0}"#,
            Some(r#"{"a":1,"b":{"c":2,"z":1}}"#),
        ),
        (
            r#"{"c":{"d":1,"d":9007199254740993},"b":2,"c":3}"#,
            Some(r#"{"b":2}"#),
        ),
        (r#"{"\ue000":1,"d":"\n"}"#, Some("{\"\u{e000}\":1}")),
        (r#"{"a":1,"c":[],"a":1}"#, None),
        (r#"{"c":1e999,"a":1}"#, None),
        (r#"{"c":"\ud800","a":1}"#, None),
        (r#"{"c":1}"#, None),
        (r#"[{"a":1}]"#, None),
        ("{}", None),
        ("null", None),
        ("", None),
    ] {
        let written = canonical(text, Some(only)).ok();
        assert_eq!(written.as_deref(), expected.map(str::as_bytes), "{text}");
        assert_agrees(text, Some(only));
    }
}

/// Asserts that a text is canonical, and not copied.
#[track_caller]
fn assert_kept(text: &str) {
    assert!(
        matches!(canonical(text, None).unwrap(), Cow::Borrowed(kept) if kept == text.as_bytes()),
        "{text}"
    );
    assert_agrees(text, None);
}

#[track_caller]
fn assert_refused(text: &str) {
    assert!(canonical(text, None).is_err(), "{text}");
    assert_agrees(text, None);
}

/// Asserts that the other reader says the same.
#[track_caller]
fn assert_agrees(text: &str, only: Option<&[&str]>) {
    let written = canonical(text, only).ok();
    let expected = oracle::canonical(text, only);
    assert_eq!(
        written.as_deref(),
        expected.as_deref().map(str::as_bytes),
        "{text}"
    );
}
