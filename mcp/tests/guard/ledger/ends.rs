//! Ends: revocations, deletions, and sessions that are idle.

use std::time::Duration;

use crate::common::{AUDIENCE, ring};
use sealwax::{Codec, Principal};
use sealwax_mcp::ledger::{Command, Memory, Namespace, Script};
use sealwax_mcp::{
    ClientValue, Event, Failed, Guard, HandleOpKind, LedgerSettings, Message, SessionSettings, Step,
};

use super::replica::{DAY, Replica, START, alice, call, code, read};

/// What ended in a guard whose sessions and handles are young has ended in one that lets them grow old.
#[test]
fn a_larger_maximum_age_revives_nothing() {
    let mut replica = Replica::with(|guard| {
        guard.sessions(SessionSettings {
            no_expiry: true,
            ..SessionSettings::default()
        })
    });
    let aged = |replica: &Replica, age: u64| {
        let age = Duration::from_secs(age);
        let builder = Codec::builder(ring(), AUDIENCE).session_max_age(age);
        let codec = builder.build_in(replica.clock.clone()).unwrap();
        let guard = Guard::builder(codec).ledger(LedgerSettings::default());
        let guard = guard.sessions(SessionSettings {
            no_expiry: true,
            ..SessionSettings::default()
        });
        guard.build().unwrap()
    };
    replica.guard = aged(&replica, DAY);
    replica.open();
    let created = |replica: &Replica| {
        let view = replica.clock.view("alice");
        view.sessions().no_expiry().create(b"0").unwrap()
    };
    let [ended, revoked] = [(); 2].map(|()| created(&replica));
    let exchange = replica.enter(call()).unwrap();
    let day = Some(Duration::from_secs(DAY));
    let minted = replica.handle(&exchange, HandleOpKind::Mint { max_age: day });
    let minted = minted.unwrap().handle.unwrap();
    let end = |max_age| HandleOpKind::End {
        handle: ClientValue::Text(&minted),
        max_age,
        self_contained: false,
    };
    let check = |max_age| HandleOpKind::Check {
        handle: ClientValue::Text(&minted),
        max_age,
    };
    replica.handle(&exchange, check(day)).unwrap();
    replica.handle(&exchange, end(day)).unwrap();
    let delete = Message {
        method: "sessions/delete",
        ..read(&ended)
    };
    replica.enter(delete).unwrap();
    replica.pass(10);
    replica.revoke();
    replica.pass(10);
    // An older state of a session is older than the latest one.
    let old = created(&replica);
    let mut exchange = replica.enter(read(&old)).unwrap();
    exchange.write("1").unwrap();
    let latest = replica.leave(&mut exchange);

    replica.guard = aged(&replica, 1000 * DAY);
    replica.open();
    replica.pass(399 * DAY);
    for (session, why) in [(&ended, -32043), (&revoked, -32043), (&old, -32044)] {
        assert_eq!(code(replica.enter(read(session)).unwrap_err()), why);
    }
    let exchange = replica.enter(call()).unwrap();
    let handle = replica.handle(&exchange, check(None)).unwrap_err();
    assert!(handle.tool.unwrap().is_error);
    replica.enter(read(&latest)).unwrap();

    // Nothing is older than the ledger remembers.
    replica.pass(DAY);
    let (mut exchange, step) = replica.guard.message(read(&latest));
    let Step::Reply(reply) = replica.settle(&mut exchange, step) else {
        panic!("expected a refusal")
    };
    assert_eq!(code(reply), -32043);
    assert_eq!(exchange.refused()[0].code, "expired");
}

/// Nobody becomes irrevocable by filling the ledger.
#[test]
fn those_who_fill_the_ledger_are_revoked() {
    let mut ledger = Memory::new(1 << 16, START - 60);
    let names = Namespace::new(AUDIENCE, "");
    let texts = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mark = |who: &str| {
        let revoke = names.revoke(&Principal::subject(who), None).unwrap();
        revoke.keys[0].clone()
    };
    let admit = |who: &str, mode: &str, id: usize| {
        let began = names.began();
        let end = began.replace("began", &format!("e:h:{id:032}"));
        let keys = [began, names.fence(), mark(who), end.clone(), end];
        let (issued, until) = (START.to_string(), (START + DAY).to_string());
        let mut args = texts(&["attempt", "5", "0", mode, &issued, &issued, &until]);
        args.extend(texts(&["", "", ""]));
        Command::new(Script::Admit, keys.into(), args)
    };
    let mut ended = 0..;
    let mut fill = |ledger: &mut Memory, who: &str| {
        let ends = |id: &usize| ledger.run(&admit(who, "end", *id), START)[0] == "ok";
        ended.by_ref().take_while(ends).count()
    };
    assert!(fill(&mut ledger, "alice") > 20);
    let others: Vec<_> = (0..40).map(|at| format!("user{at}")).collect();
    for other in &others {
        fill(&mut ledger, other);
    }
    assert_eq!(
        fill(&mut ledger, "mallory"),
        0,
        "there is no room for an end"
    );
    for who in ["alice", "mallory", "alice"] {
        let revoke = names.revoke(&Principal::subject(who), None).unwrap();
        assert_eq!(ledger.run(&revoke, START)[0], "ok");
        let tokens = ledger.run(&admit(who, "live", usize::MAX), START + 1);
        assert_eq!(tokens[0], "revoked");
    }
    let bobs = ledger.run(&admit("bob", "live", usize::MAX), START + 1);
    assert_eq!(bobs[0], "ok");
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
