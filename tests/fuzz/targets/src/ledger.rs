//! Stores that say anything: the reader of a ledger's replies, the evaluation of any records, and the ledger in memory beside a
//! plain map. What a Redis answers, a property of the store machine has (mcp/src/ledger/redis.rs).

use std::collections::HashMap;

use arbitrary::Arbitrary;
use sealwax_mcp::document;
use sealwax_mcp::ledger::{Command, Memory, Reply, Script};
use serde_json::{Value, json};

use crate::world::NOW;

#[derive(Arbitrary, Debug)]
enum Input<'a> {
    Reply(AnyScript, Vec<Text<'a>>),
    Evaluate {
        command: AnyCommand<'a>,
        later: i16,
        values: Vec<Option<Vec<Text<'a>>>>,
    },
    Memory {
        capacity: u32,
        commands: Vec<(u8, AnyCommand<'a>)>,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum AnyScript {
    Open,
    Admit,
    Commit,
    Revoke,
}

/// A text of a command, of a record or of a reply.
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

#[derive(Arbitrary, Debug)]
struct AnyCommand<'a> {
    script: AnyScript,
    /// Of a valid form, of these tokens.
    tokens: Vec<(Text<'a>, u8, [Text<'a>; 6])>,
    first: [Text<'a>; 5],
    /// Or whatever this is.
    other: Option<(Vec<Text<'a>>, Vec<Text<'a>>)>,
}

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

fn texts(texts: &[Text<'_>]) -> Vec<String> {
    texts.iter().map(Text::text).collect()
}

impl AnyCommand<'_> {
    fn command(&self) -> Command {
        let script = self.script.script();
        if let Some((keys, args)) = &self.other {
            return Command::new(script, texts(keys), texts(args));
        }
        let key = |what: &str, id: u8| format!("swl1:{{0}}:{what}:{:02x}", id % 4);
        let mut args = texts(&self.first);
        let mut keys = match script {
            Script::Admit => {
                args.truncate(3);
                vec![
                    "swl1:{0}:began".into(),
                    "swl1:{0}:fence".into(),
                    key("p", 0),
                ]
            }
            Script::Commit => vec![key("h:s", 0), key("e:s", 0)],
            Script::Revoke => {
                args.truncate(2);
                vec![key("p", 0)]
            }
            _ => {
                args.clear();
                vec!["swl1:{0}:began".into(), "swl1:{0}:fence".into()]
            }
        };
        if script == Script::Admit {
            for (mode, id, details) in self.tokens.iter().take(3) {
                let mode = mode.text();
                keys.push(match &*mode {
                    "once" | "unused" => key("u:r", *id),
                    "idle" => key("i:t", *id),
                    "head" => key("h:s", *id),
                    _ => key("e:s", *id),
                });
                keys.push(key("e:s", *id));
                args.push(mode);
                args.extend(texts(details));
            }
        }
        Command::new(script, keys, args)
    }
}

pub fn run(input: &[u8]) -> bool {
    match crate::read(input) {
        Some(Input::Reply(script, reply)) => replied(script.script(), &texts(&reply)),
        Some(Input::Evaluate {
            command,
            later,
            values,
        }) => {
            let values = values
                .iter()
                .map(|value| value.as_ref().map(|parts| texts(parts).join(" ")));
            evaluated(
                &command.command(),
                NOW.saturating_add_signed(later.into()),
                &values.collect::<Vec<_>>(),
            )
        }
        Some(Input::Memory { capacity, commands }) => remembered(capacity, &commands),
        None => false,
    }
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

/// Whatever is stored: a command writes under its own keys, and one that is refused nothing but the fence.
fn evaluated(command: &Command, now: u64, values: &[Option<String>]) -> bool {
    let evaluated = command.evaluate(now, values);
    let known = ["ok", "unsupported", "ahead", "lost", "broken"];
    let verdict = &*evaluated.reply[0];
    assert!(
        known.contains(&verdict) || WORDS[..6].contains(&verdict),
        "{verdict}"
    );
    for write in &evaluated.writes {
        let at = command.keys.iter().position(|key| *key == write.key);
        let at = at.expect("its own keys");
        if write.value.is_some() {
            assert!(verdict == "ok" || at < 2, "{evaluated:?}");
        }
    }
    if let Some(values) = (values.len() == command.keys.len()).then_some(values) {
        let document =
            document::evaluate(&json!(command).to_string(), now, &json!(values).to_string());
        let document: Value = serde_json::from_str(&document.unwrap()).unwrap();
        assert_eq!(document, json!(evaluated));
    }
    verdict == "ok"
}

/// The ledger in memory does what the evaluation says, as a map without limits would.
fn remembered(capacity: u32, commands: &[(u8, AnyCommand<'_>)]) -> bool {
    let is_large = capacity >= 1 << 20;
    let mut memory = Memory::new(capacity as usize, NOW);
    let mut map: HashMap<String, (String, Option<u64>)> = HashMap::new();
    let began = (NOW - 1).to_string();
    map.insert("swl1:{0}:began".into(), (began.clone(), None));
    map.insert(
        "swl1:{0}:fence".into(),
        (format!("{began} - {began}"), None),
    );
    let (mut now, mut was_done) = (NOW, false);
    for (later, command) in commands.iter().take(24) {
        now += u64::from(*later);
        if command.other.is_some() {
            let _ = memory.run(&command.command(), now);
            return was_done;
        }
        let command = command.command();
        let reply = memory.run(&command, now);
        if !is_large {
            was_done |= reply[0] == "ok";
            continue;
        }
        map.retain(|_, (_, until)| until.is_none_or(|until| until > now));
        let values: Vec<_> = command
            .keys
            .iter()
            .map(|key| map.get(key).map(|(value, _)| value.clone()))
            .collect();
        let evaluated = command.evaluate(now, &values);
        assert_eq!(reply, evaluated.reply);
        for write in evaluated.writes {
            match write.value {
                Some(value) => drop(map.insert(write.key, (value, write.until))),
                None => drop(map.remove(&write.key)),
            }
        }
        was_done |= reply[0] == "ok";
    }
    was_done
}
