//! Every kind of frame, told to a machine once: each text has its own place.

use sealwax::{Inspected, inspect};
use sealwax_mcp::ClientValue::{self, Absent, Other, Text};
use sealwax_mcp::machine::{Answer, Frame, Machine, flag, kind};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::frames;

const NOW: &str = "1800000000";
const OPEN: &str = r#"{"script":"open","keys":["swl1:{a}:began","swl1:{a}:fence"],"args":[]}"#;
const REVOKE: &str =
    r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0","0"],"withinMs":300}"#;
const FAULT: &str = r#"{"code":"expired","kind":"cursor","message":"m"}"#;
const COMPLETE: &[ClientValue<'_>] = &[Text("complete")];
const ASKS: &[ClientValue<'_>] = &[Text("input_required"), Text("public"), Text("mine")];

/// Reads a frame of these texts, and gives it to a function.
fn framed<T>(
    kind: u8,
    flags: u16,
    texts: &[ClientValue<'_>],
    read: impl FnOnce(&Frame<'_>) -> T,
) -> T {
    let texts = texts.iter().map(|text| match text {
        Absent => None,
        Other => Some(frames::NO_TEXT),
        Text(text) => Some(text.as_bytes()),
    });
    frames::framed(kind, flags, &texts.collect::<Vec<_>>(), read)
}

fn guard(settings: &Value) -> (Machine, Answer) {
    let codec = Clock::at_ms(1_800_000_000_000).codec();
    let settings = settings.to_string();
    framed(kind::GUARD, 0, &[Text(&settings)], |frame| {
        Machine::guard(codec, frame).unwrap()
    })
}

fn made<'m>(
    parent: impl Into<Option<&'m Machine>>,
    kind: u8,
    flags: u16,
    texts: &[ClientValue<'_>],
) -> (Machine, Answer) {
    let parent = parent.into();
    framed(kind, flags, texts, |frame| {
        Machine::new(parent, frame).unwrap()
    })
}

fn tell(machine: &mut Machine, kind: u8, flags: u16, texts: &[ClientValue<'_>]) -> Answer {
    framed(kind, flags, texts, |frame| machine.on(frame).unwrap())
}

fn is_refused(machine: &mut Machine, kind: u8, texts: &[ClientValue<'_>]) -> bool {
    framed(kind, 0, texts, |frame| machine.on(frame).is_err())
}

/// Returns the one text of an answer.
fn text(answer: Answer, kind: u8) -> String {
    match (answer.kind, answer.texts) {
        (found, [Some(text), None]) if found == kind => text,
        other => panic!("{other:?}"),
    }
}

fn texts(answer: Answer, kind: u8) -> [String; 2] {
    assert_eq!(answer.kind, kind);
    answer.texts.map(Option::unwrap)
}

fn step(answer: Answer) -> Value {
    serde_json::from_str(&text(answer, kind::STEP)).unwrap()
}

/// The texts of a call by somebody whose name has three parts.
fn call<'a>(
    token: ClientValue<'a>,
    [header, id, state]: [ClientValue<'a>; 3],
) -> [ClientValue<'a>; 11] {
    [
        Text("tools/call"),
        Text("play"),
        Text(r#"{"id":7}"#),
        token,
        Text("i"),
        Text("c"),
        Text("s"),
        header,
        id,
        state,
        Text("20"),
    ]
}

const NO_SESSION: [ClientValue<'_>; 3] = [Absent; 3];
const BY_CALLER: u16 = flag::CALLER | flag::MODERN;

#[test]
fn a_call_asks_back_and_is_delivered_with_its_state() {
    let (guard, answer) = guard(&json!({"events": true}));
    assert_eq!((answer.kind, answer.flags), (kind::MADE, flag::DEFERS));
    let (mut exchange, answer) = made(&guard, kind::MESSAGE, BY_CALLER, &call(Absent, NO_SESSION));
    assert_eq!(answer, Answer::of(kind::DELIVER, None));
    let [token, events] = texts(tell(&mut exchange, kind::RESULT, 0, ASKS), kind::RESPOND);
    let Ok(Inspected::Token {
        key_id, token_id, ..
    }) = inspect(&token)
    else {
        panic!("{token}")
    };
    let mut happened = json!([{"kind": "request-state", "keyId": key_id.to_string(), "id": token_id.to_string(),
        "method": "tools/call", "target": "play", "issuer": "i", "client": "c", "subject": "s", "event": "sealed"}]);
    assert_eq!(happened, serde_json::from_str::<Value>(&events).unwrap());
    let second = call(Text(&token), NO_SESSION);
    let (mut exchange, answer) = made(&guard, kind::MESSAGE, BY_CALLER, &second);
    let [opened, events] = texts(answer, kind::DELIVER);
    happened[0]["event"] = "opened".into();
    happened[0]["age"] = 0.into();
    assert_eq!(opened, "mine");
    assert_eq!(happened, serde_json::from_str::<Value>(&events).unwrap());
    let answer = tell(&mut exchange, kind::RESULT, 0, COMPLETE);
    assert_eq!(answer, Answer::of(kind::RESPOND, None));
    assert!(is_refused(&mut exchange, kind::RESULT, COMPLETE));

    // Arguments that are no text are not left out.
    for (arguments, code) in [(Other, "invalid_request"), (Absent, "unauthentic")] {
        let mut texts = second;
        texts[2] = arguments;
        let refused = step(made(&guard, kind::MESSAGE, BY_CALLER, &texts).1);
        assert_eq!(refused["refused"][0]["code"], code);
        assert_eq!(refused["refused"][0]["id"], happened[0]["id"]);
    }
}

#[test]
fn what_is_delivered_beside_a_failure_is_a_document() {
    let (guard, _) = guard(&json!({"ledger": {}}));
    let mut late = call(Absent, NO_SESSION);
    // A wrapper has used up the time, so that the ledger cannot be opened.
    late[10] = Text("0");
    let delivered = step(made(&guard, kind::MESSAGE, BY_CALLER, &late).1);
    assert_eq!(delivered["step"], "deliver");
    assert_eq!(delivered["refused"][0]["code"], "ledger_unavailable");
}

/// What is not begun may be begun late, for there is nothing to check before.
#[test]
fn what_is_deferred_asks_nothing() {
    for settings in [
        json!({"ledger": {}}),
        json!({"events": true, "timeLimitMs": 5}),
        json!({"only": {"play": ["id"]}}),
    ] {
        let (guard, answer) = guard(&settings);
        assert_eq!(answer.flags, flag::DEFERS);
        for (method, flags) in [
            ("tools/list", 0),
            ("notifications/progress", flag::NOTIFICATION),
        ] {
            let (mut exchange, answer) = made(&guard, kind::MESSAGE, flags, &[Text(method)]);
            assert_eq!(answer, Answer::of(kind::DELIVER, None));
            // Neither has a state to seal.
            let sealed = framed(kind::SEAL_STATE, 0, &[Text("1")], |it| exchange.on(it));
            assert!(sealed.unwrap_err().to_string().contains("tools/call"));
        }
    }
}

#[test]
fn a_session_has_its_places() {
    let (guard, answer) = guard(&json!({"sessions": {}, "timeLimitMs": 500}));
    assert_eq!(answer, Answer::of(kind::MADE, None));
    let view = Clock::at_ms(1_800_000_000_000).view("s");
    let session = view.sessions().create(b"1").unwrap();
    let id = Text(&session.session_id);
    let mut known = call(Absent, [id, id, session.state.as_deref().into()]);
    known[4..6].fill(Absent);
    let flags = BY_CALLER | flag::SESSION;
    let delivered = step(made(&guard, kind::MESSAGE, flags, &known).1);
    assert_eq!(delivered["session"]["value"], "1");
    let found = ["withinMs", "whole", "events"].map(|name| &delivered[name]);
    assert_eq!(found, [&json!(20), &Value::Null, &Value::Null]);
    // A notification has it too, whose caller is told later.
    let mut unknown = known;
    unknown[4..7].fill(Absent);
    let notified = flag::MODERN | flag::SESSION | flag::NOTIFICATION;
    let (mut exchange, _) = made(&guard, kind::MESSAGE, notified, &unknown);
    let delivered = step(tell(&mut exchange, kind::PRINCIPAL, 0, &known[4..7]));
    assert_eq!(delivered["session"]["value"], "1");
    // Without the flag there is no session.
    let (_, answer) = made(&guard, kind::MESSAGE, BY_CALLER, &known);
    assert_eq!(answer, Answer::of(kind::DELIVER, None));
}

#[test]
fn an_answer_or_why_there_is_none_is_told() {
    let (guard, _) = guard(&json!({"sessions": {}}));
    let mut create = [Absent; 7];
    (create[0], create[6]) = (Text("sessions/create"), Text("s"));
    for (texts, why) in [
        (&[Text("1")][..], ""),
        (&[Text("1"), Text("it"), Text("x")], ""),
        (&[Absent, Text("it"), Text("x")], "an answer, found it"),
        (&[Absent, Absent, Text("it is 7")], "it is 7"),
        (&[], "an answer in time, found none"),
        // A value that is no text is no JSON.
        (&[Other], "expected a value as JSON"),
    ] {
        let (mut exchange, answer) = made(&guard, kind::MESSAGE, flag::CALLER, &create);
        assert_eq!(step(answer)["name"], "initial");
        let next = step(tell(&mut exchange, kind::TOLD, 0, texts));
        let message = next["refused"][0]["message"].as_str();
        assert!(message.unwrap_or_default().ends_with(why), "{next}");
        assert_eq!(next["builtinResult"].is_string(), message.is_none());
        assert_eq!(message.is_none(), why.is_empty());
        // It asks nothing now.
        assert!(is_refused(&mut exchange, kind::TOLD, &[Text("1")]));
    }
}

/// The rest is in wire.rs.
#[test]
fn a_caller_is_known_around_http() {
    let (guard, _) = guard(&json!({}));
    let call = Text(r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#);
    let head = [Text("POST"), Text("2025-11-25"), Absent, Absent];
    let caller = [Text("i"), Text("c"), Text("s")];
    let texts = [&head[..], &[call], &caller].concat();
    let [document, told] = made(&guard, kind::HTTP, flag::CALLER, &texts).1.texts;
    let refused: Value = serde_json::from_str(&document.unwrap()).unwrap();
    assert!(told.unwrap().contains("expected Mcp-Session-Id"));
    let of = ["method", "target", "issuer", "client", "subject"];
    let found = of.map(|member| refused["refused"][0][member].as_str().unwrap());
    assert_eq!(found, ["tools/call", "t", "i", "c", "s"]);
    // What HTTP has, a line has not.
    let (connection, _) = made(&guard, kind::CONNECTION, 0, &[]);
    let ping = [Text(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)];
    let (mut line, delivered) = made(&connection, kind::LINE, 0, &ping);
    assert_eq!(delivered.texts[1].as_deref(), ping[0].text());
    assert!(is_refused(&mut line, kind::ANSWERED, &[]));
}

#[test]
fn a_revocation_is_remembered_for_as_long_as_is_said() {
    let subject = Text(r#"{"subject":"s"}"#);
    for (texts, seconds) in [(&[subject, Text("60")][..], "60"), (&[subject], "34560300")] {
        let (guard, _) = guard(&json!({"ledger": {"local": true}}));
        let (mut exchange, open) = made(&guard, kind::REVOCATION, 0, texts);
        assert_eq!(step(open)["script"], "open");
        let revoke = tell(&mut exchange, kind::TOLD, 0, &[Text(r#"["ok"]"#)]);
        assert_eq!(step(revoke)["args"][0], seconds);
    }
}

#[test]
fn a_ledger_is_in_memory() {
    let reply = |size, command, now| {
        let (mut memory, answer) = made(None, kind::MEMORY, 0, &[Text(size), Text(NOW)]);
        assert_eq!(answer, Answer::of(kind::MADE, None));
        let run = tell(&mut memory, kind::RUN, 0, &[Text(command), Text(now)]);
        text(run, kind::TEXT)
    };
    // It remembers from a second before it was made.
    assert_eq!(
        reply("1048576", OPEN, "1800000009"),
        r#"["ok","1799999999","1799999999","1800000009","0"]"#
    );
    for (size, said) in [("1048576", "ok"), ("0", "full")] {
        assert!(reply(size, REVOKE, NOW).contains(said), "{size}");
    }
}

/// Tells the machine of a store the answer to what it sent.
fn answered(machine: &mut Machine, answer: &str) -> Value {
    step(tell(machine, kind::EVENT, 0, &[Text(answer)]))
}

/// What is sent, and what becomes of the answers; tests/ledger/stores.py plays the connections too.
#[test]
fn a_redis_is_asked_as_the_vectors_have_it() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../tests/vectors/stores.json")).unwrap();
    let number = [Text(r#"{"number":1}"#)];
    let list = |value: &Value| value.as_array().unwrap().clone();
    for script in list(&vectors["scripts"]) {
        let (store, _) = made(None, kind::STORE, flag::WAITS, &[]);
        for played in list(&script["steps"]) {
            let mut sends = list(&played["sends"]);
            let mut command = vectors["commands"][played["run"].as_str().unwrap()].clone();
            command["withinMs"] = 100.into();
            let mut command = command.to_string();
            let mut warns = false;
            if sends.is_empty() {
                let info = &vectors["info"][played["info"].as_str().unwrap()];
                warns = info["text"]
                    .as_str()
                    .is_some_and(|text| !text.contains("run_id"));
                (sends, command) = (vec![json!(["INFO", "step", info])], "{}".into());
            }
            sends.retain(|send| send[3] != "plain");
            let bytes = ["raw", "cut", "late"];
            let has_bytes = |send: &Value| bytes.iter().any(|how| !send[2][how].is_null());
            if sends.iter().any(has_bytes) {
                continue;
            }
            let (mut machine, first) = made(&store, kind::STORE_MACHINE, 0, &[Text(&command)]);
            let mut next = step(first);
            assert!(is_refused(&mut machine, kind::TOLD, &number));
            for send in sends {
                assert_eq!(next["send"][0], send[0], "{played}");
                // A half of `withinMs`.
                assert!(send[0] != "WAIT" || next["send"][2] == "50", "{next}");
                assert!(send[1] == "step" || (send[1] == "own") == (next["own"] == true));
                next = answered(&mut machine, &send[2].to_string());
            }
            let why = [&next["failed"], &next["unfit"]].map(|why| why.as_str().unwrap_or_default());
            let part = played["failed"].as_str().unwrap_or_default();
            assert!(why.concat().contains(part), "{played}: {next}");
            assert_eq!(next["done"], played["reply"], "{played}");
            assert_eq!(next["warned"].is_array(), warns, "{played}: {next}");
        }
    }
}

/// What becomes of the answers: ledger_file.rs.
#[test]
fn what_a_file_is_asked_is_a_document() {
    let file = |document| made(None, kind::SQLITE, 0, &[Text(document)]);
    let statements = |document| step(file(document).1)["run"].as_array().unwrap().len();
    assert_eq!(statements("{}") + 1, statements(r#"{"durable":false}"#));
    let (mut opening, _) = file("{}");
    let locked = r#"{"error":"database is locked"}"#;
    assert!(is_refused(&mut opening, kind::TOLD, &[Text(locked)]));
    assert_eq!(answered(&mut opening, locked), json!({"wait": 50}));
    let (mut command, begun) = file(REVOKE);
    assert_eq!(step(begun)["run"][0]["sql"], "BEGIN IMMEDIATE");
    for answer in [r#"{"rows":["1800000000"]}"#, r#"{"rows":[null]}"#] {
        assert!(answered(&mut command, answer)["run"].is_array());
    }
    assert_eq!(answered(&mut command, r#"{"rows":[]}"#)["done"][0], "ok");
}

#[test]
fn machines_have_their_own_parents_and_frames() {
    let (mut guard, _) = guard(&json!({"ledger": {}}));
    let (mut exchange, _) = made(&guard, kind::MESSAGE, 0, &call(Absent, NO_SESSION));
    let (mut store, _) = made(None, kind::STORE, 0, &[]);
    let (mut machine, _) = made(&store, kind::STORE_MACHINE, 0, &[Text(REVOKE)]);
    let memory = [Text("1048576"), Text(NOW)];
    let (mut memory, _) = made(None, kind::MEMORY, 0, &memory);
    let (connection, _) = made(&guard, kind::CONNECTION, 0, &[]);
    let settings = [Text("{}")];
    // Those that begin with a codec, or by the command.
    for (kind, texts, parent) in [
        (kind::GUARD, &settings[..], 9),
        (kind::MESSAGE, &call(Absent, NO_SESSION), 1),
        (kind::INVALID, &[], 1),
        (kind::HTTP, &[Text("GET")], 1),
        (kind::CONNECTION, &[], 1),
        (kind::LINE, &[], 6),
        (kind::LEAVES, &[Text("{}")], 6),
        (kind::REVOCATION, &[Text(r#"{"subject":"s"}"#)], 1),
        (kind::REPORT, &[Text(FAULT)], 1),
        (kind::HANDLE, &[Text(r#"{"op":"mint","type":"order"}"#)], 2),
        (kind::STORE, &[], 0),
        (kind::STORE_MACHINE, &[Text(REVOKE)], 3),
        (kind::MEMORY, &[Text("1048576"), Text(NOW)], 0),
        (10, &settings, 9),
        (kind::EVENT, &settings, 9),
        (kind::STEP, &settings, 9),
        (0, &settings, 9),
        (255, &settings, 9),
    ] {
        let others = [&guard, &exchange, &store, &machine, &memory, &connection];
        let parents = [None].into_iter().chain(others.map(Some));
        for (at, found) in parents.enumerate() {
            let is_made = framed(kind, 0, texts, |frame| Machine::new(found, frame).is_ok());
            assert_eq!(is_made, at == parent, "{kind} of {at}");
        }
        let codec = Clock::at_ms(0).codec();
        let is_made = framed(kind, 0, texts, |frame| Machine::guard(codec, frame).is_ok());
        assert_eq!(is_made, kind == kind::GUARD);
    }
    let event = [Text(OPEN), Text(NOW)];
    for kind in [kind::GUARD, kind::EVENT, kind::RUN, kind::STEP, 0, 255] {
        // None of them is at this event.
        for machine in [&mut guard, &mut store, &mut exchange, &mut machine] {
            assert!(is_refused(machine, kind, &event), "{kind}");
        }
        assert_eq!(is_refused(&mut memory, kind, &event), kind != kind::RUN);
    }
}

#[test]
fn numbers_are_digits() {
    let (guard, _) = guard(&json!({"ledger": {}}));
    for (size, is_made) in [("1073741824", true), ("1073741825", false)] {
        let made = |frame: &Frame<'_>| Machine::new(None, frame).is_ok();
        assert_eq!(
            framed(kind::MEMORY, 0, &[Text(size), Text(NOW)], made),
            is_made
        );
    }
    let none = ["", "x", "-1", "1.0", " 1", "18446744073709551616"];
    for number in [Absent, Other].into_iter().chain(none.map(Text)) {
        for texts in [[number, Text(NOW)], [Text("1"), number]] {
            let made = |frame: &Frame<'_>| Machine::new(None, frame).is_ok();
            assert!(!framed(kind::MEMORY, 0, &texts, made), "{number:?}");
        }
        let (mut memory, _) = made(None, kind::MEMORY, 0, &[Text("1"), Text(NOW)]);
        assert!(is_refused(&mut memory, kind::RUN, &[Text(OPEN), number]));
        // Those that may be left out.
        let revocation = [Text(r#"{"subject":"s"}"#), number];
        let mut message = call(Absent, NO_SESSION);
        message[10] = number;
        for (kind, texts) in [
            (kind::REVOCATION, &revocation[..]),
            (kind::MESSAGE, &message),
        ] {
            let is_made = framed(kind, 0, texts, |frame| {
                Machine::new(Some(&guard), frame).is_ok()
            });
            assert_eq!(is_made, number == Absent, "{number:?}");
        }
    }
}

/// What is no text is not what is not there: a caller without an issuer is another one, and a header
/// that is left out agrees with any session.
#[test]
fn a_caller_and_a_header_that_are_no_text_are_refused() {
    let (guard, _) = guard(&json!({"sessions": {}}));
    for part in 4..7 {
        let mut texts = call(Absent, NO_SESSION);
        texts[part] = Other;
        let refused = step(made(&guard, kind::MESSAGE, BY_CALLER, &texts).1);
        assert_eq!(refused["refused"][0]["code"], "invalid_argument");
        let mut unknown = texts;
        unknown[4..7].fill(Absent);
        let (mut exchange, _) = made(&guard, kind::MESSAGE, flag::MODERN, &unknown);
        let refused = step(tell(&mut exchange, kind::PRINCIPAL, 0, &texts[4..7]));
        assert_eq!(refused["refused"][0]["code"], "invalid_argument");
    }
    let texts = call(Absent, [Other, Text("sess_a"), Text("sw1.a")]);
    let (_, answer) = made(&guard, kind::MESSAGE, BY_CALLER | flag::SESSION, &texts);
    assert_eq!(step(answer)["error"]["code"], -32020);
}

#[test]
fn what_cannot_be_told_or_paired_is_an_invalid_request() {
    let (guard, _) = guard(&json!({"ledger": {}}));
    for (flags, expected) in [
        (0, "a message of well-formed Unicode"),
        (flag::ID_IN_USE, "an id that no request in progress has"),
    ] {
        let refused = step(made(&guard, kind::INVALID, flags, &[]).1);
        assert_eq!(refused["error"]["code"], -32600);
        assert_eq!(refused["status"], Value::Null);
        let message = refused["refused"][0]["message"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
    }
}
