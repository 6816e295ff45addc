//! The engine by its documents: whatever JSON an adapter hands in, JSON comes out, a client's message never makes it fail,
//! an event out of order changes nothing, and what is delivered is what a handler handed over. For which caller and which request,
//! the target `engine` says.

use std::collections::HashSet;

use arbitrary::Arbitrary;
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::{Exchange, Failed, Guard, document};
use serde_json::{Map, Value};

use crate::told;
use crate::world::{NOW, Ring, Still};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    settings: Option<Document<'a>>,
    calls: Vec<Call<'a>>,
}

#[derive(Arbitrary, Debug)]
enum Call<'a> {
    Message(Document<'a>, Option<Node<'a>>),
    Transport(Document<'a>, Option<Node<'a>>),
    Revoke(Document<'a>),
    Report(Document<'a>),
    On(u8, Document<'a>, Option<Node<'a>>),
    /// The store does what it is asked.
    Store(u8),
    Handle(u8, Document<'a>, Option<Node<'a>>),
    Seal(u8),
    /// By a function, from 128 on.
    Write(u8, Node<'a>),
    Fork(u8),
}

/// A document that makes sense somewhere, with other members; or whatever this is.
#[derive(Arbitrary, Debug)]
enum Document<'a> {
    Known(u8, Vec<(Name<'a>, Node<'a>)>),
    Node(Node<'a>),
    Text(&'a str),
}

#[derive(Arbitrary, Debug)]
enum Node<'a> {
    Null,
    Bool(bool),
    Number(i64),
    /// A token that left.
    Token(u8),
    Word(u8),
    Text(&'a str),
    Array(Vec<Self>),
    Object(Vec<(Name<'a>, Self)>),
}

#[derive(Arbitrary, Debug)]
enum Name<'a> {
    Known(u8),
    Given(&'a str),
}

/// What makes a handler's value known in whatever comes out.
const VALUE: &str = "s3cr3t";

#[rustfmt::skip]
const KNOWN: &[&str] = &[
    r#"{"method":"tools/call","target":"t","modern":true,"principal":{"subject":"alice"}}"#,
    r#"{"method":"tools/call","target":"t","principal":{"subject":"bob"}}"#,
    r#"{"method":"tools/list","principal":{"subject":"alice"}}"#, r#"{"method":"sessions/create"}"#,
    r#"{"method":"sessions/delete","session":{}}"#, r#"{"http":"POST","method":"initialize","principal":{"subject":"alice"}}"#,
    r#"{"http":"DELETE","principal":{"subject":"alice"}}"#, r#"{"subject":"alice"}"#, "null",
    r#"{"result":{"error":true}}"#, r#"{"anonymous":true}"#, r#"["ok","0"]"#, r#"["ok"]"#,
    r#"{"count":0}"#, "0", r#"{"broke":"no"}"#, r#"{"op":"check","type":"basket"}"#,
    r#"{"result":{"members":{"resultType":"input_required","requestState":"s3cr3t one"}}}"#,
    r#"{"result":{"members":{"nextCursor":"s3cr3t two","cacheScope":"public"}}}"#, r#"{"result":{}}"#,
    r#"{"op":"mint","type":"basket"}"#, r#"{"op":"seal","type":"cart"}"#, r#"{"op":"open","type":"cart"}"#, r#"{"op":"end","type":"basket"}"#,
    r#"{"subject":"alice"}"#, r#"{"code":"expired","kind":"session","message":"m"}"#, r#"{"sessions":{},"ledger":{"local":true}}"#, "{}",
    r#"{"op":"sealLink","type":"report"}"#, r#"{"op":"cursor","type":"cursor"}"#, r#"{"op":"position","type":"cursor"}"#,
];

#[rustfmt::skip]
const WORDS: &[&str] = &[
    "method", "target", "modern", "notification", "header", "token", "session", "id", "state", "principal", "withinMs", "issuer",
    "client", "subject", "anonymous", "nobody", "failed", "local", "clockTolerance", "acceptIssuedSince", "ledger", "methods", "opened", "issuedAt", "tools",
    "result", "members", "resultType", "cacheScope", "ttlMs", "requestState", "nextCursor", "noMeta", "error", "begun", "op", "type",
    "handle", "maxAge", "ttl", "predecessor", "once", "selfContained", "startedAt", "generation", "until", "http", "version",
    "messageSessionId", "noExpiry", "events", "requestStateTtl", "declares", "only", "sessions", "heldByServer", "required",
    "transport", "sep1359", "idle", "timeLimitMs", "label", "reusableRequestState", "alice", "tools/call", "input_required", "1",
    "keep", "by", "list", "cursor",
];

impl Node<'_> {
    fn value(&self, tokens: &[String]) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(it) => (*it).into(),
            Self::Number(it) => (*it).into(),
            Self::Token(at) => {
                let at = usize::from(*at).checked_rem(tokens.len());
                at.map_or(Value::Null, |at| {
                    tokens[tokens.len() - 1 - at].as_str().into()
                })
            }
            Self::Word(at) => WORDS[usize::from(*at) % WORDS.len()].into(),
            Self::Text(text) => text.replace(VALUE, "").into(),
            Self::Array(items) => items.iter().map(|item| item.value(tokens)).collect(),
            Self::Object(members) => object(members, tokens).into(),
        }
    }
}

fn object(members: &[(Name<'_>, Node<'_>)], tokens: &[String]) -> Map<String, Value> {
    let members = members.iter().map(|(name, node)| {
        let name = match name {
            Name::Known(at) => WORDS[usize::from(*at) % WORDS.len()],
            Name::Given(name) => name,
        };
        (name.to_owned(), node.value(tokens))
    });
    members.collect()
}

impl Document<'_> {
    fn text(&self, tokens: &[String]) -> String {
        match self {
            Self::Known(at, members) => {
                let mut known: Value =
                    serde_json::from_str(KNOWN[usize::from(*at) % KNOWN.len()]).unwrap();
                if let Value::Object(known) = &mut known {
                    known.extend(object(members, tokens));
                }
                known.to_string()
            }
            Self::Node(node) => node.value(tokens).to_string(),
            Self::Text(text) => text.replace(VALUE, ""),
        }
    }
}

struct Begun {
    exchange: Exchange,
    /// The last step.
    step: Value,
}

struct Run {
    guard: Guard,
    memory: Memory,
    exchanges: Vec<Begun>,
    /// What left.
    tokens: Vec<String>,
    /// What handlers handed over to be sealed.
    handed: HashSet<String>,
    opened: bool,
}

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let codec = sealwax::Codec::builder(Ring::NewOld.ring(), "urn:fuzz")
        .build_in(Still::new())
        .unwrap();
    let settings = input
        .settings
        .as_ref()
        .map_or("{}".into(), |settings| settings.text(&[]));
    let Ok(guard) = document::guard(codec, &settings) else {
        return false;
    };
    let mut run = Run {
        guard,
        memory: Memory::new(Memory::CAPACITY, NOW - 3600),
        exchanges: Vec::new(),
        tokens: Vec::new(),
        handed: HashSet::new(),
        opened: false,
    };
    for call in input.calls.iter().take(24) {
        run.call(call);
    }
    run.opened
}

