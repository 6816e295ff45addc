//! Stores that say anything: the reader of a ledger's replies. What a Redis answers, a property of the store machine has
//! (mcp/src/ledger/redis.rs); any commands and records, tests/ledger/evaluate.py beside the Lua, and tests/ledger/model.py
//! at every store, that in memory too.

use arbitrary::Arbitrary;
use sealwax_mcp::ledger::{Reply, Script};

use crate::world::NOW;

#[derive(Arbitrary, Clone, Copy, Debug)]
enum AnyScript {
    Open,
    Admit,
    Commit,
    Revoke,
}

/// A text of a reply.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Text<'a> {
    Ok,
    Word(u8),
    Digit(u8),
    Time(i16),
    Number(u64),
    Id(u8),
    Dash,
    Given(&'a str),
}

#[rustfmt::skip]
const WORDS: [&str; 22] = [
    "used", "ended", "revoked", "unknown", "expired", "stale", "ahead", "full", "lost", "broken", "unconfirmed", "unsupported",
    "once", "unused", "live", "end", "idle", "head", "force", "1.2.3", "", "ok ",
];

impl AnyScript {
    fn script(self) -> Script {
        match self {
            Self::Open => Script::Open,
            Self::Admit => Script::Admit,
            Self::Commit => Script::Commit,
            Self::Revoke => Script::Revoke,
        }
    }
}

impl Text<'_> {
    fn text(&self) -> String {
        match self {
            Self::Ok => "ok".into(),
            Self::Word(at) => WORDS[usize::from(*at) % WORDS.len()].into(),
            Self::Digit(digit) => (digit % 10).to_string(),
            Self::Time(later) => NOW.saturating_add_signed((*later).into()).to_string(),
            Self::Number(number) => number.to_string(),
            Self::Id(id) => format!("{:032x}", id % 4),
            Self::Dash => "-".into(),
            Self::Given(text) => (*text).into(),
        }
    }
}

pub fn run(input: &[u8]) -> bool {
    let Some((script, reply)) = crate::read::<(AnyScript, Vec<Text<'_>>)>(input) else {
        return false;
    };
    let texts: Vec<_> = reply.iter().map(Text::text).collect();
    replied(script.script(), &texts)
}

/// Only what says `ok` was done.
fn replied(script: Script, texts: &[String]) -> bool {
    let reply = Reply::of(script, texts);
    let first = texts.first().map(String::as_str);
    match &reply {
        Reply::Done(_) => assert_eq!(first, Some("ok")),
        Reply::Refused { place, .. } => {
            let verdicts = ["used", "ended", "revoked", "unknown", "expired", "stale"];
            assert!(verdicts.contains(&first.unwrap()));
            assert!(script == Script::Admit || (script, *place) == (Script::Commit, 0));
        }
        Reply::Failed(failure) => {
            assert_ne!(first, Some("ok"));
            let _ = failure.to_string();
        }
        _ => {}
    }
    matches!(reply, Reply::Done(_))
}
