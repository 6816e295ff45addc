//! The log: an entry for each refusal and each failure, and its line, the same in every language.

use std::fmt::Write;

use crate::answer::FIELD_LIMIT;
use crate::guard::Guard;
use crate::method::is_custom;
use crate::step::Item;
use crate::text::rfc3339;
use sealwax::Principal;

/// The level of an entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    test,
    derive(schemars::JsonSchema),
    schemars(inline, rename_all = "lowercase")
)]
pub enum Level {
    /// `warn`: something was refused, or the ledger did not confirm.
    Warn,
    /// `error`: a fault of the server, of its application, or of what it depends on.
    Error,
}

impl Level {
    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    fn of(code: &str) -> Self {
        match code {
            "invalid_argument"
            | "invalid_key"
            | "entropy_unavailable"
            | "accept_unavailable"
            | "ledger_unavailable"
            | "ledger_unfit" => Self::Error,
            _ => Self::Warn,
        }
    }
}

/// A refusal or a failure: for the log, and for the author's hook. It holds no token and no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Refused<'a> {
    /// The codec's time: `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub time: String,
    /// Whose fault it is.
    pub level: Level,
    /// A code of [`Error`](sealwax::Error), or one of a guard, as docs/refusals.md lists them.
    pub code: &'a str,
    /// The kind of thing that was refused.
    #[cfg_attr(test, schemars(rename = "kind"))]
    pub item: Item,
    /// The method of the message, as the client named it; `None` if it is over 1,024 bytes.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub method: Option<String>,
    /// Whether the method is none of the protocol's: a client may have made it up, so that a metric must
    /// not grow by its name.
    #[cfg_attr(
        test,
        schemars(rename = "customMethod", skip_serializing_if = "is_false")
    )]
    pub custom_method: bool,
    /// The target of the request, as the client named it: a tool, a prompt or a resource; `None` if it
    /// is over 1,024 bytes.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub target: Option<String>,
    /// The issuer of the caller, once the caller is known.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub issuer: Option<String>,
    /// The client of the caller.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub client: Option<String>,
    /// The subject of the caller.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub subject: Option<String>,
    /// The token id, or the ulid, if it can be read. It is verified only if the token opened.
    #[cfg_attr(test, schemars(skip_serializing_if = "Option::is_none"))]
    pub id: Option<String>,
    /// The expected and the found value.
    pub message: String,
    /// All of it but time and level, as one line of ASCII. Texts that others chose are JSON strings of
    /// at most 64 characters.
    pub line: String,
}

/// A mistake that an adapter found by itself, for [`Guard::report`]: in a transport, in a function of
/// the author, in what a handler gave.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    /// The kind of thing that it concerns.
    pub item: Item,
    /// The method of the message.
    pub method: Option<&'a str>,
    /// The target of the request.
    pub target: Option<&'a str>,
    /// The caller.
    pub principal: Option<&'a Principal>,
    /// The token id, or the ulid.
    pub id: Option<String>,
    /// The expected and the found value. It must not quote other code's exceptions, which may hold a
    /// credential.
    pub message: String,
}

impl Fault<'_> {
    /// Returns one that belongs to no message.
    #[must_use]
    pub fn new(item: Item, message: impl Into<String>) -> Self {
        Self {
            item,
            method: None,
            target: None,
            principal: None,
            id: None,
            message: message.into(),
        }
    }

    pub(super) fn entry(self, code: &str, level: Level, now_ms: u64) -> Refused<'_> {
        let line = self.line(code);
        let named = self.principal.and_then(Principal::parts);
        let owned = |text: Option<&str>| text.map(Into::into);
        Refused {
            time: time(now_ms),
            level,
            code,
            item: self.item,
            method: owned(short(self.method)),
            custom_method: self.method.is_some_and(is_custom),
            target: owned(short(self.target)),
            issuer: owned(named.and_then(|named| named.issuer)),
            client: owned(named.and_then(|named| named.client)),
            subject: owned(named.and_then(|named| named.subject)),
            id: self.id,
            message: self.message,
            line,
        }
    }

    fn line(&self, code: &str) -> String {
        let named = self.principal.and_then(Principal::parts);
        let mut line = ["sealwax: ", code, " kind=", self.item.name()].concat();
        for (name, text) in [
            (" method=", self.method.filter(|method| !method.is_empty())),
            (" target=", self.target),
            (" issuer=", named.and_then(|named| named.issuer)),
            (" client=", named.and_then(|named| named.client)),
            (" subject=", named.and_then(|named| named.subject)),
        ] {
            if let Some(text) = text {
                line += name;
                quote(text, 64, &mut line);
            }
        }
        if let Some(id) = &self.id {
            line += " id=";
            line += id;
        }
        line += " message=";
        quote(&self.message, 500, &mut line);
        line
    }
}

