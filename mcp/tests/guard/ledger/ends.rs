//! Ends: the room that they have, and revocations.

use crate::common::{AUDIENCE, Clock};
use sealwax::Principal;
use sealwax_mcp::ledger::{Command, Memory, Namespace, Script};
use sealwax_mcp::{Event, Failed, Guard, LedgerSettings, Step};

use super::replica::{DAY, Replica, START, alice, call, command};

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

/// What is over by a memory's clock stays so when the clock goes back.
#[test]
fn a_memory_knows_how_late_it_was() {
    let mut ledger = Memory::new(1 << 15, START - 60);
    let keys = || [record("u:r", 1), record("e:r", 1)];
    for now in [START + DAY, START + DAY - 60] {
        let used = admit("alice", "once", keys(), [""; 3]);
        assert_eq!(ledger.run(&used, now)[0], "expired");
    }
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
    let keys = |id| [record("h:s", id), record("e:s", id)];
    let renew = |ledger: &mut Memory, id: usize, generation: usize| {
        let keys = keys(id);
        let token = format!("{generation:032}");
        let of = [&*token, &*generation.to_string(), "S"];
        ledger.run(&admit("alice", "head", keys, of), START)
    };
    let fits = |id: &usize| renew(&mut ledger, *id, 0)[0] == "ok";
    let room = (0..).take_while(fits).count();
    assert!(room > 5, "{room}");
    for id in 0..room {
        assert_eq!(renew(&mut ledger, id, 1), ["ok", "0"]);
        let [seen, next] = [1, 2].map(|generation| format!("{generation:032}"));
        let args = [&*seen, "1", &next, "0", "S"].map(Into::into);
        let commit = Command::new(Script::Commit, keys(id).into(), args.into());
        assert_eq!(ledger.run(&commit, START)[0], "ok");
    }
    assert_eq!(renew(&mut ledger, room, 0), ["full"]);
}

/// The caller of `revoke` learns whether the revocation is confirmed.
#[test]
fn a_revocation_is_tried_twice_and_confirmed() {
    let replica = Replica::new();
    // It is remembered for longer than anything lives, on every clock.
    let (_, step) = replica.guard.revoke(&alice(), None).unwrap();
    let expected = [400 * DAY + 300, replica.now()].map(|time| time.to_string());
    assert_eq!(command(step).args, expected);
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
