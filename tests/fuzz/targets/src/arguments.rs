//! The arguments of a request: their canonical form is that of another reader and another writer (RFC 8785), and depends on
//! what they say, not on how it is spelled.

use std::fmt::Write as _;

use arbitrary::Arbitrary;
use sealwax::hazmat::canonical;
use sealwax::{RequestContext, canonical_json};

#[path = "../../../../tests/codec/oracle.rs"]
mod oracle;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Text {
        only: u8,
        text: &'a str,
    },
    Value {
        value: Value<'a>,
        style: &'a [u8],
        other: &'a [u8],
    },
}

#[derive(Arbitrary, Debug)]
enum Value<'a> {
    Null,
    Bool(bool),
    /// A mantissa, and its exponent of ten.
    Number(i64, i8),
    Text(&'a str),
    Array(Vec<Self>),
    Object(Vec<(&'a str, Self)>),
    /// So many arrays around a value.
    Deep(u8, Box<Self>),
}

pub fn run(input: &[u8]) -> bool {
    match crate::read(input) {
        Some(Input::Text { only, text }) => {
            let names = ["a", "b", "é", "\u{e000}", "\u{1f602}"];
            let names = &names[..usize::from(only) % 6];
            agree(text, Some(names));
            agree(text, None)
        }
        Some(Input::Value {
            value,
            style,
            other,
        }) => respelled(&value, style, other),
        None => false,
    }
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

/// Asserts that two spellings of a value are the same, and returns whether they are accepted.
fn respelled(value: &Value<'_>, style: &[u8], other: &[u8]) -> bool {
    let [first, second] = [style, other].map(|style| {
        let mut text = String::new();
        Style(style.iter().cycle()).value(value, &mut text);
        text
    });
    // Of two faults, the first one is told.
    let [found, again] =
        [&first, &second].map(|text| RequestContext::new("tools/call", "x", Some(text)).ok());
    assert_eq!(found, again, "{first}\n{second}");
    let names = ["a", "b"];
    let [found, again] = [&first, &second]
        .map(|text| RequestContext::only("tools/call", "x", Some(text), &names).ok());
    assert_eq!(found, again, "{first}\n{second}");
    agree(&first, None)
}

/// How a value is spelled: each choice takes a byte.
struct Style<'a>(std::iter::Cycle<std::slice::Iter<'a, u8>>);

impl Style<'_> {
    fn choice(&mut self, of: u8) -> u8 {
        self.0.next().map_or(0, |byte| byte % of)
    }

    fn space(&mut self, out: &mut String) {
        out.push_str(["", "", "", " ", "\n", "\t", "\r", "  "][usize::from(self.choice(8))]);
    }

    fn value(&mut self, value: &Value<'_>, out: &mut String) {
        self.space(out);
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(it) => out.push_str(if *it { "true" } else { "false" }),
            Value::Number(mantissa, exponent) => self.number(*mantissa, (*exponent).into(), out),
            Value::Text(text) => self.text(text, out),
            Value::Array(items) => self.list(items.iter(), ['[', ']'], out, Self::value),
            Value::Object(members) => {
                // Any order: here, begun in another place.
                let from = usize::from(self.choice(8)).min(members.len());
                let members = members[from..].iter().chain(&members[..from]);
                self.list(members, ['{', '}'], out, |style, (key, value), out| {
                    style.space(out);
                    style.text(key, out);
                    style.space(out);
                    out.push(':');
                    style.value(value, out);
                });
            }
            Value::Deep(levels, inner) => {
                let levels = usize::from(levels % 104);
                out.push_str(&"[".repeat(levels));
                self.value(inner, out);
                out.push_str(&"]".repeat(levels));
            }
        }
        self.space(out);
    }

    fn list<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        [begin, end]: [char; 2],
        out: &mut String,
        item: impl Fn(&mut Self, T, &mut String),
    ) {
        out.push(begin);
        self.space(out);
        for (at, one) in items.enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            item(self, one, out);
        }
        out.push(end);
    }

    /// The same decimal number, with other exponents and more zeros.
    fn number(&mut self, mantissa: i64, exponent: i32, out: &mut String) {
        let sign = if mantissa < 0 { "-" } else { "" };
        let digits = mantissa.unsigned_abs().to_string();
        let e = ["e", "E", "e+", "E+"][usize::from(self.choice(4))];
        let e = |exponent: i32| {
            if exponent < 0 {
                format!("e{exponent}")
            } else {
                format!("{e}{exponent}")
            }
        };
        out.push_str(sign);
        let _ = match self.choice(5) {
            0 if exponent == 0 => write!(out, "{digits}"),
            1 => write!(out, "{digits}.0{}", e(exponent)),
            2 if mantissa != 0 => write!(out, "{digits}00{}", e(exponent - 2)),
            3 => write!(
                out,
                "0.{digits}{}",
                e(exponent + i32::try_from(digits.len()).unwrap())
            ),
            _ => write!(out, "{digits}{}", e(exponent)),
        };
    }

    fn text(&mut self, text: &str, out: &mut String) {
        out.push('"');
        for c in text.chars() {
            let must = c < ' ' || c == '"' || c == '\\';
            let short = match c {
                '"' | '\\' | '/' => Some(c),
                '\x08' => Some('b'),
                '\x0c' => Some('f'),
                '\n' => Some('n'),
                '\r' => Some('r'),
                '\t' => Some('t'),
                _ => None,
            };
            match (self.choice(4), short) {
                (0 | 1, Some(short)) => out.extend(['\\', short]),
                (0 | 1, None) if !must => out.push(c),
                (2, _) if !must => out.push(c),
                (how, _) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let _ = if how == 3 {
                            write!(out, "\\u{unit:04x}")
                        } else {
                            write!(out, "\\u{unit:04X}")
                        };
                    }
                }
            }
        }
        out.push('"');
    }
}
