//! The attacker: all that he can present, and what may never come of it.

use std::collections::BTreeSet;

use sealwax::Kind;

use crate::{Check, Claims, Holder, Key, NOW, Opener, Purpose, Sealed, Text, Without, open};

/// What may never happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attack {
    /// What no service sealed opens.
    Forged,
    /// The attacker learns what was sealed for Alice.
    Read,
    /// A token opens for another principal.
    Principal,
    /// As another kind.
    Kind,
    /// At another service.
    Audience,
    /// For another list, type or purpose.
    Label,
    /// In another session.
    Session,
    /// For another request.
    Request,
    /// Before its time.
    Early,
    /// After its life, or that of its session.
    Late,
    /// After it ended.
    Revived,
}

/// The second one begins as the first, for fields that are not kept apart.
pub(crate) const AUDIENCES: [&str; 2] = ["a", "ab"];
/// Both are types of handles too. The first ends as the second.
pub(crate) const LABELS: [&str; 2] = ["bc", "c"];
const SESSIONS: [&str; 2] = ["s1", "s2"];
const CONTEXTS: [&str; 2] = ["r1", "r2"];
pub(crate) const HOLDERS: [Holder; 2] = [Holder::Alice, Holder::Mallory];
/// Lifetime of tokens, and the maximum age, in seconds.
const TTL: u32 = 600;
const MAX_AGE: u64 = 1000;

/// Every purpose of a service.
fn purposes() -> Vec<Purpose> {
    let of = |kind, label, session, context| Purpose {
        kind,
        label,
        session,
        context,
    };
    let mut purposes = vec![of(Kind::Session, "", "", "")];
    for at in 0..2 {
        purposes.extend([
            of(Kind::State, "", SESSIONS[at], ""),
            of(Kind::RequestState, "", "", CONTEXTS[at]),
            of(Kind::Cursor, LABELS[at], "", ""),
            of(Kind::HandleState, LABELS[at], "", ""),
            of(Kind::Custom, LABELS[at], "", ""),
            of(Kind::Custom, LABELS[0], SESSIONS[at], CONTEXTS[0]),
            of(Kind::Custom, LABELS[0], SESSIONS[0], CONTEXTS[at]),
        ]);
    }
    purposes
}

/// All that was ever sealed, and what the attacker seals: by services, with the key that was removed, and with his own.
fn sealed() -> Vec<Sealed> {
    let mut all = Vec::new();
    let times = [(NOW, 0), (NOW + 400, 0), (NOW, 700)];
    for audience in AUDIENCES {
        for purpose in purposes() {
            for holder in HOLDERS {
                for (key, times) in [
                    (Key::Ours, &times[..]),
                    (Key::Removed, &times[..1]),
                    (Key::Theirs, &times[..1]),
                ] {
                    for &(issued, age) in times {
                        let nonce = u16::try_from(all.len()).unwrap_or(u16::MAX);
                        all.push(Sealed {
                            key,
                            nonce,
                            audience,
                            purpose,
                            holder,
                            claims: Claims {
                                issued,
                                ttl: TTL,
                                age,
                            },
                            began: issued - u64::from(age),
                            secret: (nonce, holder),
                        });
                    }
                }
            }
        }
    }
    all
}

/// Every text that the attacker makes of a cipher. Another nonce is some other token's.
fn texts(cipher: &Sealed) -> impl Iterator<Item = Text<'_>> {
    let keys = [Key::Ours, Key::Removed, Key::Theirs];
    Kind::ALL.into_iter().flat_map(move |kind| {
        keys.into_iter().flat_map(move |key| {
            [cipher.nonce, cipher.nonce + 1]
                .into_iter()
                .flat_map(move |nonce| {
                    [false, true].map(|respelled| Text {
                        kind,
                        key,
                        nonce,
                        cipher,
                        respelled,
                    })
                })
        })
    })
}