impl Run {
    fn call(&mut self, call: &Call<'_>) {
        let text = |node: &Option<Node<'_>>, tokens: &[String]| {
            node.as_ref().map(|node| node.value(tokens).to_string())
        };
        match call {
            Call::Message(message, arguments) => {
                let (message, arguments) =
                    (message.text(&self.tokens), text(arguments, &self.tokens));
                let message = serde_json::from_str(&message).unwrap_or_default();
                self.begun(told::message(&self.guard, &message, arguments.as_deref()));
            }
            Call::Transport(message, initialize) => {
                let (message, initialize) =
                    (message.text(&self.tokens), text(initialize, &self.tokens));
                let message = serde_json::from_str(&message).unwrap_or_default();
                self.begun(told::transport(
                    &self.guard,
                    &message,
                    initialize.as_deref(),
                ));
            }
            Call::Revoke(principal) => {
                if let Ok(begun) =
                    document::revoke(&self.guard, &principal.text(&self.tokens), None)
                {
                    self.begun(begun);
                }
            }
            Call::Report(fault) => {
                if let Ok(entry) = document::report(&self.guard, &fault.text(&self.tokens)) {
                    let entry: Value = serde_json::from_str(&entry).unwrap();
                    assert!(
                        entry["line"]
                            .as_str()
                            .is_some_and(|line| line.is_ascii() && !line.contains('\n'))
                    );
                }
            }
            Call::On(which, event, value) => {
                let (event, value) = (event.text(&self.tokens), text(value, &self.tokens));
                self.on(*which, &event, value.as_deref());
            }
            Call::Store(which) => {
                let Some(at) = self.which(*which) else { return };
                let step = &self.exchanges[at].step;
                if step["name"] == "ledger" {
                    let reply = document::run(&mut self.memory, &step.to_string(), NOW).unwrap();
                    self.on(*which, &reply, None);
                }
            }
            Call::Handle(which, op, value) => {
                let Some(at) = self.which(*which) else { return };
                let (op, value) = (op.text(&self.tokens), text(value, &self.tokens));
                if let Ok(begun) =
                    document::handle(&self.exchanges[at].exchange, &op, value.as_deref())
                {
                    self.begun(begun);
                }
            }
            Call::Seal(which) => {
                let Some(at) = self.which(*which) else { return };
                let value = format!("\"{VALUE} {}\"", self.tokens.len());
                self.tokens
                    .extend(self.exchanges[at].exchange.seal_state(&value));
                self.handed.insert(value);
            }
            Call::Write(which, value) => {
                let Some(at) = self.which(*which) else { return };
                let value = value.value(&self.tokens).to_string();
                let _ = self.exchanges[at].exchange.write(&value);
            }
            Call::Fork(which) => {
                let Some(at) = self.which(*which) else { return };
                if let Ok(forked) = document::fork(&mut self.exchanges[at].exchange) {
                    self.left(&serde_json::from_str(&forked).unwrap());
                }
            }
        }
    }

    fn which(&self, which: u8) -> Option<usize> {
        usize::from(which).checked_rem(self.exchanges.len())
    }

    fn begun(&mut self, (exchange, step): (Exchange, String)) {
        let step = self.step(&step);
        self.exchanges.push(Begun { exchange, step });
    }

    /// Tells what was asked, or that it failed with `value`; or what became of a message.
    fn on(&mut self, which: u8, event: &str, value: Option<&str>) {
        let Some(at) = self.which(which) else { return };
        let begun = &mut self.exchanges[at];
        let exchange = &mut begun.exchange;
        let next = match (begun.step["step"] == "ask", value) {
            (true, None) => document::told(exchange, Ok(event)),
            (true, Some(why)) => document::told(exchange, Err(Failed::Wrong(why.into()))),
            (false, value) => document::on(exchange, event, value),
        };
        let Ok(step) = next else { return };
        let ends = ["respond", "reply", "done", "drop"].map(Value::from);
        assert!(!ends.contains(&begun.step["step"]), "it was over");
        // An answer that is no JSON is a failure of who was asked.
        let event: Value = serde_json::from_str(event).unwrap_or_default();
        let members = &event["result"]["members"];
        let handed = ["requestState", "nextCursor"].map(|name| members[name].as_str());
        self.handed
            .extend(handed.into_iter().flatten().map(Into::into));
        let step = self.step(&step);
        self.exchanges[at].step = step;
    }

    /// Reads a step, and keeps what leaves with it.
    fn step(&mut self, step: &str) -> Value {
        let step: Value = serde_json::from_str(step).expect("JSON");
        assert!(step["step"].is_string());
        let quiet = [
            &step["refused"],
            &step["events"],
            &step["error"],
            &step["tool"],
        ];
        assert!(
            quiet.iter().all(|said| !said.to_string().contains(VALUE)),
            "{step}"
        );
        if let Some(opened) = step["opened"].as_str() {
            assert!(self.handed.contains(opened), "a handler handed it over");
            self.opened = true;
        }
        self.left(&step);
        step
    }

    /// Keeps the tokens in a document.
    fn left(&mut self, document: &Value) {
        match document {
            Value::String(text)
                if text.starts_with("sw1.") || text.starts_with("sess_") || text.contains("_0") =>
            {
                self.tokens.push(text.clone());
            }
            // Such as a result, which is JSON within.
            Value::String(text) if text.starts_with('{') => {
                if let Ok(inner) = serde_json::from_str::<Value>(text) {
                    self.left(&inner);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.left(item)),
            Value::Object(members) => members.values().for_each(|value| self.left(value)),
            _ => {}
        }
    }
}
