//! The clock that an application's tests set, and the system's.

use std::time::{Duration, UNIX_EPOCH};

use sealwax::Environment as _;
use sealwax::testing::{TestClock, codec};

#[test]
fn a_clock_is_set_and_passes_as_told() {
    let clock = TestClock::at_ms(1_500);
    assert_eq!((clock.now(), clock.now_ms()), (1, 1_500));
    clock.advance(Duration::from_millis(600));
    assert_eq!((clock.now(), clock.now_ms()), (2, 2_100));
    clock.set(1_800_000_000);
    assert_eq!(clock.now_ms(), 1_800_000_000_000);
    clock.set_ms(7);
    assert_eq!(clock.now_ms(), 7);
    assert_eq!(TestClock::at(3).now_ms(), 3_000);
}

#[test]
fn randomness_is_the_systems() {
    let clock = TestClock::at(1_800_000_000);
    let codec = codec(&clock).unwrap();
    let view = codec.view(&sealwax::Principal::subject("alice"));
    let view = view.unwrap();
    let [one, other] = [(); 2].map(|()| view.session().seal(b"").unwrap());
    assert_ne!(one.id(), other.id());
}

#[test]
fn elsewhere_the_clock_is_the_systems() {
    let [before, now, after] = [false, true, false].map(|ours| match ours {
        true => u128::from(sealwax::System.now_ms()),
        false => UNIX_EPOCH.elapsed().unwrap().as_millis(),
    });
    assert!((before..=after).contains(&now), "{before} {now} {after}");
}
