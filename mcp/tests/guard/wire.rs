//! Plays `tests/vectors/wire.json` on the machines: what comes in, byte by byte, and what goes out.

use sealwax_mcp::machine::{Answer, Machine, flag, kind};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::frames::{NO_TEXT, framed, made, tell};

const NOW_MS: u64 = 1_800_000_000_000;
const NEGOTIATED: &[u8] = br#"{"clientCapabilities":{},"clientInfo":{"name":"c","version":"1"},"protocolVersion":"2025-11-25","serverCapabilities":{}}"#;

/// A case on its way: the texts that stand for others, and what was said so far.
struct Case<'a> {
    case: &'a Value,
    guard: Machine,
    known: Vec<(&'static str, String)>,
    asked: Vec<Value>,
    logged: Vec<Value>,
}

impl<'a> Case<'a> {
    fn new(case: &'a Value) -> Self {
        println!("{}", case["name"]);
        let codec = Clock::at_ms(NOW_MS).codec();
        let view = codec.view(&sealwax::Principal::subject("alice")).unwrap();
        let sealed = || view.session().seal(NEGOTIATED).unwrap().into_string();
        let (one, two) = (sealed(), sealed());
        let bad = format!("{}AA", &one[..one.len() - 2]);
        let settings = case["settings"].to_string();
        let (guard, _) = framed(kind::GUARD, 0, &[Some(settings.as_bytes())], |frame| {
            Machine::guard(codec.clone(), frame).unwrap()
        });
        Self {
            case,
            guard,
            known: vec![("{t}", one), ("{u}", two), ("{bad}", bad)],
            asked: Vec::new(),
            logged: Vec::new(),
        }
    }

    /// Returns the bytes of a text of the case.
    fn bytes(&self, text: &Value) -> Vec<u8> {
        if let Some(hex) = text["hex"].as_str() {
            return base16ct::lower::decode_vec(hex).unwrap();
        }
        let mut text = text.as_str().unwrap().to_owned();
        for (name, known) in &self.known {
            text = text.replace(name, known);
        }
        text.into_bytes()
    }

    fn same(&self, found: Option<&str>, expected: &Value) {
        let expected = match expected {
            Value::Null => None,
            expected => Some(String::from_utf8(self.bytes(expected)).unwrap()),
        };
        assert_eq!(found, expected.as_deref());
    }

    /// Answers who asks for the caller; returns the next step, and its bytes.
    fn driven(&mut self, machine: &mut Machine, mut answer: Answer) -> (Value, Option<String>) {
        loop {
            let [document, text] = answer.texts;
            let step: Value = serde_json::from_str(&document.unwrap()).unwrap();
            let refused = step["refused"].as_array().into_iter().flatten();
            self.logged
                .extend(refused.map(|entry| entry["code"].clone()));
            if step["name"] != "principal" {
                return (step, text);
            }
            assert_eq!(text, None);
            self.asked.push(step["name"].clone());
            let caller = [None, None, Some(&b"alice"[..])];
            answer = tell(machine, kind::PRINCIPAL, 0, &caller).unwrap();
        }
    }

    fn made(
        &mut self,
        parent: &Machine,
        kind: u8,
        flags: u16,
        texts: &[Option<&[u8]>],
    ) -> (Machine, Value, Option<String>) {
        let (mut machine, answer) = made(Some(parent), kind, flags, texts);
        let (step, text) = self.driven(&mut machine, answer);
        (machine, step, text)
    }

    fn told(
        &mut self,
        machine: &mut Machine,
        kind: u8,
        texts: &[Option<&[u8]>],
    ) -> (Value, Option<String>) {
        let answer = tell(machine, kind, 0, texts).unwrap();
        self.driven(machine, answer)
    }

