//! The engine by documents: outcomes of steps that adapters report, and what only documents have.

use sealwax::Codec;
use sealwax_mcp::ledger::Memory;
use sealwax_mcp::ledger::redis::Redis;
use sealwax_mcp::{Exchange, Failed, Guard, document};
use serde_json::{Value, json};

use crate::common::Clock;
use crate::told;

const NOW: u64 = 1_800_000_000;
const METADATA: &str = "io.modelcontextprotocol/session";

fn codec() -> Codec {
    Clock::at_ms(NOW * 1000).codec()
}

fn guard(settings: &Value) -> Guard {
    document::guard(codec(), &settings.to_string()).unwrap()
}

fn read(document: &str) -> Value {
    serde_json::from_str(document).unwrap()
}

fn message(guard: &Guard, mut message: Value) -> (Exchange, Value) {
    message["principal"] = json!({"subject": "alice"});
    let (exchange, step) = told::message(guard, &message, None);
    (exchange, read(&step))
}

fn on(exchange: &mut Exchange, event: &Value, value: Option<&str>) -> Value {
    read(&document::on(exchange, &event.to_string(), value).unwrap())
}

fn answered(exchange: &mut Exchange, answer: Result<&str, Failed>) -> Value {
    read(&document::told(exchange, answer).unwrap())
}

/// Runs what the ledger is asked, until something else is next.
fn run(memory: &mut Memory, exchange: &mut Exchange, mut step: Value) -> Value {
    while step["name"] == "ledger" {
        let reply = document::run(memory, &step.to_string(), NOW).unwrap();
        step = answered(exchange, Ok(&reply));
    }
    step
}