impl<'c> Refused<'c> {
    /// Returns the entry for a mistake that belongs to no guard, by the time in Unix milliseconds.
    #[must_use]
    pub fn of(code: &'c str, fault: Fault<'_>, now_ms: u64) -> Self {
        fault.entry(code, Level::of(code), now_ms)
    }
}

impl Guard {
    /// Returns the entry for a mistake that the adapter found by itself: its log writes no other ones.
    ///
    /// ```
    /// use sealwax::{Codec, Key, KeyRing};
    /// use sealwax_mcp::{Fault, Guard, Item};
    ///
    /// let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// let guard = Guard::builder(codec).build()?;
    /// let fault = Fault::new(Item::Session, "on_refused: it panicked");
    /// let entry = guard.report("invalid_argument", fault);
    /// assert_eq!(
    ///     entry.line,
    ///     r#"sealwax: invalid_argument kind=session message="on_refused: it panicked""#
    /// );
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    #[must_use]
    pub fn report<'c>(&self, code: &'c str, fault: Fault<'_>) -> Refused<'c> {
        Refused::of(code, fault, self.now_ms())
    }
}

/// A client may name anything: what is no name is left out.
pub(super) fn short(text: Option<&str>) -> Option<&str> {
    text.filter(|text| (1..=FIELD_LIMIT).contains(&text.len()))
}

fn time(now_ms: u64) -> String {
    let mut time = rfc3339(now_ms / 1000).unwrap_or_default();
    time.pop();
    let _ = write!(time, ".{:03}Z", now_ms % 1000);
    time
}

/// Appends a text that others chose, as a JSON string in ASCII: it neither breaks a line nor fills the
/// log.
fn quote(text: &str, most: usize, line: &mut String) {
    line.push('"');
    for c in text.chars().take(most) {
        match c {
            '"' | '\\' => line.extend(['\\', c]),
            ' '..='~' => line.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(line, "\\u{unit:04x}");
                }
            }
        }
    }
    line.push('"');
}

#[cfg(test)]
mod tests {
    use super::{Fault, Level, time};
    use crate::step::Item;
    use sealwax::Principal;

    #[test]
    fn a_line_has_every_field_in_its_order() {
        let alice = Principal::subject("alice").with_issuer("https://idp.example.com");
        let fault = Fault {
            method: Some("tools/call"),
            target: Some("add_todo"),
            principal: Some(&alice),
            id: Some("01".into()),
            ..Fault::new(Item::Session, "expired at 7, and it is 9")
        };
        assert_eq!(
            fault.line("expired"),
            "sealwax: expired kind=session method=\"tools/call\" target=\"add_todo\" \
             issuer=\"https://idp.example.com\" subject=\"alice\" id=01 \
             message=\"expired at 7, and it is 9\""
        );
    }

    #[test]
    fn foreign_texts_are_ascii_on_one_line_and_cut() {
        let long = "é".repeat(65);
        for (given, written) in [
            ("a \"b\" \\", r#""a \"b\" \\""#.to_owned()),
            ("\n\u{1b}[2J\u{7f}", r#""\u000a\u001b[2J\u007f""#.into()),
            ("\u{1f511}", r#""\ud83d\udd11""#.into()),
            (&long, format!("\"{}\"", r"\u00e9".repeat(64))),
        ] {
            let fault = Fault {
                target: Some(given),
                ..Fault::new(Item::Cursor, given)
            };
            let line = fault.line("used");
            assert!(line.contains(&format!(" target={written} ")), "{line}");
            let read: String = serde_json::from_str(&written).unwrap();
            assert!(given.starts_with(&read), "{read}");
        }
        let filling = Fault::new(Item::Cursor, "x".repeat(501)).line("used");
        assert!(filling.ends_with(&format!("={:?}", "x".repeat(500))));
    }

    #[test]
    fn a_name_over_1024_bytes_is_in_the_line_alone() {
        let (fits, long) = ("x".repeat(1024), "x".repeat(1025));
        for (name, kept) in [(&fits, true), (&long, false)] {
            let fault = Fault {
                method: Some(name),
                target: Some(name),
                ..Fault::new(Item::Cursor, "why")
            };
            let entry = fault.entry("used", Level::Warn, 0);
            assert_eq!(
                (entry.method.is_some(), entry.target.is_some()),
                (kept, kept)
            );
            assert!(
                entry
                    .line
                    .contains(&format!(" target={:?} ", "x".repeat(64)))
            );
        }
    }

    #[test]
    fn times_have_milliseconds() {
        assert_eq!(time(1_800_000_000_000), "2027-01-15T08:00:00.000Z");
        assert_eq!(time(1_800_000_000_012), "2027-01-15T08:00:00.012Z");
    }
}
