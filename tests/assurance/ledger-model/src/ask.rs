//! What a guard asks its ledger (LEDGER.md, "Commands").

use sealwax_mcp::ledger::{CEILING, Command, Script};

/// Ends and uses are kept for so much longer than the token, in seconds.
pub const MARGIN: u64 = 300;

/// A token, and what the ledger is asked about it.
pub struct Subject {
    pub kind: char,
    pub id: String,
    pub mode: &'static str,
    pub issued: u64,
    pub started: u64,
    pub until: u64,
    pub details: [String; 3],
}

/// The time until which a token of this end is remembered.
pub fn until(end: Option<u64>, started: u64) -> u64 {
    let longest = started + CEILING.as_secs() + MARGIN;
    end.map_or(longest, |end| longest.min(end + MARGIN))
}

/// The key of an end: what follows the namespace.
pub fn ended(kind: char, id: &str) -> String {
    format!("e:{kind}:{id}")
}

pub fn key(label: u8, rest: &str) -> String {
    format!("swl1:{{{label}}}:{rest}")
}

pub fn open(label: u8) -> Command {
    let keys = ["began", "fence"].map(|rest| key(label, rest));
    Command::new(Script::Open, keys.into(), Vec::new())
}

pub fn admit(label: u8, tolerance: u64, attempt: &str, subjects: Vec<Subject>) -> Command {
    let mut keys = ["began", "fence", "p:alice"]
        .map(|rest| key(label, rest))
        .to_vec();
    let mut args = vec![attempt.to_owned(), tolerance.to_string(), "0".to_owned()];
    for subject in subjects {
        let Subject { kind, id, mode, .. } = &subject;
        let of_mode = match (*mode, kind) {
            ("once" | "unused", _) => format!("u:{kind}:{id}"),
            ("idle", _) => format!("i:{kind}:{id}"),
            ("head", _) | ("end" | "force", 's') => format!("h:s:{id}"),
            _ => ended(*kind, id),
        };
        keys.extend([of_mode, ended(*kind, id)].map(|rest| key(label, &rest)));
        args.push((*mode).to_owned());
        args.extend([subject.issued, subject.started, subject.until].map(|time| time.to_string()));
        args.extend(subject.details);
    }
    Command::new(Script::Admit, keys, args)
}

pub fn commit(label: u8, session: u8, seen: (String, u32), token: String, until: u64) -> Command {
    let session = session.to_string();
    let keys = [format!("h:s:{session}"), ended('s', &session)].map(|rest| key(label, &rest));
    let args = vec![
        seen.0,
        seen.1.to_string(),
        token.clone(),
        until.to_string(),
        format!("S{token}"),
    ];
    Command::new(Script::Commit, keys.into(), args)
}

pub fn revoke(label: u8, now: u64) -> Command {
    let retain_for = CEILING.as_secs() + MARGIN;
    Command::new(
        Script::Revoke,
        vec![key(label, "p:alice")],
        vec![retain_for.to_string(), now.to_string()],
    )
}
