//! The log: an entry for each refusal and each failure, and its line, the same in every language.

use std::fmt::Write;
use std::sync::Arc;

use crate::guard::Guard;
use crate::message::method::METHODS;
use crate::message::text::rfc3339;
use crate::reply::answer::FIELD_LIMIT;
use crate::reply::step::Item;
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
            | "ledger_unavailable"
            | "ledger_unfit" => Self::Error,
            _ => Self::Warn,
        }
    }
}

/// The message that an entry or an event belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The method, as the client named it; `None` if it is over 1,024 bytes.
    pub method: Option<Arc<str>>,
    /// The target of the request, as the client named it: a tool, a prompt or a resource; `None` if it
    /// is over 1,024 bytes.
    pub target: Option<Arc<str>>,
    /// The caller, once it is known.
    pub principal: Option<Arc<Principal>>,
}

impl Origin {
    /// Returns that of a message, by what a client named.
    #[must_use]
    pub fn new(method: Option<Arc<str>>, target: Option<Arc<str>>) -> Self {
        // What is so long is no name.
        let is_name = |text: &Arc<str>| (1..=FIELD_LIMIT).contains(&text.len());
        Self {
            method: method.filter(is_name),
            target: target.filter(is_name),
            principal: None,
        }
    }

    /// Returns whether the method is none of the protocol's: a client may have made it up, so that a
    /// metric must not grow by its name.
    #[must_use]
    pub fn has_custom_method(&self) -> bool {
        let method = self.method.as_deref();
        method.is_some_and(|method| !METHODS.contains(&method))
    }

    /// Returns its texts, by their names.
    pub(crate) fn texts(&self) -> [(&'static str, Option<&str>); 5] {
        let named = self.principal.as_deref().and_then(Principal::parts);
        [
            ("method", self.method.as_deref()),
            ("target", self.target.as_deref()),
            ("issuer", named.and_then(|named| named.issuer)),
            ("client", named.and_then(|named| named.client)),
            ("subject", named.and_then(|named| named.subject)),
        ]
    }
}

/// A refusal or a failure: for the log, and for the author's hook. It holds no token and no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused<'a> {
    /// The codec's time: `YYYY-MM-DDTHH:MM:SS.mmmZ`.
    pub time: String,
    /// Whose fault it is.
    pub level: Level,
    /// A code of [`Error`](sealwax::Error), or one of a guard, as docs/refusals.md lists them.
    pub code: &'a str,
    /// The kind of thing that was refused.
    pub item: Item,
    /// The message that it belongs to.
    pub origin: Origin,
    /// The token id, or the ulid, if it can be read. It is verified only if the token opened.
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
#[non_exhaustive]
pub struct Fault {
    /// The kind of thing that it concerns.
    pub item: Item,
    /// The message that it belongs to.
    pub origin: Origin,
    /// The token id, or the ulid.
    pub id: Option<String>,
    /// The expected and the found value. It must not quote other code's exceptions, which may hold a
    /// credential.
    pub message: String,
}

impl Fault {
    /// Returns one that belongs to no message.
    #[must_use]
    pub fn new(item: Item, message: impl Into<String>) -> Self {
        Self {
            item,
            origin: Origin::default(),
            id: None,
            message: message.into(),
        }
    }

    pub(crate) fn entry(self, code: &str, level: Level, now_ms: u64) -> Refused<'_> {
        Refused {
            time: time(now_ms),
            level,
            code,
            item: self.item,
            line: self.line(code),
            origin: self.origin,
            id: self.id,
            message: self.message,
        }
    }

    fn line(&self, code: &str) -> String {
        let mut line = String::from("sealwax: ");
        line += code;
        line += " kind=";
        line += self.item.name();
        for (name, text) in self.origin.texts() {
            if let Some(text) = text {
                line += " ";
                line += name;
                line += "=";
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
    pub fn of(code: &'c str, fault: Fault, now_ms: u64) -> Self {
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
    pub fn report<'c>(&self, code: &'c str, fault: Fault) -> Refused<'c> {
        Refused::of(code, fault, self.now_ms())
    }
}

fn time(now_ms: u64) -> String {
    let seconds = rfc3339(now_ms / 1000).unwrap_or_default();
    let seconds = seconds.strip_suffix("Z").unwrap_or_default();
    format!("{seconds}.{:03}Z", now_ms % 1000)
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
    use super::Fault;
    use crate::reply::step::Item;

    #[test]
    fn foreign_texts_are_ascii_on_one_line_and_cut() {
        let long = "é".repeat(65);
        for (given, written) in [
            ("a \"b\" \\", r#""a \"b\" \\""#.to_owned()),
            ("\n\u{1b}[2J\u{7f}", r#""\u000a\u001b[2J\u007f""#.into()),
            ("\u{1f511}", r#""\ud83d\udd11""#.into()),
            (&long, format!("\"{}\"", r"\u00e9".repeat(64))),
        ] {
            let mut fault = Fault::new(Item::Cursor, given);
            fault.origin.target = Some(given.into());
            let line = fault.line("used");
            assert!(line.contains(&format!(" target={written} ")), "{line}");
            let read: String = serde_json::from_str(&written).unwrap();
            assert!(given.starts_with(&read), "{read}");
        }
        let filling = Fault::new(Item::Cursor, "x".repeat(501)).line("used");
        assert!(filling.ends_with(&format!("={:?}", "x".repeat(500))));
    }
}
