//! On sealed tokens.

use format_model::{Attack, Check, attacks};

/// What each check prevents. One without an attack is redundant: the pairs below say with what.
const ALONE: [(Check, &[Attack]); 17] = [
    (Check::Spelling, &[]),
    (Check::Kind, &[Attack::Kind]),
    (Check::Ring, &[Attack::Forged]),
    (Check::Header, &[Attack::Kind]),
    (Check::Audience, &[Attack::Audience]),
    (Check::Label, &[Attack::Label]),
    (Check::Session, &[Attack::Session]),
    (Check::Context, &[Attack::Request]),
    (Check::Lengths, &[Attack::Audience, Attack::Label]),
    (
        Check::Authentic,
        &[
            Attack::Forged,
            Attack::Kind,
            Attack::Audience,
            Attack::Label,
            Attack::Session,
            Attack::Request,
            Attack::Revived,
        ],
    ),
    (Check::Holder, &[Attack::Read, Attack::Principal]),
    (Check::NotYet, &[Attack::Early]),
    (Check::Lifetime, &[Attack::Late]),
    (Check::MaxAge, &[Attack::Late]),
    (Check::Beginning, &[Attack::Late]),
    (Check::IdOfBytes, &[]),
    (Check::Ended, &[Attack::Revived]),
];

#[test]
fn with_every_check_there_is_no_attack() {
    assert!(attacks(&[]).is_empty(), "{:?}", attacks(&[]));
}

#[test]
fn without_a_check_there_is_one_or_another_check_prevents_it() {
    for (check, expected) in ALONE {
        let found: Vec<_> = attacks(&[check]).into_iter().collect();
        assert_eq!(found, expected, "without {check:?}");
    }
    assert_eq!(ALONE.map(|(check, _)| check), Check::ALL);
}

#[test]
fn without_both_of_two_checks_of_the_same_there_is_one() {
    let found = attacks(&[Check::Spelling, Check::IdOfBytes]);
    assert_eq!(found, [Attack::Revived].into());
}
