//! On session ids and handles.

use std::collections::BTreeSet;

use format_model::Attack::{self, Audience, Early, Forged, Kind, Label, Late, Principal, Revived};
use format_model::identifier::{Body, Check, attacks};

/// What each check prevents on ids, and on handles. One without an attack is redundant, or not theirs.
const ALONE: [(Check, &[Attack], &[Attack]); 18] = [
    (Check::Spelling, &[], &[]),
    (Check::Prefix, &[], &[]),
    (Check::Ring, &[Forged], &[Forged]),
    (Check::Domain, &[], &[]),
    (Check::Audience, &[Audience], &[Audience]),
    (Check::Type, &[], &[Label]),
    (Check::KeyId, &[], &[]),
    (
        Check::Ulid,
        &[],
        &[Forged, Principal, Kind, Audience, Label],
    ),
    (Check::Ptag, &[], &[]),
    (Check::Tag, &[], &[Principal]),
    (Check::Lengths, &[], &[Audience, Label]),
    (
        Check::Authentic,
        &[Audience],
        &[Forged, Principal, Kind, Audience, Label],
    ),
    (Check::Holder, &[Principal], &[]),
    (Check::UlidOfPtag, &[], &[]),
    (Check::NotYet, &[Early], &[Early]),
    (Check::MaxAge, &[Late], &[Late]),
    (Check::IdOfBytes, &[], &[]),
    (Check::Ended, &[Revived], &[Revived]),
];

/// What two that are redundant prevent together.
const OF_IDS: [(Check, Check, &[Attack]); 5] = [
    (Check::Spelling, Check::IdOfBytes, &[Revived]),
    (Check::Prefix, Check::IdOfBytes, &[Revived]),
    (Check::Ulid, Check::Ptag, &[Audience]),
    (
        Check::Ulid,
        Check::UlidOfPtag,
        &[Forged, Principal, Kind, Audience],
    ),
    (Check::Ptag, Check::UlidOfPtag, &[Principal]),
];
const OF_HANDLES: [(Check, Check, &[Attack]); 2] = [
    (Check::Spelling, Check::IdOfBytes, &[Revived]),
    (Check::Prefix, Check::IdOfBytes, &[Revived]),
];

const BOTH: [Body; 2] = [Body::SessionId, Body::Handle];

fn expected(on: Body, row: &(Check, &'static [Attack], &'static [Attack])) -> &'static [Attack] {
    if on == Body::Handle { row.2 } else { row.1 }
}

fn found(on: Body, without: &[Check]) -> Vec<Attack> {
    attacks(on, without).into_iter().collect()
}

#[test]
fn with_every_check_there_is_no_attack() {
    for on in BOTH {
        assert_eq!(found(on, &[]), [], "{on:?}");
    }
}

#[test]
fn without_a_check_there_is_one_or_it_is_redundant() {
    for on in BOTH {
        for row in &ALONE {
            assert_eq!(
                found(on, &[row.0]),
                expected(on, row),
                "{on:?} without {:?}",
                row.0
            );
        }
    }
    assert_eq!(ALONE.map(|row| row.0), Check::ALL);
}

/// Those that are in no pair are redundant with what the fields are.
#[test]
fn without_two_redundant_checks_there_are_these() {
    for (on, known) in [
        (Body::SessionId, &OF_IDS[..]),
        (Body::Handle, &OF_HANDLES[..]),
    ] {
        let redundant = ALONE.iter().filter(|row| expected(on, row).is_empty());
        let redundant: BTreeSet<_> = redundant.map(|row| row.0).collect();
        for &one in &redundant {
            for &other in redundant.range(one..).skip(1) {
                let pair = known.iter().find(|pair| (pair.0, pair.1) == (one, other));
                let attacks = pair.map_or(&[][..], |pair| pair.2);
                assert_eq!(
                    found(on, &[one, other]),
                    attacks,
                    "{on:?} without {one:?} and {other:?}"
                );
            }
        }
    }
}

#[test]
fn fields_of_ids_and_of_handles_are_not_confused_without_names_and_lengths() {
    let without = [Check::Domain, Check::KeyId, Check::Lengths];
    assert_eq!(found(Body::SessionId, &without), []);
    // What the lengths alone prevent.
    assert_eq!(found(Body::Handle, &without), [Audience, Label]);
}
