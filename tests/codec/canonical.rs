//! The canonical form of arguments equals that of another reader and another writer, and what is canonical
//! already is not copied.
//!
//! `PROPTEST_CASES` says how many texts are tried.

use std::borrow::Cow;

use proptest::prelude::Rng as _;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestRng};
use sealwax::hazmat::canonical;

use crate::oracle;

const CASES: usize = 200_000;

#[test]
fn canonical_texts_are_not_copied() {
    let ordinary = [
        "{}",
        "[]",
        "[[],{},\"\"]",
        r#"{"":{"":0},"A":[true,false,null],"a":-1,"aa":{"a":1},"b":"7"}"#,
        "[999999999999999,-999999999999999,0,10]",
        "[\"\u{7f}\u{80}\u{2028}\u{d7ff}\u{e000}\u{ffff}\u{10ffff} /é\"]",
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
    for (text, place, why) in [
        (
            r#"{"a":1,"id":{"b":[1e16]},"c":1}"#,
            r#"argument "id": "#,
            "2^53",
        ),
        (r#"{"a":1,"i\nd":1e999}"#, r#"argument "i\nd": "#, "2^53"),
        (
            r#"{"a":1,"id":["\ud800"]}"#,
            r#"argument "id": "#,
            "surrogate",
        ),
        (
            r#"{"a":1,"id":["\ud800-"]}"#,
            r#"argument "id": "#,
            "surrogate",
        ),
        (r#"{"id":1,"a":1,"id":2}"#, r#"argument "id": "#, "once"),
        (
            r#"{"id":{"a":1,"a":2},"b":1}"#,
            r#"argument "id": "#,
            "once",
        ),
        (r#"{"a":1,"\udc00":1}"#, "arguments: ", "surrogate"),
        (r#"{"a":1}]"#, "arguments: ", "JSON"),
        (r#"[{"a":1e16}]"#, "arguments: ", "2^53"),
        (
            &long,
            &format!("argument \"{}\": ", r"\u{e9}".repeat(64)),
            "2^53",
        ),
    ] {
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

#[test]
fn random_texts_agree() {
    let cases = std::env::var("PROPTEST_CASES").map_or(CASES, |cases| cases.parse().unwrap());
    let seed = match Config::default().rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => std::process::id().into(),
    };
    println!("seed {seed}");
    let mut seed_of_rng = [0; 32];
    seed_of_rng[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = Random(TestRng::from_seed(RngAlgorithm::ChaCha, &seed_of_rng));

    let (mut tried, mut altered, mut known) = (0, 0, 0);
    while tried < cases {
        let text = random.canonical_text();
        assert_kept(&text);
        tried += 1;
        for _ in 0..8 {
            let mut other = text.clone();
            for _ in 0..1 + random.below(3) {
                random.alter(&mut other);
            }
            altered += 1;
            assert_agrees(&other, Some(&["a", "b"]));
            known += usize::from(assert_agrees(&other, None));
        }
        tried += 8;
    }
    println!("{known} of {altered} that were altered are accepted");
    // A reader that accepts too little would pass, and one that accepts everything.
    assert!(
        known > altered / 20 && known < 3 * altered / 4,
        "{known} of {altered}"
    );
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

/// Asserts that the other reader says the same, and returns whether the text is accepted.
#[track_caller]
fn assert_agrees(text: &str, only: Option<&[&str]>) -> bool {
    let written = canonical(text, only).ok();
    let expected = oracle::canonical(text, only);
    assert_eq!(
        written.as_deref(),
        expected.as_deref().map(str::as_bytes),
        "{text}"
    );
    expected.is_some()
}

#[rustfmt::skip]
const CHARACTERS: [&str; 20] = [
    "a", "b", "Z", "0", "9", " ", "!", "/", "~", ":", ",", "{", "]", "\u{7f}", "\u{80}", "é",
    "\u{2028}", "\u{e000}", "\u{ffff}", "\u{1f602}",
];
/// Pieces that are put into a text; most of them spoil it.
#[rustfmt::skip]
const PIECES: [&str; 54] = [
    "\"", "\\", "{", "}", "[", "]", ":", ",", " ", "\t", "\n", "\r", "\0", "\u{1f}", "\u{7f}",
    "\u{a0}", "\u{feff}", "\\u0041", "\\\"", "\\/", "\\ud800", "0", "1", "9", "-", "+", ".", "e",
    "E", "-0", "-1", "00", "1.0", "1e3", "0.1", "999999999999999", "1000000000000000",
    "9007199254740991", "9007199254740992", "-9007199254740993", "t", "true", "false", "null",
    "nul", "[]", "{}", "\"\"", "\"a\":1", ",\"z\":[]", "é", "\u{2028}", "\u{ffff}", "\u{1f602}",
];

struct Random(TestRng);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.0.next_u32()).unwrap() % end
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// An object or an array in canonical form that is not copied; some are 97 to 100 levels deep.
    fn canonical_text(&mut self) -> String {
        let mut text = String::new();
        let outer = if self.below(16) == 0 {
            97 + self.below(3)
        } else {
            0
        };
        let mut close = String::new();
        for _ in 0..outer {
            let (before, after) = if self.below(2) == 0 {
                ("[", ']')
            } else {
                ("{\"\":", '}')
            };
            text.push_str(before);
            close.insert(0, after);
        }
        let levels = if outer == 0 { 4 } else { 100 - outer };
        self.container(&mut text, levels);
        text + &close
    }

    /// An array or an object of at most `levels` levels.
    fn container(&mut self, text: &mut String, levels: usize) {
        let count = self.below(5);
        if self.below(2) == 0 {
            text.push('[');
            for at in 0..count {
                text.push_str(if at == 0 { "" } else { "," });
                self.value(text, levels - 1);
            }
            text.push(']');
        } else {
            let mut keys: Vec<_> = (0..count).map(|_| self.string(true)).collect();
            keys.sort();
            keys.dedup();
            text.push('{');
            for (at, key) in keys.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                text.push_str(&format!("\"{key}\":"));
                self.value(text, levels - 1);
            }
            text.push('}');
        }
    }

    fn value(&mut self, text: &mut String, levels: usize) {
        match self.below(if levels == 0 { 5 } else { 8 }) {
            0 => text.push_str(self.one(&["true", "false", "null"])),
            1 => text.push_str(self.one(&["0", "-1", "10", "999999999999999", "-999999999999999"])),
            2 => {
                let digits = 10_i64.pow(1 + u32::try_from(self.below(15)).unwrap());
                text.push_str(&(self.0.next_u64().cast_signed() % digits).to_string());
            }
            3 | 4 => {
                let string = self.string(false);
                text.push_str(&format!("\"{string}\""));
            }
            _ => self.container(text, levels),
        }
    }

    fn string(&mut self, ascii: bool) -> String {
        let characters = &CHARACTERS[..if ascii { 14 } else { CHARACTERS.len() }];
        (0..self.below(6)).map(|_| self.one(characters)).collect()
    }

    /// Where a character of a text begins, or its end.
    fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at)
            .rev()
            .find(|&at| text.is_char_boundary(at))
            .unwrap()
    }

    fn alter(&mut self, text: &mut String) {
        let mut places = [self.place(text), self.place(text)];
        places.sort_unstable();
        let [from, to] = places;
        let after = |at: usize| {
            text[at..]
                .chars()
                .next()
                .map_or(at, |it| at + it.len_utf8())
        };
        match self.below(7) {
            0 => text.insert_str(from, self.one(&PIECES)),
            1 => text.replace_range(from..after(from), self.one(&PIECES)),
            2 => text.replace_range(from..after(from), self.one(&CHARACTERS)),
            3 => text.replace_range(from..after(from), ""),
            // Two neighbours change places.
            4 => {
                let (middle, end) = (after(from), after(after(from)));
                let swapped = text[middle..end].to_owned() + &text[from..middle];
                text.replace_range(from..end, &swapped);
            }
            // A part of the text twice, such as a key or a member.
            5 => {
                let twice = text[from..to].to_owned();
                text.insert_str(to, &twice);
            }
            _ => {
                let members: Vec<_> = text.match_indices(['{', ',']).map(|(at, _)| at).collect();
                if let [first, .., last] = members[..] {
                    let twice = text[first + 1..=last].to_owned();
                    text.insert_str(last + 1, &twice);
                }
            }
        }
    }
}
