//! Ends: revocations, deletions, and sessions that are idle.

use std::time::Duration;

use crate::common::{AUDIENCE, Clock, ring};
use sealwax::{Codec, Principal};
use sealwax_mcp::ledger::{Command, Memory, Namespace, RecordKind, Script};
use sealwax_mcp::{
    ClientValue, Event, Failed, Guard, HandleOpKind, LedgerSettings, Message, SessionSettings,
    Step, TransportSettings,
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

/// What an operator ends, by the id and the kind of the log, is no longer there; the other kind is.
#[test]
fn a_session_of_the_transport_ends_as_one() {
    let replica = Replica::with(|guard| guard.transport(TransportSettings::default()));
    let negotiated = br#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    let view = replica.clock.view("alice");
    let sessions = [(); 2].map(|()| view.session().seal(negotiated).unwrap());
    let is_there = |header: &str| replica.delivers(header);
    let names = Namespace::new(AUDIENCE, "");
    for (session, kind) in sessions
        .iter()
        .zip([RecordKind::Transport, RecordKind::Session])
    {
        assert!(is_there(session.as_str()));
        let end = names.end(&[kind], &session.id().to_string(), None).unwrap();
        assert_eq!(replica.run(&end)[0], "ok");
        assert_eq!(is_there(session.as_str()), kind != RecordKind::Transport);
    }
}

/// One that is used does not keep another one alive.
#[test]
fn each_session_of_the_transport_is_idle_by_itself() {
    let replica = Replica::with(|guard| {
        guard.transport(TransportSettings {
            idle: Some(Duration::from_secs(60)),
            ..TransportSettings::default()
        })
    });
    let negotiated = br#"{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    let view = replica.clock.view("alice");
    let [used, idle] = [(); 2].map(|()| view.session().seal(negotiated).unwrap());
    let is_there = |header: &str| replica.delivers(header);
    assert!(is_there(used.as_str()) && is_there(idle.as_str()));
    replica.pass(50);
    assert!(is_there(used.as_str()));
    replica.pass(50);
    assert!(is_there(used.as_str()) && !is_there(idle.as_str()));
}

const NAMES: fn() -> Namespace = || Namespace::new(AUDIENCE, "");

/// The command that revokes somebody, whose first key is their mark.
fn revocation(who: &str) -> Command {
    let revoked = NAMES().revoke(&Principal::subject(who), None, START);
    revoked.unwrap()
}

/// The key of a record.
fn record(kind: &str, id: impl std::fmt::Display) -> String {
    NAMES()
        .began()
        .replace("began", &format!("{kind}:{id:0>32}"))
}

/// A command that asks about one token of somebody, which lives for a day.
fn admit(
    who: &str,
    mode: &str,
    [key, end]: [String; 2],
    [token, generation, state]: [&str; 3],
) -> Command {
    let mark = revocation(who).keys.remove(0);
    let keys = [NAMES().began(), NAMES().fence(), mark, key, end];
    let (now, until) = (START.to_string(), (START + DAY).to_string());
    let args = [
        "attempt", "5", "0", mode, &now, &now, &until, token, generation, state,
    ];
    Command::new(Script::Admit, keys.into(), args.map(Into::into).into())
}

/// How many records of somebody a ledger takes before it is full.
fn fills(
    ledger: &mut Memory,
    who: &str,
    mode: &str,
    kind: &str,
    ids: &mut std::ops::RangeFrom<usize>,
) -> usize {
    let fits = |id: &usize| {
        let keys = [record(kind, id), record("e:r", id)];
        ledger.run(&admit(who, mode, keys, [""; 3]), START)[0] == "ok"
    };
    ids.take_while(fits).count()
}

/// What was used takes no room from what ends, nor either of them from revocations: nobody becomes irrevocable by filling
/// the ledger.
#[test]
fn uses_ends_and_revocations_have_room_of_their_own() {
    let (mut ledger, mut ids) = (Memory::new(1 << 15, START - 60), 0..);
    for who in 0..40 {
        fills(&mut ledger, &format!("user{who}"), "once", "u:r", &mut ids);
    }
    assert_eq!(fills(&mut ledger, "mallory", "once", "u:r", &mut ids), 0);
    let mut ends = |ledger: &mut _, who: &str| fills(ledger, who, "end", "e:r", &mut ids);
    assert!(ends(&mut ledger, "alice") > 5);
    assert!(ends(&mut ledger, "bob") > 2, "each has room of their own");
    for who in 0..40 {
        ends(&mut ledger, &format!("user{who}"));
    }
    assert_eq!(ends(&mut ledger, "mallory"), 0);
    let is_revoked = |ledger: &mut Memory, who: &str| {
        let live = admit(
            who,
            "live",
            [record("e:h", "x"), record("e:h", "x")],
            [""; 3],
        );
        ledger.run(&live, START + 1)[0] == "revoked"
    };
    assert!(!is_revoked(&mut ledger, "mallory"));
    for who in ["alice", "mallory", "alice"] {
        assert_eq!(ledger.run(&revocation(who), START)[0], "ok");
    }
    for (who, expected) in [("alice", true), ("mallory", true), ("bob", false)] {
        assert_eq!(is_revoked(&mut ledger, who), expected, "{who}");
    }
}

/// The later one of the store's clock and this one decides, by ledger.json.
#[test]
fn a_revocation_says_when_it_was_asked_for() {
    let (_, step) = Replica::new().guard.revoke(&alice(), None).unwrap();
    let Step::Ledger(revoke) = step else {
        panic!("{step:?}")
    };
    let now: u64 = revoke.args[1].parse().unwrap();
    assert!((START..START + DAY).contains(&now), "{now}");
}

/// A revocation is urgent: it opens the ledger, however recently that failed, and after 2106 too.
#[test]
fn a_revocation_does_not_wait_until_a_ledger_is_tried_again() {
    for start in [START, u64::from(u32::MAX) - 1, u64::from(u32::MAX) + DAY] {
        let clock = Clock::at_ms(start * 1000);
        let builder = Guard::builder(clock.codec()).ledger(LedgerSettings::default());
        let guard = builder.build().unwrap();
        let opens = |step: &Step| matches!(step, Step::Ledger(open) if open.script == Script::Open);
        let down = || Event::Ledger(Err(Failed::Wrong("down".into())));
        let (mut exchange, step) = guard.message(call());
        assert!(opens(&step), "{step:?}");
        exchange.on(down()).unwrap();
        exchange.on(down()).unwrap();
        let (_, step) = guard.message(call());
        assert!(
            start != START || matches!(step, Step::Deliver(_)),
            "not again at once: {step:?}"
        );
        let (_, step) = guard.revoke(&alice(), None).unwrap();
        assert!(opens(&step), "{step:?}");
    }
}

/// What is replaced needs no room.
#[test]
fn a_full_ledger_goes_on_with_the_sessions_that_it_has() {
    let mut ledger = Memory::new(1 << 14, START - 60);
    let mut renew = |id: usize, generation: usize| {
        let keys = [record("h:s", id), record("e:s", id)];
        let token = format!("{generation:032}");
        let of = [&*token, &*generation.to_string(), "S"];
        ledger.run(&admit("alice", "head", keys, of), START)
    };
    let room = (0..).take_while(|id| renew(*id, 0)[0] == "ok").count();
    assert!(room > 5, "{room}");
    for id in 0..room {
        assert_eq!(renew(id, 1), ["ok", "0"]);
    }
    assert_eq!(renew(room, 0), ["full"]);
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
            let reply = reply.map(texts).map_err(|why| Failed::Wrong(why.into()));
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

/// Lua's patterns would read it in another way.
#[test]
fn a_fence_with_white_space_in_a_word_is_broken() {
    let namespace = Namespace::new(AUDIENCE, "");
    let id = "0123456789abcdef0123456789abcdef";
    let end = namespace.end(&[RecordKind::Session], id, None).unwrap();
    for (fence, word) in [
        ("1 run 2", "ok"),
        ("1 a\tb 2", "broken"),
        ("1  2", "broken"),
        ("1 run", "broken"),
    ] {
        let evaluated = end.evaluate(START, &[Some("1"), Some(fence), None, None, None]);
        assert_eq!(evaluated.reply[0], word, "{fence:?}");
    }
}
