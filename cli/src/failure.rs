//! A failure of the command: the text on stderr, and the exit status.

use std::fmt::Display;

use sealwax::Error;
use sealwax::report::{moment, told};

use crate::step::Answer;

/// A token, an id or a handle is refused, or a store is not fit to be a ledger.
const REFUSED: u8 = 1;
/// The arguments, the input or the system is at fault.
const FAILED: u8 = 2;

/// The flags for the names at the start of the core's messages.
const FLAGS: [(&str, &str); 13] = [
    ("arguments", "--arguments"),
    ("audience", "--audience"),
    ("client", "--client"),
    ("context", "--context, or --method and --target"),
    ("handle type", "--type"),
    ("id", "--id"),
    ("issuer", "--issuer"),
    ("kind", "--kind"),
    ("label", "--label"),
    ("method", "--method"),
    ("session id", "--session-id"),
    ("subject", "--subject"),
    ("target", "--target"),
];

pub(crate) struct Failure {
    status: u8,
    code: Option<&'static str>,
    why: String,
    /// The remedy, if the reason does not name it.
    tip: Option<String>,
}

impl Failure {
    /// Returns the failure for a store that is not fit to be a ledger.
    pub fn unfit(why: impl Into<String>) -> Self {
        Self::new(REFUSED, Some("ledger_unfit"), why)
    }

    /// Returns the failure for a store that cannot be used. It has no URL, which may hold a
    /// password.
    pub fn store(why: impl Into<String>) -> Self {
        Self::new(FAILED, Some("ledger_unavailable"), why)
            .tip("check the URL, that the store is up, and that it may be used from here")
    }

    pub fn no_ledger(path: &str) -> Self {
        let why = format!("no file {path}");
        Self::new(FAILED, Some("ledger_unavailable"), why)
            .tip("`sealwax ledger begin` makes one, as a server does at its start")
    }

    /// Returns the failure for what could not be read.
    pub fn unread(place: &str, answer: &Answer) -> Self {
        let (why, tip) = match answer {
            Answer::Failed { why, tip } => (why.as_str(), tip.clone()),
            Answer::Absent => ("no such file", None),
            Answer::Link => (
                "expected a file, found a symbolic link, such as that of a mounted Secret",
                Some("change the file that the Secret is made of, then the Secret".into()),
            ),
            _ => ("expected another answer", None),
        };
        Self {
            tip,
            ..Self::new(FAILED, None, format!("{place}: {why}"))
        }
    }

    /// Returns the failure of sealing: the fault is always in the given values.
    pub fn of_sealing(error: Error) -> Self {
        Self {
            status: FAILED,
            ..error.into()
        }
    }

    pub fn tip(mut self, tip: impl Into<String>) -> Self {
        self.tip = Some(tip.into());
        self
    }

    pub fn without_tip(mut self) -> Self {
        self.tip = None;
        self
    }

    /// Prefixes the place where the faulty value was read.
    pub fn found_in(mut self, place: impl Display) -> Self {
        self.why = format!("{place}: {}", self.why);
        self
    }

    /// Names the flag of this command instead of another command's.
    pub fn by(mut self, other: &str, flag: &str) -> Self {
        self.why = self.why.replacen(other, flag, 1);
        self
    }

    pub fn status(&self) -> u8 {
        self.status
    }

    /// Returns what is printed; its advice names this program.
    pub fn text(&self, program: &str) -> String {
        let mut text = String::from("sealwax: ");
        for part in self.code.iter().copied().chain([self.why.as_str()]) {
            if text.len() > "sealwax: ".len() {
                text.push_str(": ");
            }
            text.push_str(part);
        }
        if let Some(tip) = &self.tip {
            text.push_str("\n  tip: ");
            text.push_str(&tip.replace("`sealwax ", &format!("`{program} ")));
        }
        without_keys(&text)
    }

    fn new(status: u8, code: Option<&'static str>, why: impl Into<String>) -> Self {
        Self {
            status,
            code,
            why: why.into(),
            tip: None,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self {
            status: if error.is_refusal() { REFUSED } else { FAILED },
            code: Some(error.code()),
            tip: tip(&error),
            why: by_flag(error.to_string()),
        }
    }
}

/// Leaves out key texts, which the user may have given where a path or an id belongs.
fn without_keys(text: &str) -> String {
    let mut pieces = text.split("swk1_");
    let mut safe = String::from(pieces.next().unwrap_or_default());
    for piece in pieces {
        let of_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        safe.push_str("swk1_…");
        safe.push_str(piece.trim_start_matches(of_key));
    }
    safe
}

fn by_flag(message: String) -> String {
    let flag = message.split_once(": ").and_then(|(field, why)| {
        let (_, flag) = FLAGS.iter().find(|(known, _)| *known == field)?;
        Some(format!("{flag}: {why}"))
    });
    flag.unwrap_or(message)
}

fn tip(error: &Error) -> Option<String> {
    Some(match error {
        Error::TooLarge {
            what: "payload" | "token",
            ..
        } => "raise --payload-limit BYTES, to the limit of the server".into(),
        Error::Malformed(_) | Error::WrongPurpose { .. } => {
            "`sealwax inspect` identifies a text".into()
        }
        Error::Unsupported(_) => "a newer release may know it".into(),
        Error::UnknownKey(_) => "give the key that made it in SEALWAX_KEYS or --key-file".into(),
        Error::Unauthentic => {
            "give the bindings that the server used: --audience and, if it has them, --label, \
             --session-id, --context (or --method, --target and --arguments)"
                .into()
        }
        Error::PrincipalMismatch => {
            "give --issuer, --client and --subject as when it was issued, or --anonymous".into()
        }
        Error::NotYetValid { issued_at, now } => format!(
            "it was issued at {}, {} from now; --clock-tolerance allows for 5m at most",
            moment(*issued_at),
            told(issued_at.saturating_sub(*now)),
        ),
        Error::Expired { at, now } => format!(
            "it ended at {}, {} ago",
            moment(*at),
            told(now.saturating_sub(*at)),
        ),
        _ => return None,
    })
}
