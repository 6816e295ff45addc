//! How long the questions of a request may wait together.

use super::*;
use sealwax_mcp::Failed;

const LIMIT: Duration = Duration::from_secs(1);
const SHARE: Duration = Duration::from_millis(300);

/// A guard that opens its ledger with the first message.
fn guard(clock: &Clock) -> Guard {
    guard_with(clock, |guard| guard.ledger(LedgerSettings::default()))
}

fn within(step: &Step) -> Duration {
    match step {
        Step::Ledger(command) => command.within,
        Step::Deliver(deliver) => deliver.within,
        other => panic!("{other:?}"),
    }
}

fn silent() -> Event<'static> {
    Event::Ledger(Err(Failed::Wrong("ledger: silent".into())))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn what_waited_is_taken_from_what_the_next_question_has() {
    let clock = clock();
    let state = asked(&clock);
    let token = ClientValue::Text(state.as_str());
    let (mut exchange, step) = guard(&clock).message(Message { token, ..call() });
    let open = command(step);
    assert_eq!((open.script, open.within), (Script::Open, SHARE));
    clock.pass_ms(200);
    assert_eq!(command(exchange.on(silent()).unwrap()).within, SHARE);
    clock.pass_ms(300);
    let admit = command(exchange.on(ok()).unwrap());
    assert_eq!((admit.script, admit.within), (Script::Admit, SHARE));
    clock.pass_ms(260);
    let again = command(exchange.on(silent()).unwrap());
    assert_eq!((&again.args, again.within), (&admit.args, ms(240)));
    clock.pass_ms(10);
    let step = exchange.on(ok()).unwrap();
    assert_eq!(within(&step), ms(230), "for the message inside");
}

#[test]
fn a_clock_that_stands_still_goes_back_or_leaps_takes_no_more_than_was_given() {
    for (now_ms, left) in [
        (START_MS, LIMIT),
        (START_MS - 5000, LIMIT),
        (START_MS + 60_000, LIMIT - SHARE),
    ] {
        let clock = clock();
        let state = asked(&clock);
        let token = ClientValue::Text(state.as_str());
        let (mut exchange, _) = guard(&clock).message(Message { token, ..call() });
        clock.set_ms(now_ms);
        assert_eq!(within(&exchange.on(ok()).unwrap()), SHARE);
        let again = command(exchange.on(silent()).unwrap());
        assert_eq!(again.within, SHARE);
        assert_eq!(within(&exchange.on(ok()).unwrap()), left);
    }
}

#[test]
fn what_there_is_no_time_to_ask_has_no_answer() {
    let clock = clock();
    let guard = guard(&clock);
    let state = asked(&clock);
    let (mut exchange, step) = guard.message(Message {
        token: ClientValue::Text(state.as_str()),
        within: Some(Duration::ZERO),
        ..call()
    });
    assert_eq!(code(step), -32603);
    let refused = exchange.refused();
    let codes: Vec<_> = refused.iter().map(|one| one.code).collect();
    assert_eq!(codes, ["ledger_unavailable", "ledger_unavailable"]);
    assert!(refused[1].message.contains("expected an answer in time"));

    // What asks nothing is delivered.
    let (mut exchange, step) = guard.message(Message {
        within: Some(Duration::ZERO),
        ..call()
    });
    assert_eq!(within(&step), Duration::ZERO);
    // An operation of its handler has a limit of its own.
    let handle = clock.view("alice").mint_handle("basket").unwrap();
    let (_, step) = operate(&exchange, "basket", check(handle.as_str(), None));
    assert_eq!(within(&step), SHARE);
    assert!(exchange.refused().is_empty());
}

#[test]
fn an_adapter_lends_no_more_than_the_limit() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard.time_limit(ms(500)));
    for (lent, expected) in [(None, 500), (Some(ms(20)), 20), (Some(ms(900)), 500)] {
        let (_, step) = guard.message(Message {
            within: lent,
            ..call()
        });
        assert_eq!(within(&step), ms(expected));
    }
}
