//! The opening of SPEC.md, section 9, in its order, and without some of its checks.

use crate::{Opener, Purpose, Text};

/// Makes an enum of checks, each of which can be left out.
macro_rules! checks {
    ($($(#[$what:meta])* $name:ident,)*) => {
        /// A check, which can be left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check {
            $($(#[$what])* $name,)*
        }

        impl Check {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}
pub(crate) use checks;

checks! {
    /// 2: unused bits are zero.
    Spelling,
    /// 3: the kind is the one asked for.
    Kind,
    /// 3: the key is in the ring. Without it, a removed key still opens.
    Ring,
    /// 4: kind and key id are associated data.
    Header,
    /// 4: so is the audience.
    Audience,
    /// 4: the label.
    Label,
    /// 4: the session.
    Session,
    /// 4: the context.
    Context,
    /// 4: with the length of each field. Without it, they are written one after the other.
    Lengths,
    /// 4: the tag of the cipher. Without it, anybody makes a ciphertext.
    Authentic,
    /// 5: the principal's tag.
    Holder,
    /// 7: not before its time.
    NotYet,
    /// 8: the lifetime.
    Lifetime,
    /// 8: the maximum age.
    MaxAge,
    /// Renewing keeps the beginning (section 5).
    Beginning,
    /// The token id is of decoded bytes (section 5). Without it, it is the text.
    IdOfBytes,
    /// The ledger refuses an id that ended (LEDGER.md).
    Ended,
}

/// The checks that are left out.
pub type Without<'a> = &'a [Check];

/// The clock tolerance that an opener allows, in seconds.
pub(crate) const CLOCK_TOLERANCE: u64 = 60;

/// Opens a text: the error's code, if it does not.
///
/// # Errors
///
/// The code of SPEC.md, section 10.
pub fn open(text: &Text<'_>, opener: &Opener, without: Without<'_>) -> Result<(), &'static str> {
    let checks = |check: Check| !without.contains(&check);
    let cipher = text.cipher;
    if text.respelled && checks(Check::Spelling) {
        return Err("malformed");
    }
    if text.kind != opener.purpose.kind && checks(Check::Kind) {
        return Err("wrong_purpose");
    }
    if !text.key.opens(!checks(Check::Ring)) {
        return Err("unknown_key");
    }
    // The key is the one that the text names; the nonce is part of what the cipher computes.
    let header = !checks(Check::Header) || text.kind == cipher.purpose.kind;
    let same_key = text.key == cipher.key;
    let sealed_for = bound(cipher.audience, &cipher.purpose, without);
    let opened_for = bound(opener.audience, &opener.purpose, without);
    let same = if checks(Check::Lengths) {
        sealed_for == opened_for
    } else {
        sealed_for.concat() == opened_for.concat()
    };
    let genuine = same_key && text.nonce == cipher.nonce && header && same;
    if !genuine && checks(Check::Authentic) {
        return Err("unauthentic");
    }
    if cipher.holder != opener.holder && checks(Check::Holder) {
        return Err("principal_mismatch");
    }
    let claims = &cipher.claims;
    if claims.issued > opener.now + CLOCK_TOLERANCE && checks(Check::NotYet) {
        return Err("not_yet_valid");
    }
    if opener.now >= claims.issued + u64::from(claims.ttl) && checks(Check::Lifetime) {
        return Err("expired");
    }
    let started = claims.issued - u64::from(claims.age);
    if opener
        .max_age
        .is_some_and(|max_age| opener.now >= started + max_age)
        && checks(Check::MaxAge)
    {
        return Err("expired");
    }
    Ok(())
}

/// The fields that are associated data, apart from the header.
fn bound<'p>(audience: &'p str, purpose: &Purpose, without: Without<'_>) -> [&'p str; 4]
where
    'static: 'p,
{
    let field = |check, text| if without.contains(&check) { "" } else { text };
    [
        field(Check::Audience, audience),
        field(Check::Label, purpose.label),
        field(Check::Session, purpose.session),
        field(Check::Context, purpose.context),
    ]
}