    fn over_http(&mut self, asks: bool, cuts: &[usize]) {
        let (case, http) = (self.case, &self.case["http"]);
        let value = |name: &str| match &http[name] {
            Value::Null => None,
            Value::Object(_) => Some(NO_TEXT.to_vec()),
            text => Some(self.bytes(text)),
        };
        let [method, version, session, encoding] =
            ["method", "version", "session", "encoding"].map(value);
        let is_large = http["body"]["large"] == true;
        let body = (!is_large && !http["body"].is_null()).then(|| self.bytes(&http["body"]));
        let given = if asks { None } else { body.as_deref() };
        let head = [&method, &version, &session, &encoding].map(Option::as_deref);
        let texts = [head[0], head[1], head[2], head[3], given];
        let large = if is_large { flag::TOO_LARGE } else { 0 };
        let flags = if asks { 0 } else { large };
        let guard = std::mem::replace(&mut self.guard, Machine::Over);
        let (mut machine, mut step, mut text) = self.made(&guard, kind::HTTP, flags, &texts);
        self.guard = guard;
        if step["name"] == "body" {
            assert!(asks && text.is_none());
            let body = body.unwrap_or_default();
            let answer = tell(&mut machine, kind::BODY, large, &[Some(&body)]).unwrap();
            (step, text) = self.driven(&mut machine, answer);
        }
        let asked = std::mem::take(&mut self.asked);
        assert_eq!(json!(asked), case.get("asks").cloned().unwrap_or(json!([])));
        if let Some(delivers) = case.get("delivers") {
            assert_eq!(step["step"], "deliver");
            self.same(text.as_deref(), &delivers["body"]);
            self.answered(&mut machine, &step, cuts);
        } else {
            self.replied(&step, text.as_deref(), &case["replies"]);
        }
        let logged: Vec<_> = case.get("logged").cloned().into_iter().collect();
        assert_eq!(self.logged, logged);
    }

    fn replied(&self, step: &Value, text: Option<&str>, expected: &Value) {
        assert_eq!(step["step"], "reply");
        assert_eq!(step["status"], expected["status"]);
        assert_eq!(step["allow"], expected["allow"]);
        self.same(text, &expected["body"]);
    }

    fn answered(&mut self, machine: &mut Machine, deliver: &Value, cuts: &[usize]) {
        let case = self.case;
        if let Some(broke) = case.get("broke") {
            let event = json!({"broke": broke}).to_string();
            let (step, text) = self.told(machine, kind::EVENT, &[Some(event.as_bytes())]);
            return self.replied(&step, text.as_deref(), &case["instead"]);
        }
        let Some(answer) = case.get("answer") else {
            return;
        };
        let changes = deliver["report"] == true || deliver["addSessionId"].is_string();
        let status = answer["status"].to_string();
        let kind_of = self.bytes(&answer["type"]);
        let session = answer.get("session").map(|session| self.bytes(session));
        let texts = [Some(status.as_bytes()), Some(&kind_of), session.as_deref()];
        let made = tell(machine, kind::ANSWER, 0, &texts).unwrap();
        let body = self.bytes(&answer["body"]);
        if made.flags != flag::CHANGES {
            assert_eq!(case["leaves"], answer["body"]);
            return;
        }
        assert!(changes);
        let mut sent = String::new();
        let mut begin = 0;
        let within = cuts.iter().copied().filter(|cut| *cut < body.len());
        for end in within.chain([body.len()]) {
            let piece = tell(machine, kind::PIECE, 0, &[Some(&body[begin..end])]).unwrap();
            assert_eq!(piece.kind, kind::TEXT);
            sent.extend(piece.texts.into_iter().flatten());
            begin = end;
        }
        // An event is sent once it is whole.
        let is_sent = !sent.is_empty();
        let streams = kind_of.starts_with(b"text/event-stream") && deliver["report"] != true;
        assert!(is_sent == streams, "{is_sent} {body:?}");
        let (step, text) = self.told(machine, kind::ANSWERED, &[]);
        if let Some(instead) = case.get("instead") {
            assert_eq!(sent, "");
            return self.replied(&step, text.as_deref(), instead);
        }
        assert_eq!(step["step"], "respond");
        if let Some(token) = step["headers"]["Mcp-Session-Id"].as_str() {
            self.known.push(("{new}", token.into()));
        }
        assert_eq!(case.get("header").is_some(), step.get("headers").is_some());
        sent.push_str(&text.unwrap());
        self.same(Some(&sent), &case["leaves"]);
        let asked = case.get("asked").cloned().unwrap_or(json!([]));
        assert_eq!(json!(self.asked), asked);
    }

