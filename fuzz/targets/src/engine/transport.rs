//! Sessions of the transport: `Mcp-Session-Id`, and SEP-1359.

use sealwax::{Inspected, inspect};
use sealwax_mcp::{Event, HandlerResult, Step, TransportMessage};

use super::input::{Carried, Carries, Http};
use super::over;
use super::run::Run;
use super::world::{Token, What, World, value};

const PARAMS: [Option<&str>; 4] = [
    None,
    Some(
        r#"{"protocolVersion":"2025-06-18","capabilities":{"a":1},"clientInfo":{"name":"c","version":"1"}}"#,
    ),
    Some(r#"{"clientInfo":7}"#),
    Some("{"),
];
const RESULT: &str =
    r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{}}"#;

/// Returns whether a session was opened.
pub fn carry(world: &mut World, carried: &Carried<'_>) -> bool {
    let is_session = |what: &What| *what == What::Transport;
    let (header, inside) = (
        world.sent(&carried.header, is_session),
        world.sent(&carried.message_session_id, is_session),
    );
    let http = carried.http.map(|http| match http {
        Http::Post => "POST",
        Http::Get => "GET",
        Http::Delete => "DELETE",
        Http::Options => "OPTIONS",
    });
    let method = carried.method.map(|method| match method {
        Carries::Initialize => "initialize",
        Carries::Call => "tools/call",
        Carries::Terminate => "session/terminate",
        Carries::Discover => "server/discover",
    });
    let guard = world.guards[usize::from(carried.replica)].clone();
    let (mut exchange, step) = guard.transport(TransportMessage {
        http,
        method,
        target: None,
        unreadable: false,
        notification: carried.notification,
        modern: carried.modern,
        version: carried
            .version
            .map(|ours| if ours { "2025-06-18" } else { "2024-11-05" }),
        header: value(&header),
        message_session_id: value(&inside),
        initialize: PARAMS[usize::from(carried.params) % PARAMS.len()],
        principal: None,
    });
    let mut run = Run::new(carried.who);
    let texts: Vec<_> = [&header, &inside]
        .into_iter()
        .flatten()
        .flatten()
        .cloned()
        .collect();
    run.sent.clone_from(&texts);
    let step = run.drive(world, &mut exchange, step, &carried.how);
    let known = || {
        let token = world.find(&texts[0], is_session).expect("we sealed it");
        assert!(
            texts.iter().all(|text| *text == token.text) && token.who == carried.who,
            "another's"
        );
        let Ok(Inspected::Token { token_id, .. }) = inspect(&token.text) else {
            panic!("{token:?}")
        };
        (token.clone(), token_id.to_string())
    };
    match step {
        Step::Deliver(deliver) if deliver.negotiated.is_some() => {
            let (token, id) = known();
            assert_eq!(
                (Some(&token.payload), Some(&id)),
                (deliver.negotiated.as_ref(), deliver.id.as_ref())
            );
            if world.has_ledger() && !world.lied {
                assert!(!world.ended.contains(&id), "ended");
                let revoked = world.revoked.get(&carried.who);
                assert!(
                    revoked.is_none_or(|revoked| token.started_at > *revoked),
                    "signed out"
                );
            }
            if !carried.resumes {
                let step = exchange.on(Event::NotResumed("no".into())).unwrap();
                assert!(matches!(step, Step::Reply(_) | Step::Drop));
                over(&mut exchange);
            }
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
                let (payload, what) = (
                    String::from_utf8(opened.payload().to_vec()).unwrap(),
                    What::Transport,
                );
                let negotiated: serde_json::Value = serde_json::from_str(&payload).unwrap();
                assert_eq!(negotiated["protocolVersion"], "2025-06-18");
                let (who, started_at) = (carried.who, opened.started_at());
                world.keep(Token {
                    text,
                    what,
                    who,
                    payload,
                    started_at,
                    generation: 0,
                });
            }
            false
        }
        Step::Reply(reply) => {
            let ended =
                reply.status == Some(204) || (reply.done && method == Some("session/terminate"));
            if ended {
                let (_, id) = known();
                if world.has_ledger() && !world.lied {
                    world.ended.insert(id);
                }
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
