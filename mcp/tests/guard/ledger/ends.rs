//! Ends: revocations, deletions, and sessions that are idle.

use std::time::Duration;

use sealwax_mcp::{
    Event, Failed, Head, Message, Outcome, Sent, Step, TransportMessage, TransportSettings,
};

use super::replica::{Replica, alice, call, code, open, read, seal};

/// A revocation goes by the time when a session began, not by when it was last sealed.
#[test]
fn a_revocation_ends_everything_of_its_user() {
    let replica = Replica::new();
    let session = replica.created();
    let mut exchange = replica.enter(read(&session)).unwrap();
    let state = replica.asked();
    let handle = replica.act(&exchange, seal("1", None)).unwrap();
    replica.pass(60);
    replica.revoke();
    replica.pass(60);
    // The state is sealed after the revocation, of a session that began before it.
    exchange.write("1").unwrap();
    let written = replica.leave(&mut exchange, Outcome::Complete).unwrap();
    for session in [&session, &written] {
        assert_eq!(code(replica.enter(read(session)).unwrap_err()), -32043);
    }
    assert_eq!(code(replica.second_round(&state).unwrap_err()), -32602);
    let exchange = replica.enter(call()).unwrap();
    let opened = replica.act(&exchange, open(&handle));
    assert!(opened.unwrap_err().tool.unwrap().is_error);
    // A new session of the same user is accepted.
    replica.enter(read(&replica.created())).unwrap();
}

#[test]
fn what_ended_stays_ended() {
    let replica = Replica::new();
    let session = replica.created();
    let mut late = replica.enter(read(&session)).unwrap();
    late.write("1").unwrap();
    let delete = Message {
        method: "sessions/delete",
        ..read(&session)
    };
    replica.enter(delete.clone()).unwrap();
    assert_eq!(
        code(replica.leave(&mut late, Outcome::Complete).unwrap_err()),
        -32043
    );
    assert_eq!(code(replica.enter(read(&session)).unwrap_err()), -32043);
    assert_eq!(code(replica.enter(delete).unwrap_err()), -32043);
}

#[test]
fn a_session_of_the_transport_ends_when_it_is_idle_and_for_good() {
    let replica = Replica::with(|guard| {
        guard.transport(TransportSettings {
            idle: Some(Duration::from_secs(600)),
            ..TransportSettings::default()
        })
    });
    let (mut exchange, _) = replica.guard.transport(TransportMessage {
        http: Some("POST"),
        method: Some("initialize"),
        initialize: Some("{}"),
        principal: Some(alice()),
        ..TransportMessage::default()
    });
    let head = Head {
        initialized: Some(r#"{"protocolVersion":"2025-11-25"}"#),
        ..Head::default()
    };
    let token = match exchange.on(Event::Left(head)).unwrap() {
        Step::Leave(leave) => leave.header.unwrap(),
        other => panic!("{other:?}"),
    };
    let send = |http| {
        let (mut exchange, step) = replica.guard.transport(TransportMessage {
            http: Some(http),
            method: (http == "POST").then_some("tools/list"),
            header: Sent::Text(&token),
            principal: Some(alice()),
            ..TransportMessage::default()
        });
        match replica.settle(&mut exchange, step) {
            Step::Deliver(_) => 200,
            Step::Reply(reply) => reply.status.unwrap(),
            other => panic!("{other:?}"),
        }
    };
    for _ in 0..3 {
        replica.pass(600);
        assert_eq!(send("POST"), 200);
    }
    replica.pass(601);
    assert_eq!(send("POST"), 404);
    replica.pass(1);
    assert_eq!(send("POST"), 404);

    assert_eq!(send("DELETE"), 204);
    assert_eq!(send("DELETE"), 404);
}

/// The caller of `revoke` learns whether the revocation is confirmed.
#[test]
fn a_revocation_is_tried_twice_and_confirmed() {
    let replica = Replica::new();
    let told = |replies: &[Result<&[&str], &str>]| {
        let (mut exchange, mut step) = replica.guard.revoke(&alice(), None).unwrap();
        for reply in replies {
            assert!(matches!(step, Step::Ledger(_)), "{step:?}");
            let texts = |words: &[&str]| words.iter().map(ToString::to_string).collect();
            let reply = reply.map(texts).map_err(|why| Failed(why.into()));
            step = exchange.on(Event::Ledger(reply)).unwrap();
        }
        let codes: Vec<_> = exchange.refused().iter().map(|one| one.code).collect();
        (matches!(step, Step::Done(_)), codes)
    };
    assert_eq!(told(&[Ok(&["ok", "0"])]), (true, vec![]));
    assert_eq!(told(&[Err("late"), Ok(&["ok", "1"])]), (true, vec![]));
    let unconfirmed = (true, vec!["ledger_unconfirmed"]);
    assert_eq!(told(&[Ok(&["ok", "1", "unconfirmed"])]), unconfirmed);
    let failed = (false, vec!["ledger_unavailable"]);
    assert_eq!(told(&[Ok(&["ok", "2", "unconfirmed"])]), failed);
    assert_eq!(told(&[Ok(&["full"])]), failed);
    assert_eq!(told(&[Ok(&[])]), failed);
    assert_eq!(told(&[Err("late"), Err("late")]), failed);
}