/// Every request at every service, while the tokens live and after.
fn openers() -> Vec<Opener> {
    let mut all = Vec::new();
    for audience in AUDIENCES {
        for purpose in purposes() {
            for holder in HOLDERS {
                for now in [NOW + 310, NOW + 650] {
                    let max_ages = [None, Some(MAX_AGE)];
                    all.extend(max_ages.map(|max_age| Opener {
                        audience,
                        purpose,
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
pub fn pairs(mut visit: impl FnMut(&Text<'_>, &Opener)) {
    let openers = openers();
    for cipher in &sealed() {
        for text in texts(cipher) {
            for opener in &openers {
                visit(&text, opener);
            }
        }
    }
}

/// Finds every attack there is where these checks are left out.
#[must_use]
pub fn attacks(without: Without<'_>) -> BTreeSet<Attack> {
    let mut found = BTreeSet::new();
    let mut known = sealed();
    let openers = openers();
    let mut next = 0;
    // What servers renew for the attacker is his too: until nothing new comes of it.
    while next < known.len() {
        let cipher = known[next];
        next += 1;
        for text in texts(&cipher) {
            for opener in openers
                .iter()
                .filter(|opener| open(&text, opener, without).is_ok())
            {
                judge(&text, opener, without, &mut found);
                let generations = known.len() < 4000 && opener.now < NOW + 600;
                if generations && cipher.key == Key::Ours && opener.holder == Holder::Mallory {
                    renewed(&cipher, opener, without, &mut known);
                }
            }
        }
    }
    found
}

/// A server seals anew what it opened, for the one who asked.
fn renewed(cipher: &Sealed, opener: &Opener, without: Without<'_>, known: &mut Vec<Sealed>) {
    let started = cipher.claims.issued - u64::from(cipher.claims.age);
    let age = u32::try_from(opener.now.saturating_sub(started)).unwrap_or(u32::MAX);
    let claims = Claims {
        issued: opener.now,
        ttl: TTL,
        age: if without.contains(&Check::Beginning) {
            0
        } else {
            age
        },
    };
    let Opener {
        audience,
        purpose,
        holder,
        ..
    } = *opener;
    let nonce = u16::try_from(known.len()).unwrap_or(u16::MAX);
    let one = Sealed {
        key: Key::Ours,
        nonce,
        audience,
        purpose,
        holder,
        claims,
        ..*cipher
    };
    if !known.iter().any(|other| Sealed { nonce, ..*other } == one) {
        known.push(one);
    }
}

/// What is wrong with an opening that passed.
fn judge(text: &Text<'_>, opener: &Opener, without: Without<'_>, found: &mut BTreeSet<Attack>) {
    let Sealed {
        purpose, claims, ..
    } = text.cipher;
    let for_whom = &opener.purpose;
    let ends = claims.issued + u64::from(claims.ttl);
    let over = opener
        .max_age
        .is_some_and(|max_age| opener.now >= text.cipher.began + max_age);
    let mut wrong = |attack, is: bool| {
        if is {
            found.insert(attack);
        }
    };
    wrong(Attack::Forged, text.cipher.key != Key::Ours);
    wrong(
        Attack::Read,
        opener.holder == Holder::Mallory && text.cipher.secret.1 == Holder::Alice,
    );
    wrong(Attack::Principal, text.cipher.holder != opener.holder);
    wrong(Attack::Kind, purpose.kind != for_whom.kind);
    wrong(Attack::Audience, text.cipher.audience != opener.audience);
    wrong(Attack::Label, purpose.label != for_whom.label);
    wrong(Attack::Session, purpose.session != for_whom.session);
    wrong(Attack::Request, purpose.context != for_whom.context);
    wrong(Attack::Early, claims.issued > opener.now + 60);
    wrong(Attack::Late, opener.now >= ends || over);
    // Its holder ended it as it was sealed; then this text is presented.
    let same_id = text.nonce == text.cipher.nonce
        && (!without.contains(&Check::IdOfBytes) || !text.respelled);
    wrong(Attack::Revived, !same_id || without.contains(&Check::Ended));
}
