//! Sessions of the transport: `Mcp-Session-Id`, and SEP-1359.

use sealwax_mcp::{Body, ClientValue, Event, HandlerResult, HttpRequest, Step};
use serde_json::{Value, json};

use super::input::{Carried, Carries, Http};
use super::over;
use super::run::Run;
use super::world::{Token, What, World, token_id, value};

const PARAMS: [Option<&str>; 4] = [
    None,
    Some(
        r#"{"protocolVersion":"2025-06-18","capabilities":{"a":1},"clientInfo":{"name":"c","version":"1"}}"#,
    ),
    Some(r#"{"clientInfo":7}"#),
    Some("[]"),
];
const RESULT: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{}}"#;

/// Returns a message, whose params may be no JSON.
fn body(carried: &Carried<'_>, method: Option<&str>, inside: &Option<Option<String>>) -> String {
    let mut body = r#"{"jsonrpc":"2.0""#.to_owned();
    if let Some(method) = method {
        body += &format!(r#","method":"{method}""#);
        let params = PARAMS[usize::from(carried.params) % PARAMS.len()];
        if let Some(params) = params {
            body += &format!(r#","params":{params}"#);
        } else if carried.modern {
            body +=
                r#","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
        }
        if !carried.notification {
            body += r#","id":1"#;
        }
    }
    match value(inside) {
        ClientValue::Absent => {}
        ClientValue::Text(text) => body += &format!(r#","sessionId":{}"#, json!(text)),
        ClientValue::Other => body += r#","sessionId":[]"#,
    }
    body + "}"
}

/// Returns whether a session was opened.
pub fn carry(world: &mut World, carried: &Carried<'_>) -> bool {
    let is_session = |what: &What| *what == What::Transport;
    let (header, inside) = (
        world.sent(&carried.header, is_session),
        world.sent(&carried.message_session_id, is_session),
    );
    let method = carried.method.map(|method| match method {
        Carries::Initialize => "initialize",
        Carries::Call => "tools/call",
        Carries::Terminate => "session/terminate",
        Carries::Discover => "server/discover",
    });
    // Without SEP-1359 it is a member as any other.
    let sep1359 = world.settings.sep1359;
    let body = body(carried, method, &inside);
    let inside = inside.filter(|_| sep1359);
    let guard = world.guards[usize::from(carried.replica)].clone();
    let connection = guard.connection();
    let (mut exchange, step) = match carried.http {
        None => connection.line(body.as_bytes()),
        Some(http) => guard.http(HttpRequest {
            method: match http {
                Http::Post => "POST",
                Http::Get => "GET",
                Http::Delete => "DELETE",
                Http::Options => "OPTIONS",
            },
            version: match (carried.modern, carried.version) {
                (true, _) => ClientValue::Text("2026-07-28"),
                (_, Some(true)) => ClientValue::Text("2025-06-18"),
                (_, Some(false)) => ClientValue::Text("2024-11-05"),
                (_, None) => ClientValue::Absent,
            },
            session: value(&header),
            body: Some(Body::Whole(body.as_bytes())),
            ..HttpRequest::default()
        }),
    };
    // Only stdio has messages alone.
    let header = header.filter(|_| carried.http.is_some());
    let inside = inside.filter(|_| carried.http.is_none_or(|http| matches!(http, Http::Post)));
    let mut run = Run::new(carried.who);
    let texts: Vec<_> = [&header, &inside]
        .into_iter()
        .flatten()
        .flatten()
        .cloned()
        .collect();
    run.sent.clone_from(&texts);
    let step = run.drive(world, &mut exchange, step, &carried.how);
    let step = match step {
        Step::Replay => {
            let asked: Value = serde_json::from_str(&exchange.text().unwrap()).unwrap();
            let version = match carried.resumes {
                true => &asked["params"]["protocolVersion"],
                false => &Value::Null,
            };
            let answer = json!({"id": asked["id"], "result": {"protocolVersion": version}});
            let (mut replayed, step) = connection.leaves(answer.to_string().as_bytes(), None);
            assert!(matches!(step, Step::Replayed));
            let answer = replayed.text().unwrap();
            let step = exchange.on(Event::Replayed(Ok(&answer))).unwrap();
            assert_eq!(matches!(step, Step::Deliver(_)), carried.resumes);
            run.drive(world, &mut exchange, step, &[])
        }
        step => step,
    };
    let known = || {
        let token = world.find(&texts[0], is_session).expect("we sealed it");
        assert!(
            texts.iter().all(|text| *text == token.text) && token.who == carried.who,
            "another's"
        );
        (token.clone(), token_id(&token.text))
    };
    match step {
        Step::Deliver(deliver) if deliver.negotiated.is_some() => {
            let (token, id) = known();
            assert_eq!(
                (Some(&token.payload), Some(&id)),
                (deliver.negotiated.as_ref(), deliver.id.as_ref())
            );
            world.lives(&id, carried.who, token.started_at);
            true
        }
        Step::Deliver(_) => {
            let result = HandlerResult {
                whole: Some(RESULT),
                ..HandlerResult::default()
            };
            let step = exchange.on(Event::Result(result)).unwrap();
            let step = run.drive(world, &mut exchange, step, &[]);
            over(&mut exchange);
            let Step::Respond(respond) = step else {
                return false;
            };
            if let Some(text) = respond.header {
                assert_eq!(method, Some("initialize"));
                let opened = world.knowing(carried.who).session().open(&text).unwrap();
                let payload = String::from_utf8(opened.payload().to_vec()).unwrap();
                let negotiated: serde_json::Value = serde_json::from_str(&payload).unwrap();
                assert_eq!(negotiated["protocolVersion"], "2025-06-18");
                let (who, started_at) = (carried.who, opened.started_at());
                world.keep(Token::new(text, What::Transport, who, payload, started_at));
            }
            false
        }
        Step::Reply(reply) => {
            let ended =
                reply.status == Some(204) || (reply.done && method == Some("session/terminate"));
            if ended {
                let (_, id) = known();
                world.end(id);
            }
            over(&mut exchange);
            false
        }
        Step::Drop => {
            over(&mut exchange);
            false
        }
        other => panic!("{other:?}"),
    }
}