/// The session that a server makes for Alice, as `_meta` has it.
fn created(guard: &Guard, memory: &mut Memory) -> Value {
    let (mut exchange, step) = message(guard, json!({"method": "sessions/create"}));
    let step = run(memory, &mut exchange, step);
    assert_eq!(step, json!({"step": "ask", "name": "initial"}));
    let step = answered(&mut exchange, Ok(r#"{"count":0}"#));
    let step = run(memory, &mut exchange, step);
    read(step["builtinResult"].as_str().unwrap())["session"].take()
}

fn call_in(session: &Value) -> Value {
    let client = json!({"id": session["sessionId"], "state": session["state"]});
    json!({"method": "tools/call", "target": "play", "session": client})
}

#[test]
fn every_question_can_fail() {
    let cases = [
        (
            json!({"sessions": {}}),
            json!({"method": "sessions/create"}),
            "initial",
            "invalid_argument",
        ),
        (
            json!({"ledger": {}}),
            json!({"method": "tools/call", "target": "play", "modern": true}),
            "ledger",
            "ledger_unavailable",
        ),
    ];
    for (settings, request, question, code) in cases {
        for (failed, says) in [
            (Failed::Late, "expected an answer in time, found none"),
            (
                Failed::Threw("Boom".into()),
                "expected an answer, found Boom",
            ),
            (Failed::Wrong("it is 7".into()), "it is 7"),
            (Failed::Wrong(format!("{question}: it is 8")), "it is 8"),
        ] {
            // A ledger that failed is not opened again at once.
            let (mut exchange, mut step) = message(&guard(&settings), request.clone());
            assert_eq!(
                (&step["step"], &step["name"]),
                (&json!("ask"), &json!(question))
            );
            // A ledger is asked again.
            while step["name"] == question {
                step = answered(&mut exchange, Err(failed.clone()));
            }
            assert_eq!(step["refused"][0]["code"], code, "{step}");
            assert_eq!(step["refused"][0]["message"], format!("{question}: {says}"));
        }
    }
}

#[test]
fn a_deleted_session_is_answered_and_named_in_the_log_when_it_comes_again() {
    let guard = guard(&json!({"sessions": {}, "ledger": {}}));
    let mut memory = Memory::new(Memory::CAPACITY, NOW - 9);
    let session = created(&guard, &mut memory);
    let delete = json!({"method": "sessions/delete", "session": {"id": session["sessionId"]}});
    let (mut exchange, step) = message(&guard, delete);
    let step = run(&mut memory, &mut exchange, step);
    assert_eq!(
        (&step["step"], &step["builtinResult"]),
        (&json!("deliver"), &json!("{}"))
    );
    let (mut exchange, step) = message(&guard, call_in(&session));
    let step = run(&mut memory, &mut exchange, step);
    assert_eq!(step["refused"][0]["code"], "ended");
    assert_eq!(
        step["refused"][0]["id"].as_str().map(str::len),
        Some(32),
        "{step}"
    );
}

#[test]
fn a_late_state_is_named_in_the_log() {
    let guard = guard(&json!({"sessions": {}, "ledger": {}}));
    let mut memory = Memory::new(Memory::CAPACITY, NOW - 9);
    let session = created(&guard, &mut memory);
    let ids = [false, true].map(|is_late| {
        let (mut exchange, step) = message(&guard, call_in(&session));
        let step = run(&mut memory, &mut exchange, step);
        if is_late {
            assert_eq!(step["refused"][0]["code"], "stale", "{step}");
            return step["refused"][0]["id"].clone();
        }
        exchange.write(r#"{"count":1}"#).unwrap();
        let written = on(&mut exchange, &json!({"result": {"members": {}}}), None);
        run(&mut memory, &mut exchange, written);
        step["session"]["ulid"].clone()
    });
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn a_refused_state_is_named_in_the_log_by_its_own_id() {
    let guard = guard(&json!({"sessions": {}}));
    let session = created(&guard, &mut Memory::new(1, 0));
    let mut call = call_in(&session);
    call["principal"] = json!({"subject": "mallory"});
    let (_, step) = told::message(&guard, &call, None);
    let step = read(&step);
    assert_eq!(
        step["refused"][0]["id"].as_str().map(str::len),
        Some(32),
        "{step}"
    );
}

#[test]
fn a_session_that_is_forked_leaves_as_another_one() {
    let guard = guard(&json!({"sessions": {}}));
    let session = created(&guard, &mut Memory::new(1, 0));
    let (mut exchange, _) = message(&guard, call_in(&session));
    let forked = read(&document::fork(&mut exchange).unwrap());
    assert!(forked["sessionId"].as_str().unwrap().starts_with("sess_"));
    assert_ne!(forked["sessionId"], session["sessionId"]);
}

#[test]
fn a_write_that_the_sdk_would_drop_is_an_error() {
    let guard = guard(&json!({"sessions": {}}));
    let session = created(&guard, &mut Memory::new(1, 0));
    for (no_meta, step) in [(false, "respond"), (true, "reply")] {
        let (mut exchange, _) = message(&guard, call_in(&session));
        exchange.write(r#"{"count":1}"#).unwrap();
        let result = json!({"result": {"noMeta": no_meta}});
        assert_eq!(on(&mut exchange, &result, None)["step"], step);
    }
}

#[test]
fn a_result_that_says_nothing_of_caches_stays_so() {
    let guard = guard(&json!({"sessions": {}}));
    let session = created(&guard, &mut Memory::new(1, 0));
    for (members, private) in [
        (json!({}), Value::Null),
        (json!({"cacheScope": "public"}), json!("private")),
    ] {
        let (mut exchange, _) = message(&guard, call_in(&session));
        let result = json!({"result": {"members": members}});
        let step = on(&mut exchange, &result, None);
        let sent = told::changed(json!({}), &step);
        assert_eq!(sent["cacheScope"], private, "{step}");
        assert!(sent["_meta"][METADATA].is_object(), "{step}");
    }
}

#[test]
fn a_session_of_the_transport_holds_what_both_sides_said() {
    let guard = guard(&json!({"transport": {"ttl": 60, "sep1359": true}}));
    let request =
        json!({"http": "POST", "method": "initialize", "principal": {"subject": "alice"}});
    let params = r#"{"protocolVersion":"2025-11-25","clientInfo":{"name":"ours"}}"#;
    let (mut exchange, step) = told::transport(&guard, &request, Some(params));
    assert_eq!(read(&step)["step"], "deliver");
    let result = r#"{"protocolVersion":"2025-06-18"}"#;
    let step = on(&mut exchange, &json!({"result": {}}), Some(result));
    let id = &step["headers"]["Mcp-Session-Id"];
    let mut next =
        json!({"http": "POST", "method": "ping", "header": id, "principal": {"subject": "alice"}});
    let sent = |next: &Value| read(&told::transport(&guard, next, None).1);
    let step = sent(&next);
    let negotiated = read(step["negotiated"].as_str().unwrap());
    assert!(
        step["id"].as_str().is_some_and(|id| id.len() == 32),
        "{step}"
    );
    assert_eq!(step["expiresAt"], NOW + 60);
    assert_eq!(step["addSessionId"], Value::Null);
    let client = json!({"name": "ours", "version": ""});
    assert_eq!(negotiated["clientInfo"], client, "{negotiated}");
    assert_eq!(negotiated["protocolVersion"], "2025-06-18", "{negotiated}");

    // SEP-1359 has it in the message too, where it must be the same.
    next["messageSessionId"] = id.clone();
    assert_eq!(sent(&next)["addSessionId"], *id);
    next["messageSessionId"] = json!("another");
    assert_eq!(sent(&next)["status"], 400);
}

#[test]
fn the_wrapper_declares_sessions_where_the_sdk_has_no_place_for_it() {
    for (declares, sessions, is_declared) in [
        (true, json!({}), true),
        (false, json!({}), false),
        (true, Value::Null, false),
    ] {
        let settings = json!({"transport": {"declares": declares}, "sessions": sessions});
        let guard = guard(&settings);
        for (message, result) in [
            (
                json!({"http": "POST", "method": "server/discover", "modern": true}),
                None,
            ),
            (
                json!({"method": "initialize"}),
                Some(r#"{"protocolVersion":"2025-06-18"}"#),
            ),
            (
                json!({"http": "POST", "method": "initialize", "principal": {"anonymous": true}}),
                Some(r#"{"protocolVersion":"2025-06-18"}"#),
            ),
        ] {
            let (mut exchange, step) = told::transport(&guard, &message, None);
            let is_initialize = message["method"] == "initialize";
            let reported = read(&step)["report"] == true;
            assert_eq!(
                reported,
                is_initialize || is_declared,
                "{settings} {message}"
            );
            if reported {
                let step = on(&mut exchange, &json!({"result": {}}), result);
                let declared = &told::changed(json!({}), &step)["capabilities"];
                assert_eq!(
                    declared.is_object(),
                    is_declared,
                    "{settings} {message} {step}"
                );
            }
        }
    }
}

#[test]
fn a_session_of_another_user_ends_or_the_ledger_is_told_of() {
    let settings = json!({"transport": {"sep1359": true}, "ledger": {}});
    let guard = guard(&settings);
    let codec = codec();
    let bob = codec.view(&sealwax::Principal::subject("bob")).unwrap();
    let token = bob.session().seal(br#"{"protocolVersion":"x"}"#).unwrap();
    let request = json!({"http": "POST", "method": "ping", "messageSessionId": token.as_str(),
                         "principal": {"subject": "alice"}});
    for (answers, code) in [(true, "principal_mismatch"), (false, "ledger_unavailable")] {
        let mut memory = Memory::new(Memory::CAPACITY, NOW - 9);
        let (mut exchange, step) = told::transport(&guard, &request, None);
        let mut step = read(&step);
        assert_eq!(step["name"], "ledger");
        while step["name"] == "ledger" && !answers {
            step = answered(&mut exchange, Err(Failed::Late));
        }
        let step = run(&mut memory, &mut exchange, step);
        let refused = step["refused"].as_array().unwrap();
        assert_eq!(refused.last().unwrap()["code"], code, "{step}");
        assert_eq!(step["step"], "reply");
    }
}

#[test]
fn a_session_of_the_transport_has_at_most_4096_characters() {
    let guard = guard(&json!({}));
    let begin = json!({"http": "POST", "method": "initialize", "principal": {"subject": "alice"}});
    let length = |padding: usize| {
        let params = json!({"capabilities": {"experimental": {"x": "x".repeat(padding)}}});
        let params = params.to_string();
        let (mut exchange, _) = told::transport(&guard, &begin, Some(&params));
        let result = r#"{"protocolVersion":"2025-06-18"}"#;
        let step = on(&mut exchange, &json!({"result": {}}), Some(result));
        let id = step["headers"]["Mcp-Session-Id"].as_str().map(str::len);
        id.ok_or_else(|| step["refused"][0]["code"].clone())
    };
    let last = (2_700..3_100)
        .take_while(|&padding| length(padding).is_ok())
        .last();
    assert_eq!(length(last.unwrap()), Ok(4_096));
    assert_eq!(length(last.unwrap() + 1), Err(json!("too_large")));
}

#[test]
fn a_refused_session_of_the_transport_is_named_in_the_log() {
    let codec = codec();
    let view = codec.view(&sealwax::Principal::subject("bob")).unwrap();
    let token = view.session().seal(b"{}").unwrap();
    let request = json!({"http": "POST", "method": "ping", "header": token.as_str(),
                         "principal": {"subject": "alice"}});
    let (_, step) = told::transport(&guard(&json!({})), &request, None);
    let refused = &read(&step)["refused"][0];
    assert_eq!(refused["code"], "principal_mismatch");
    let opened = view.session().open(&token).unwrap();
    assert_eq!(refused["id"], opened.token_id().to_string(), "{refused}");
}

#[test]
fn ends_are_not_offered_where_nothing_remembers_them() {
    let request = json!({"http": "DELETE", "header": "x", "principal": {"subject": "alice"}});
    let (_, step) = told::transport(&guard(&json!({})), &request, None);
    let step = read(&step);
    assert_eq!(
        (&step["status"], &step["allow"]),
        (&json!(405), &json!("GET, POST"))
    );
}

#[test]
fn without_a_caller_a_request_is_answered_and_anything_else_dropped() {
    let guard = guard(&json!({"transport": {"sep1359": true}}));
    for (message, next, status) in [
        (json!({"method": "ping"}), "reply", Value::Null),
        (
            json!({"method": "x", "notification": true}),
            "drop",
            Value::Null,
        ),
        (json!({}), "drop", Value::Null),
        (
            json!({"http": "POST", "method": "ping"}),
            "reply",
            json!(400),
        ),
        (json!({"http": "POST"}), "reply", json!(400)),
    ] {
        let mut message = message;
        message["messageSessionId"] = json!("sw1.AQ");
        let (mut exchange, step) = told::transport(&guard, &message, None);
        assert_eq!(read(&step)["name"], "principal", "{message}");
        let step = answered(&mut exchange, Ok("null"));
        assert_eq!(step["refused"][0]["code"], "unauthenticated", "{step}");
        assert_eq!(
            (&step["step"], &step["status"]),
            (&json!(next), &status),
            "{message}"
        );
    }
}

#[test]
fn what_is_never_reported_has_no_members() {
    let (_, step) = message(
        &guard(&json!({})),
        json!({"method": "tools/call", "target": "play"}),
    );
    assert_eq!(step["members"][3], "requestState");
    let notification = json!({"method": "tools/call", "target": "play", "notification": true});
    let (_, step) = message(&guard(&json!({})), notification);
    assert_eq!(
        (&step["report"], &step["members"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn numbers_have_64_bits() {
    for (since, is_good) in [
        ("18446744073709551615", true),
        ("-1", false),
        ("1.5", false),
    ] {
        let settings = format!(r#"{{"ledger": {{"acceptIssuedSince": {since}}}}}"#);
        assert_eq!(
            document::guard(codec(), &settings).is_ok(),
            is_good,
            "{since}"
        );
    }
}

#[test]
fn a_dialogue_with_a_redis_is_told_step_by_step() {
    let redis = Redis::new(true);
    let command = json!({"script": "commit", "keys": ["a", "b", "c"], "args": []});
    let (mut dialogue, step) = document::dialogue(&redis, "{}").unwrap();
    assert_eq!(read(&step), json!({"send": ["INFO"]}));
    let old = json!({"text": "redis_version:1.0.0\r\n"});
    let step = read(&document::answered(&mut dialogue, &old.to_string()).unwrap());
    assert!(step["unfit"].is_string(), "{step}");

    let (mut dialogue, _) = document::dialogue(&redis, "{}").unwrap();
    let fit = "redis_version:7.2.4\r\nrole:master\r\nconnected_slaves:0\r\nmaxmemory:0\r\n\
               maxmemory_policy:noeviction\r\naof_enabled:0\r\nrun_id:1a\r\nmaster_replid:2b\r\n\
               evicted_keys:0\r\n";
    let step = read(&document::answered(&mut dialogue, &json!({"text": fit}).to_string()).unwrap());
    assert!(
        step["warned"][0].as_str().unwrap().contains("appendonly"),
        "{step}"
    );

    assert_eq!(step["load"].as_array().map(Vec::len), Some(4), "{step}");

    let begin = || document::dialogue(&redis, &command.to_string()).unwrap();
    let (mut dialogue, step) = begin();
    assert_eq!(read(&step)["send"][0], "EVALSHA");
    let reply = json!({"texts": ["ok", "0"]});
    let step = read(&document::answered(&mut dialogue, &reply.to_string()).unwrap());
    assert_eq!(step["done"], json!(["ok", "0"]), "{step}");
    assert_eq!(step["plain"]["send"][0], "EVALSHA", "{step}");
    for number in ["-1", "1"] {
        let answer = format!(r#"{{"number": {number}}}"#);
        let step = read(&document::answered(&mut begin().0, &answer).unwrap());
        assert!(step["failed"].is_string(), "{step}");
    }
}
