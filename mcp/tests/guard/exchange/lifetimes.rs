//! When tokens, sessions and handles end.

use super::*;
use sealwax::{Codec, Environment, Error, System};

/// The ledger remembers a token until it opens on no clock, and a handle without an end for the longest life.
#[test]
fn until_is_the_end_on_every_clock() {
    let clock = clock();
    let guard = guard_with_ledger(&clock, |guard| guard.sessions(SessionSettings::default()));
    // After the attempt, the tolerance and a time: mode, issued, started, until.
    let until = |step| command(step).args[6].parse::<u64>().unwrap();
    let state = asked(&clock);
    let (_, step) = guard.message(Message {
        token: ClientValue::Text(state.as_str()),
        ..call()
    });
    assert_eq!(until(step), START + 600 + CLOCK_TOLERANCE);

    let longest = START + 400 * DAY + CLOCK_TOLERANCE;
    let (exchange, _) = guard.message(call());
    let view = clock.view("alice");
    let handle = view.mint_handle("basket").unwrap();
    for max_age in [seconds(60), None] {
        let (_, step) = operate(&exchange, "basket", check(handle.as_str(), max_age));
        assert_eq!(until(step), longest);
        let end = HandleOpKind::End {
            handle: ClientValue::Text(handle.as_str()),
            max_age,
            self_contained: false,
        };
        assert_eq!(until(operate(&exchange, "basket", end).1), longest);
    }
    // A session may be renewed: its end is remembered for longer than its latest state lives.
    let session = view.sessions().create(b"{}").unwrap();
    let state_ends = START + DAY + CLOCK_TOLERANCE;
    for (method, expected) in [("demo/read", state_ends), ("sessions/delete", longest)] {
        let (_, step) = guard.message(Message {
            method,
            session: client_session(&session),
            ..call()
        });
        assert_eq!(until(step), expected, "{method}");
    }
}

/// However long the author lets a yes count, and on every clock.
#[test]
fn a_yes_counts_once_for_as_long_as_any_may_count() {
    let confirm = sealwax_mcp::Confirm {
        message: Some("Delete note {id}?".into()),
        preview: true,
    };
    let guard = guard_with_ledger(&clock(), |guard| guard.confirm("play", confirm));
    let previewed = reply(guard.message_from(call(), None).1).tool.unwrap();
    let text = &previewed.content[0].text;
    let yes = &text[text.find("yes_").unwrap()..][..46];
    let agreed = format!(r#"{{"tool":"play","arguments":{{"id":7}},"confirmation":"{yes}"}}"#);
    let message = Message {
        target: Some("sealwax_confirm"),
        arguments: Some(&agreed),
        ..call()
    };
    let admit = command(guard.message_from(message, None).1);
    // It ends in the midst of a second.
    let until = START + DAY + 1 + CLOCK_TOLERANCE;
    assert_eq!(admit.args[6], until.to_string());
}

/// To a store, no time is for ever.
#[test]
fn a_revocation_is_remembered_for_a_second_at_least() {
    let guard = guard_with_ledger(&clock(), |guard| guard);
    for (retain_for, is_right) in [(0, false), (999, false), (1000, true)] {
        let revoked = guard.revoke(&alice(), Some(Duration::from_millis(retain_for)));
        assert_eq!(revoked.is_ok(), is_right, "{retain_for}");
    }
}

#[test]
fn a_fork_ends_with_the_session_that_it_began_from() {
    let clock = clock();
    let no_expiry = true;
    let guard = guard_with(&clock, |guard| {
        guard.sessions(SessionSettings {
            no_expiry,
            ..SessionSettings::default()
        })
    });
    let view = clock.view("alice");
    let session = view.sessions().no_expiry().create(b"{}").unwrap();
    clock.pass(DAY);
    let (mut exchange, _) = guard.message(Message {
        session: client_session(&session),
        ..call()
    });
    exchange.write("1").unwrap();
    let fork = exchange.fork().unwrap();
    assert_ne!(fork.session_id, session.session_id);
    assert_eq!(fork.expires_at, session.expires_at);
}

#[test]
fn a_session_of_the_transport_lives_as_long_as_its_author_and_the_codec_said() {
    let params = r#"{"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    let result = r#""result":{"protocolVersion":"2025-11-25","capabilities":{}}"#;
    for (days, timeout) in [(2, 2 * DAY), (30, 7 * DAY)] {
        let clock = clock();
        let transport = TransportSettings {
            ttl: seconds(days * DAY),
            sep1359: true,
            ..TransportSettings::default()
        };
        let guard = guard_with(&clock, |guard| guard.transport(transport));
        let (_, step) = initialized(&guard, params, result);
        let Step::Respond(respond) = step else {
            panic!("{step:?}")
        };
        assert_eq!(respond.timeout, Some(timeout));
        let token = respond.header.unwrap();
        let (_, step) = over_http(&guard, ClientValue::Text(&token), LIST);
        let Step::Deliver(deliver) = step else {
            panic!("{step:?}")
        };
        assert_eq!(deliver.id.as_ref().map(String::len), Some(32));
        assert_eq!(deliver.expires_at, Some(START + days * DAY));
    }
}

#[test]
fn a_chain_of_handles_is_as_old_as_its_first() {
    let clock = clock();
    let guard = guard_with(&clock, |guard| guard);
    let (exchange, _) = guard.message(call());
    let view = clock.view("alice");
    let sealed = view.handle_state("basket").seal(b"1").unwrap();
    clock.pass(60);
    for (max_age, opens) in [(61, true), (60, false)] {
        let kind = HandleOpKind::Open {
            handle: ClientValue::Text(sealed.as_str()),
            max_age: seconds(max_age),
            once: false,
        };
        let (_, step) = operate(&exchange, "basket", kind);
        assert_eq!(matches!(step, Step::Done(_)), opens, "{max_age}");
    }
}

/// A clock that leaps at each reading, as on a busy machine, and no randomness if it is dry.
struct Hasty {
    now_ms: std::sync::atomic::AtomicU64,
    is_dry: bool,
}

impl Hasty {
    fn guard(is_dry: bool, settings: impl FnOnce(GuardBuilder) -> GuardBuilder) -> Guard {
        let environment = Self {
            now_ms: START_MS.into(),
            is_dry,
        };
        let codec = Codec::builder(crate::common::ring(), crate::common::AUDIENCE);
        let codec = codec.build_in(environment).unwrap();
        settings(Guard::builder(codec)).build().unwrap()
    }
}

impl Environment for Hasty {
    fn now_ms(&self) -> u64 {
        self.now_ms
            .fetch_add(2000, std::sync::atomic::Ordering::Relaxed)
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        match self.is_dry {
            true => Err(Error::EntropyUnavailable),
            false => System.fill(bytes),
        }
    }
}

#[test]
fn what_ends_at_once_is_sealed_all_the_same() {
    let guard = Hasty::guard(false, |guard| guard);
    let (exchange, _) = guard.message(call());
    let seal = HandleOpKind::Seal {
        value: "1",
        ttl: seconds(1),
        predecessor: None,
        once: false,
    };
    for kind in [seal, seal_link(seconds(1))] {
        done(operate(&exchange, "cart", kind).1);
    }
    // Settings are read without randomness.
    Hasty::guard(true, |guard| {
        guard
            .request_state_ttl(Duration::from_secs(1))
            .sessions(SessionSettings::default())
    });
}
