//! The attacker: all that he can present, and what is wrong where it verifies.

use std::collections::BTreeSet;

use super::verifying::spells;
use super::{Body, Check, Form, Minted, Text, Ulid, Verifier, Without, verify};
use crate::attack::{AUDIENCES, HOLDERS, LABELS};
use crate::opening::CLOCK_TOLERANCE;
use crate::{Attack, Key, NOW};

const FORMS: [Form; 4] = [
    Form::SessionId,
    Form::Handle(LABELS[0]),
    Form::Handle(LABELS[1]),
    Form::Sealed,
];
const KEYS: [Key; 4] = [Key::Ours, Key::Former, Key::Removed, Key::Theirs];
/// In milliseconds. At the first of the clocks the second is just valid, and the third is not.
const START: u64 = NOW * 1000;
const MADE: [u64; 3] = [START, START + 370_000, START + 370_001];
/// At the last of these, the first of those is over.
const CLOCKS: [u64; 3] = [START + 310_000, START + 599_999, START + 600_000];
/// In seconds.
const MAX_AGE: u64 = 600;

/// All that was ever minted, and what the attacker mints: with the key that was removed, and with his own. The number of
/// a ulid is its place.
fn minted() -> Vec<Minted> {
    let mut all = Vec::new();
    for audience in AUDIENCES {
        for holder in HOLDERS {
            for form in FORMS {
                for key in KEYS {
                    let times = match key {
                        Key::Ours => 3,
                        _ if form == Form::Sealed => 0,
                        _ => 1,
                    };
                    for made in &MADE[..times] {
                        let number = u16::try_from(all.len()).unwrap_or(u16::MAX);
                        all.push(Minted {
                            form,
                            key,
                            audience,
                            holder,
                            ulid: Ulid {
                                made: *made,
                                number,
                            },
                        });
                    }
                }
            }
        }
    }
    all
}

/// Visits every text with the MAC of one, and the other parts of it and of another one or two. Of each form, service and
/// principal there is one that lends its parts.
fn texts<'a>(mac: &'a Minted, all: &[Minted], visit: &mut impl FnMut(Text<'a>)) {
    let lend = |one: &&Minted| one.key == Key::Ours && one.ulid.made == MADE[0];
    let lenders = || all.iter().filter(lend);
    // He writes what time he likes, too.
    let later = Ulid {
        made: mac.ulid.made + 300_000,
        ..mac.ulid
    };
    let ulids: Vec<_> = [mac.ulid, later]
        .into_iter()
        .chain(lenders().map(|one| one.ulid))
        .collect();
    // He has the ptags that he sees, and makes those of keys that he has.
    let ptags: Vec<_> = [mac]
        .into_iter()
        .chain(lenders())
        .filter(|one| one.form == Form::SessionId || !one.key.opens(false))
        .map(Minted::ptag)
        .collect();
    let mut spelled = |text: Text<'a>| {
        for prefix in FORMS {
            for respelled in [false, true] {
                visit(Text {
                    prefix,
                    respelled,
                    ..text
                });
            }
        }
    };
    let whole = Text {
        prefix: mac.form,
        body: mac.form.body(),
        key: mac.key,
        ulid: mac.ulid,
        ptag: mac.ptag(),
        mac,
        respelled: false,
    };
    if mac.form == Form::Sealed {
        spelled(whole);
    }
    for &ulid in &ulids {
        spelled(Text {
            body: Body::Handle,
            ulid,
            ..whole
        });
        for &ptag in &ptags {
            for key in KEYS {
                spelled(Text {
                    body: Body::SessionId,
                    key,
                    ulid,
                    ptag,
                    ..whole
                });
            }
        }
    }
}

/// Every request at every service.
fn verifiers() -> Vec<Verifier> {
    let mut all = Vec::new();
    for &form in &FORMS[..3] {
        for audience in AUDIENCES {
            for holder in HOLDERS {
                for now in CLOCKS {
                    all.extend([None, Some(MAX_AGE)].map(|max_age| Verifier {
                        form,
                        audience,
                        holder,
                        now,
                        max_age,
                    }));
                }
            }
        }
    }
    all
}

/// Every text with every request.
pub fn pairs(mut visit: impl FnMut(&Text<'_>, &Verifier)) {
    let (all, verifiers) = (minted(), verifiers());
    for mac in &all {
        texts(mac, &all, &mut |text| {
            for verifier in &verifiers {
                visit(&text, verifier);
            }
        });
    }
}

/// Finds every attack there is on session ids, or on handles, where these checks are left out.
#[must_use]
pub fn attacks(on: Body, without: Without<'_>) -> BTreeSet<Attack> {
    let mut found = BTreeSet::new();
    let all = minted();
    let mut verifiers = verifiers();
    verifiers.retain(|verifier| verifier.form.body() == on);
    for mac in &all {
        texts(mac, &all, &mut |text| {
            // What has another body is malformed, whatever is left out.
            if text.body != on {
                return;
            }
            for verifier in &verifiers {
                if verify(&text, verifier, without).is_ok() {
                    judge(&text, verifier, &all, without, &mut found);
                }
            }
        });
    }
    found
}

/// What is wrong with a verification that passed: the server now takes the text for the name of what its ulid names.
fn judge(
    text: &Text<'_>,
    verifier: &Verifier,
    all: &[Minted],
    without: Without<'_>,
    found: &mut BTreeSet<Attack>,
) {
    let named = &all[usize::from(text.ulid.number)];
    if named.ulid != text.ulid || !named.key.opens(false) {
        found.insert(Attack::Forged);
        return;
    }
    let mut wrong = |attack, is: bool| {
        if is {
            found.insert(attack);
        }
    };
    let same_kind = named.form.body() == verifier.form.body();
    let over = verifier
        .max_age
        .is_some_and(|max_age| verifier.now >= named.ulid.made + max_age * 1000);
    wrong(Attack::Principal, named.holder != verifier.holder);
    wrong(Attack::Kind, !same_kind);
    wrong(Attack::Audience, named.audience != verifier.audience);
    wrong(Attack::Label, same_kind && named.form != verifier.form);
    wrong(
        Attack::Early,
        named.ulid.made > verifier.now + CLOCK_TOLERANCE * 1000,
    );
    wrong(Attack::Late, over);
    // Its holder ended it as it was minted; then this text is presented.
    let same_id = !without.contains(&Check::IdOfBytes) || spells(text, named, without);
    wrong(Attack::Revived, !same_id || without.contains(&Check::Ended));
}
