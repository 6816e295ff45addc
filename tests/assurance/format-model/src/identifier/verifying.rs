//! The verification of SPEC.md, sections 6, 7 and 9, in its order, and without some of its checks.

use super::{Body, Form, Minted, Ptag, Text, Ulid, Verifier};
use crate::opening::{CLOCK_TOLERANCE, checks};
use crate::{Holder, Key};

checks! {
    /// 2: there is one spelling of the same bytes.
    Spelling,
    /// 2 and 3: the prefix is `sess_`, or the type asked for.
    Prefix,
    /// 3: the key is in the ring. Without it, a removed key still verifies.
    Ring,
    /// 4: `session` or `handle` is signed.
    Domain,
    /// 4: so is the audience.
    Audience,
    /// 4: the type of a handle.
    Type,
    /// 4: the key's id in a session id.
    KeyId,
    /// 4: the ulid.
    Ulid,
    /// 4: the ptag of a session id.
    Ptag,
    /// 4: the principal's tag, of a handle.
    Tag,
    /// 4: the length of each field. Without it, they are written one after the other.
    Lengths,
    /// 4: the MAC. Without it, anybody makes one.
    Authentic,
    /// 5: the ptag of a session id is that of its holder.
    Holder,
    /// 5: and of its ulid. Without it, all ids of a holder have one ptag.
    UlidOfPtag,
    /// 7: not before its time.
    NotYet,
    /// 8: the maximum age.
    MaxAge,
    /// The ledger knows it by its ulid (LEDGER.md). Without it, by its text.
    IdOfBytes,
    /// The ledger refuses what ended.
    Ended,
}

/// The checks that are left out.
pub type Without<'a> = &'a [Check];

/// Verifies a text: the error's code, if it does not.
///
/// # Errors
///
/// The code of SPEC.md, section 10.
pub fn verify(
    text: &Text<'_>,
    verifier: &Verifier,
    without: Without<'_>,
) -> Result<(), &'static str> {
    let checks = |check: Check| !without.contains(&check);
    // What has another length has other parts: that cannot be left out.
    if text.body != verifier.form.body() || (text.respelled && checks(Check::Spelling)) {
        return Err("malformed");
    }
    if text.prefix != verifier.form && checks(Check::Prefix) {
        return Err(match (text.prefix, verifier.form) {
            (Form::Handle(_), Form::Handle(_)) => "wrong_purpose",
            _ => "malformed",
        });
    }
    let opens = |key: Key| key.opens(!checks(Check::Ring));
    let is_id = verifier.form == Form::SessionId;
    if is_id && !opens(text.key) {
        return Err("unknown_key");
    }
    let expected = Minted {
        form: verifier.form,
        // A session id names it. For a handle every key of the ring is tried, and so its own if it is there.
        key: if is_id { text.key } else { text.mac.key },
        audience: verifier.audience,
        holder: verifier.holder,
        ulid: text.ulid,
    };
    // A cipher's tag is made with another key of the same secret. That a handle's MAC is too short for an id is not
    // relied on.
    let genuine = text.mac.form != Form::Sealed
        && opens(expected.key)
        && same_mac(text.mac, &expected, text.ptag, without);
    if !genuine && checks(Check::Authentic) {
        return Err("unauthentic");
    }
    let ptag = |of| Term::ptag(of, without);
    if is_id && ptag(text.ptag) != ptag(expected.ptag()) && checks(Check::Holder) {
        return Err("principal_mismatch");
    }
    let made = text.ulid.made;
    if made > verifier.now + CLOCK_TOLERANCE * 1000 && checks(Check::NotYet) {
        return Err("not_yet_valid");
    }
    if verifier
        .max_age
        .is_some_and(|max_age| verifier.now >= made + max_age * 1000)
        && checks(Check::MaxAge)
    {
        return Err("expired");
    }
    Ok(())
}

/// What is signed: texts, and then terms of fixed lengths.
type Signed = ([&'static str; 3], [Term; 3]);

#[derive(PartialEq, Eq)]
enum Term {
    None,
    Key(Key),
    Ulid(Ulid),
    Ptag(Key, Option<Ulid>, Holder),
    Tag(Holder),
}

impl Term {
    fn ptag(of: Ptag, without: Without<'_>) -> Self {
        let bound = !without.contains(&Check::UlidOfPtag);
        Self::Ptag(of.key, bound.then_some(of.ulid), of.holder)
    }
}

fn signed(of: &Minted, ptag: Ptag, without: Without<'_>) -> Signed {
    let checks = |check: Check| !without.contains(&check);
    let text = |check, text| if checks(check) { text } else { "" };
    let term = |check, term| if checks(check) { term } else { Term::None };
    let audience = text(Check::Audience, of.audience);
    let ulid = term(Check::Ulid, Term::Ulid(of.ulid));
    if let Form::Handle(label) = of.form {
        let texts = [
            text(Check::Domain, "handle"),
            audience,
            text(Check::Type, label),
        ];
        (
            texts,
            [term(Check::Tag, Term::Tag(of.holder)), ulid, Term::None],
        )
    } else {
        let key = term(Check::KeyId, Term::Key(of.key));
        let ptag = term(Check::Ptag, Term::ptag(ptag, without));
        (
            [text(Check::Domain, "session"), audience, ""],
            [key, ulid, ptag],
        )
    }
}

/// Whether a MAC is that of another one, which holds this ptag.
fn same_mac(mac: &Minted, other: &Minted, ptag: Ptag, without: Without<'_>) -> bool {
    let (texts, terms) = signed(mac, mac.ptag(), without);
    let (other_texts, other_terms) = signed(other, ptag, without);
    mac.key == other.key
        && terms == other_terms
        && if without.contains(&Check::Lengths) {
            texts.concat() == other_texts.concat()
        } else {
            texts == other_texts
        }
}

/// Whether a text is, to the letter, what was minted.
pub(crate) fn spells(text: &Text<'_>, minted: &Minted, without: Without<'_>) -> bool {
    let ptag = |of| Term::ptag(of, without);
    let is_id = text.body == Body::SessionId;
    !text.respelled
        && text.prefix == minted.form
        && text.body == minted.form.body()
        && (!is_id || (text.key == minted.key && ptag(text.ptag) == ptag(minted.ptag())))
        && text.ulid == minted.ulid
        && same_mac(text.mac, minted, minted.ptag(), without)
}
