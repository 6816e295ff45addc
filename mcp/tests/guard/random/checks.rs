//! Checks of each step.

use proptest::prelude::*;
use sealwax::{Codec, Environment as _, Kind, Principal, RequestContext, System, View};
use sealwax_mcp::{Deliver, Event, Exchange, Respond, Step, TokenFields};

use super::Played;
use super::case::{Case, Token};
use crate::common::{AUDIENCE, ring};

pub fn now() -> u64 {
    System.now_ms() / 1000
}

pub fn codec() -> Codec {
    Codec::new(ring(), AUDIENCE).unwrap()
}

pub fn view(who: &str) -> View {
    codec().view(&Principal::subject(who)).unwrap()
}

fn context(method: &str) -> RequestContext {
    RequestContext::new(method, "play", None).unwrap()
}

/// A token whose plaintext names its principal and its method.
pub fn made(by: &str, method: &str) -> String {
    let payload = format!("secret of {by} for {method}");
    let view = view(by);
    let is_state = TokenFields::for_method(method).is_some_and(|it| it.kind == Kind::RequestState);
    if is_state {
        view.request_state(&context(method))
            .seal(payload.as_bytes())
            .unwrap()
            .into_string()
    } else {
        view.cursor(method)
            .seal(payload.as_bytes())
            .unwrap()
            .into_string()
    }
}

/// An event out of order is the adapter's mistake, and changes nothing.
pub fn disturb(exchange: &mut Exchange, step: &Step) {
    let wrong = match step {
        Step::Begin => Event::Ledger(Ok(Vec::new())),
        _ => Event::Begun(Ok("1")),
    };
    assert!(exchange.on(wrong).is_err());
    if !matches!(step, Step::Identify) {
        assert!(exchange.on(Event::Principal(Ok(None))).is_err());
    }
}

pub fn check_delivered(
    case: &Case,
    played: &Played<'_>,
    exchange: &Exchange,
    deliver: &Deliver,
) -> Result<(), TestCaseError> {
    prop_assert!(!played.garbled, "the ledger said nothing that is known");
    if let Some(text) = &deliver.opened {
        let who = case.who.unwrap();
        prop_assert_eq!(text, &format!("secret of {who} for {}", case.method));
    }
    let carries = TokenFields::for_method(case.method).filter(|_| !case.notification);
    // The guard serves `sessions/create` itself, which reads nothing else.
    if deliver.builtin_result.is_none() && carries.is_some() && !matches!(case.token, Token::Absent)
    {
        prop_assert!(
            deliver.opened.is_some(),
            "what came was opened, or it was refused"
        );
    }
    if carries.is_some_and(|it| it.kind == Kind::RequestState) {
        prop_assert!(case.who.is_some());
        prop_assert_eq!(exchange.state().unwrap(), deliver.opened.as_deref());
    } else {
        prop_assert!(exchange.state().is_err());
    }
    if !case.has_sessions {
        prop_assert!(exchange.session().is_none());
        return Ok(());
    }
    match (case.session, exchange.session()) {
        (Some((by, with_state)), found) => {
            prop_assert_eq!(Some(by), case.who);
            prop_assert!(!case.modern || !case.header);
            if case.method == "sessions/delete" {
                return Ok(());
            }
            prop_assert!(with_state);
            let is_list = case.method.ends_with("/list");
            prop_assert_eq!(found.is_none(), is_list);
            if let Some(found) = found {
                prop_assert_eq!(found.value().unwrap(), format!("\"value of {by}\""));
            }
        }
        (None, found) => {
            prop_assert!(found.is_none());
            let free = ["ping", "sessions/create", "tools/list"].contains(&case.method);
            prop_assert!(free || !case.requires_all || case.notification);
        }
    }
    Ok(())
}

pub fn check_left(case: &Case, left: &str, leave: &Respond) -> Result<(), TestCaseError> {
    let errs = case.outcome == 2;
    let carries = TokenFields::for_method(case.method);
    let has_session =
        case.has_sessions && case.session.is_some() && case.method != "sessions/delete";
    let is_state = carries.is_some_and(|it| it.kind == Kind::RequestState);
    prop_assert!(
        !(is_state && case.outcome == 0) || matches!(case.left, Token::Absent),
        "a state leaves only where the client is asked"
    );
    let needs_seal = carries.is_some() && !errs && !matches!(case.left, Token::Absent);
    match &leave.token {
        Some(token) => {
            prop_assert!(needs_seal);
            prop_assert!(token.starts_with("sw1.") && token != left);
            let alice = case.who.map(view);
            let method = case.method;
            let opened = match carries.unwrap().kind {
                Kind::RequestState => alice
                    .unwrap()
                    .request_state(&context(method))
                    .open(token)
                    .unwrap()
                    .into_payload(),
                _ => {
                    let public = case.public && !has_session;
                    let anybody = codec().view(&Principal::anonymous()).unwrap();
                    let view = if public { anybody } else { alice.unwrap() };
                    view.cursor(method).open(token).unwrap().into_payload()
                }
            };
            prop_assert_eq!(opened, left.as_bytes());
        }
        None => prop_assert!(!needs_seal, "what must leave sealed"),
    }
    prop_assert_eq!(leave.metadata.is_some(), has_session && !errs);
    if has_session && !errs {
        prop_assert_eq!(leave.cache_scope, Some(sealwax_mcp::Scope::Private));
    }
    Ok(())
}
