//! A generator that fails, or gives zeros; clocks that jump, stand still, or show a time that cannot be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{AUDIENCE, Clock, ring};
use sealwax::{Codec, Environment, Error, Key, Principal, RequestContext, View};

type Fill = fn(&mut [u8]) -> Result<(), Error>;

/// A generator whose draw of this number fails, with all that follow; what fails says `by`.
struct Failing {
    good: u64,
    drawn: AtomicU64,
    by: Fill,
}

impl Environment for Failing {
    fn now_ms(&self) -> u64 {
        1_800_000_000_000
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        if drawn >= self.good {
            return (self.by)(bytes);
        }
        bytes.fill(u8::try_from(drawn + 1).unwrap());
        Ok(())
    }
}

type Made = (&'static str, u64, fn(&View) -> Result<Vec<String>, Error>);

/// Whatever draws, how often, and the texts that it made.
const MADE: &[Made] = &[
    ("cursor", 1, |view| {
        Ok(vec![view.cursor("tools/list").seal(b"2")?.into_string()])
    }),
    ("request state", 1, |view| {
        let context = RequestContext::new("tools/call", "rm", None)?;
        Ok(vec![view.request_state(&context).seal(b"2")?.into_string()])
    }),
    ("session id", 1, |view| {
        Ok(vec![view.mint_session_id()?.as_str().to_owned()])
    }),
    ("handle", 1, |view| {
        Ok(vec![view.mint_handle("row")?.as_str().to_owned()])
    }),
    ("session", 2, |view| {
        let made = view.sessions().create(b"2")?;
        Ok(vec![made.session_id, made.state.unwrap_or_default()])
    }),
    ("session of the server", 1, |view| {
        Ok(vec![view.sessions().mint()?.session_id])
    }),
];

fn failing(good: u64, by: Fill) -> View {
    let drawn = AtomicU64::new(0);
    let codec = Codec::builder(ring(), AUDIENCE)
        .build_in(Failing { good, drawn, by })
        .unwrap();
    codec.view(&Principal::subject("alice")).unwrap()
}

#[test]
fn nothing_leaves_with_a_draw_that_failed() {
    let failures: [Fill; 4] = [
        |_| Err(Error::EntropyUnavailable),
        // Half of it is written when it fails.
        |bytes| {
            let half = bytes.len() / 2;
            bytes[..half].fill(7);
            Err(Error::EntropyUnavailable)
        },
        // A stub, which says that all is well.
        |_| Ok(()),
        |bytes| {
            bytes.fill(0);
            Ok(())
        },
    ];
    for by in failures {
        for (name, draws, make) in MADE {
            for good in 0..*draws {
                let found = make(&failing(good, by));
                assert_eq!(found, Err(Error::EntropyUnavailable), "{name} at {good}");
            }
            assert!(make(&failing(*draws, by)).is_ok(), "{name}");
        }
        let drawn = AtomicU64::new(0);
        let found = Key::generate_in(&Failing { good: 0, drawn, by });
        assert_eq!(found.map(|_| ()), Err(Error::EntropyUnavailable));
    }
}

/// In milliseconds: before 1970 is 0; 2038, 2106; the largest of a ulid; the largest of JavaScript; the largest.
const TIMES: [u64; 16] = [
    0,
    999,
    1_000,
    (1 << 31) * 1_000,
    ((1 << 32) - 1) * 1_000,
    (1 << 32) * 1_000,
    ((1 << 32) + 60) * 1_000,
    1_800_000_000_000,
    (1 << 48) - 1,
    1 << 48,
    (1 << 48) + 1_800_000_000_000,
    8_640_000_000_000_000,
    i64::MAX as u64,
    u64::MAX - 999,
    u64::MAX - 1,
    u64::MAX,
];

const CLOCK_TOLERANCE: u128 = 60;

/// SPEC.md, section 9, steps 7 and 8: sums saturate.
fn expected(issued: u64, now: u64, ttl: Option<u64>, unit: u128) -> Result<(), &'static str> {
    let sum = |seconds: u128| (u128::from(issued) + seconds * unit).min(u64::MAX.into());
    if u128::from(issued) > (u128::from(now) + CLOCK_TOLERANCE * unit).min(u64::MAX.into()) {
        Err("not_yet_valid")
    } else if ttl.is_some_and(|ttl| u128::from(now) >= sum(ttl.into())) {
        Err("expired")
    } else {
        Ok(())
    }
}

fn code<T>(found: Result<T, Error>) -> Result<(), &'static str> {
    found.map(|_| ()).map_err(|error| error.code())
}

#[test]
fn at_any_two_times_a_token_opens_as_the_specification_says() {
    let clock = Clock::at_ms(0);
    let alice = clock.view("alice");
    let day = Duration::from_secs(86_400);
    for made in TIMES {
        clock.set_ms(made);
        let cursor = alice.cursor("tools/list").seal(b"2").unwrap();
        let forever = alice.session().no_expiry().seal(b"2").unwrap();
        let id = alice.mint_session_id().unwrap();
        let handle = alice.mint_handle("row").unwrap();
        let session = alice.sessions().create(b"2").unwrap();
        for now in TIMES {
            clock.set_ms(now);
            let (seconds, then) = (now / 1_000, made / 1_000);
            // The largest time of 6 bytes, where it is larger.
            let minted = made.min((1 << 48) - 1);
            let sealed = |ttl| expected(then, seconds, ttl, 1);
            let signed = |ttl| expected(minted, now, ttl, 1_000);
            let a_day = Some(86_400);
            let (id, handle, long) = (id.as_str(), handle.as_str(), forever.as_str());
            let page = alice.cursor("tools/list").open(cursor.as_str());
            let row = alice.verify_handle("row", handle, Some(day));
            let both = signed(Some(7 * 86_400)).and(sealed(a_day));
            for (found, expected) in [
                (code(page), sealed(a_day)),
                (code(row), signed(a_day)),
                (code(alice.sessions().open(&session)), both),
                (code(alice.session().open(long)), sealed(None)),
                (code(alice.session().max_age(day).open(long)), sealed(a_day)),
                (code(alice.verify_session_id(id, None)), signed(None)),
                (code(alice.verify_session_id(id, Some(day))), signed(a_day)),
            ] {
                assert_eq!(found, expected, "made at {made}, opened at {now}");
            }
        }
    }
}