    fn on_lines(&mut self) {
        let guard = std::mem::replace(&mut self.guard, Machine::Over);
        let (connection, _) = made(Some(&guard), kind::CONNECTION, 0, &[]);
        let mut waiting: Option<Machine> = None;
        let mut said: Vec<(&str, String)> = Vec::new();
        for passed in self.case["lines"].as_array().unwrap() {
            let [way, rest @ ..] = passed.as_array().unwrap().as_slice() else {
                panic!("{passed}")
            };
            let line = &rest[rest.len() - 1];
            match way.as_str().unwrap() {
                "in" => {
                    assert_eq!(said, []);
                    let line = self.bytes(line);
                    let (machine, step, text) =
                        self.made(&connection, kind::LINE, 0, &[Some(&line)]);
                    waiting = Some(machine);
                    said.extend(self.said(&step, text));
                }
                "broke" => {
                    let event = json!({"broke": line}).to_string();
                    let mut machine = waiting.take().unwrap();
                    let (step, text) =
                        self.told(&mut machine, kind::EVENT, &[Some(event.as_bytes())]);
                    said.extend(self.said(&step, text));
                }
                way @ ("from" | "of") => {
                    assert_eq!(said, []);
                    let (line, of) = (self.bytes(line), self.bytes(&rest[0]));
                    let of = Some(of.as_slice()).filter(|_| way == "of");
                    let (_, step, text) =
                        self.made(&connection, kind::LEAVES, 0, &[Some(&line), of]);
                    if step["step"] == "replayed" {
                        let told = [Some(text.as_deref().unwrap().as_bytes())];
                        let mut machine = waiting.take().unwrap();
                        let (step, text) = self.told(&mut machine, kind::TOLD, &told);
                        said.extend(self.said(&step, text));
                    } else {
                        said.extend(self.said(&step, text));
                    }
                }
                way => {
                    let (found, text) = said.remove(0);
                    assert_eq!(found, way);
                    self.learn(line, &text);
                    self.same(Some(&text), line);
                }
            }
        }
        assert_eq!(said, []);
        let asked = self.case.get("asks").cloned().unwrap_or(json!([]));
        assert_eq!(json!(self.asked), asked);
        let logged: Vec<_> = self.case.get("logged").cloned().into_iter().collect();
        assert_eq!(self.logged, logged);
    }

    /// Returns where a step's line goes, and the line.
    fn said(&self, step: &Value, text: Option<String>) -> Option<(&'static str, String)> {
        let way = match (step["step"].as_str().unwrap(), &text) {
            ("deliver", _) => "to",
            ("ask", _) if step["name"] == "replay" => "replay",
            ("respond", _) | ("reply", Some(_)) => "out",
            ("reply" | "drop", None) => return None,
            _ => panic!("{} {step}", self.case["name"]),
        };
        Some((way, text.unwrap()))
    }

    /// Keeps what stands in a line where the case has a name for what is new.
    fn learn(&mut self, expected: &Value, found: &str) {
        let found: Value = serde_json::from_str(found).unwrap_or_default();
        let expected = expected.as_str().unwrap();
        if expected.contains("{new}") {
            let token = found["result"]["sessionId"].as_str().unwrap();
            self.known.push(("{new}", token.into()));
        }
        if expected.contains("\"id\":{id}") {
            self.known.retain(|(name, _)| *name != "{id}");
            self.known.push(("{id}", found["id"].to_string()));
        }
    }
}

fn cases() -> Vec<Value> {
    let cases = include_str!("../../../tests/vectors/wire.json");
    let cases: Value = serde_json::from_str(cases).unwrap();
    let cases = cases["cases"].as_array().unwrap().clone();
    assert!(cases.len() > 100);
    cases
}

#[test]
fn what_comes_in_goes_out_as_specified() {
    for case in &cases() {
        if case["lines"].is_array() {
            Case::new(case).on_lines();
            continue;
        }
        for asks in [false, true] {
            Case::new(case).over_http(asks, &[]);
        }
    }
}

#[test]
fn an_answer_may_be_cut_anywhere() {
    let with_body = |case: &&Value| !case["answer"]["body"].is_null();
    for case in cases().iter().filter(with_body) {
        let length = Case::new(case).bytes(&case["answer"]["body"]).len();
        Case::new(case).over_http(false, &(1..length).collect::<Vec<_>>());
        for cut in (1..length).step_by(if cfg!(miri) { 50 } else { 1 }) {
            Case::new(case).over_http(false, &[cut]);
        }
    }
}
