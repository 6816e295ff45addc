//! Seals a token, alters it, or opens it elsewhere, for another purpose or at another time. What opens was sealed by us,
//! with this payload, for this purpose and this principal; anything else is refused with the one code that SPEC.md's
//! order says.

use std::time::Duration;

use arbitrary::Arbitrary;
use sealwax::hazmat;
use sealwax::{Error, Inspected, Kind, Purpose, Token, Ttl, inspect, kind};

use crate::alter::{Change, altered, decoded};
use crate::leaks;
use crate::world::{Limits, NOW, Place, Still, keys};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    sealed: Side<'a>,
    opened: Opening<'a>,
    changes: Vec<Change<'a>>,
    ttl: Life,
    age: u32,
    generation: u32,
    /// Of a second token, to splice with.
    other: Option<Side<'a>>,
    renews: bool,
    payload: &'a [u8],
}

/// Where a token is sealed or opened, and what for.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Side<'a> {
    place: Place,
    limits: Limits,
    bound: Bound<'a>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Bound<'a> {
    kind: u8,
    label: Text<'a>,
    session_id: Text<'a>,
    context: Context,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Text<'a> {
    None,
    A,
    B,
    Long(u8),
    Given(&'a str),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Context {
    None,
    One,
    Two,
    Short,
}

#[derive(Arbitrary, Debug)]
enum Life {
    Default,
    Given(u64),
    None,
}

/// The opener differs from the sealer in what is given here.
#[derive(Arbitrary, Debug)]
struct Opening<'a> {
    place: Option<Place>,
    limits: Option<Limits>,
    bound: Option<Bound<'a>>,
    /// Seconds after it was sealed, or before.
    later: i64,
    max_age: Option<u32>,
}

static LONG: [u8; 1200] = [b'l'; 1200];

impl Text<'_> {
    fn text(&self) -> &str {
        match self {
            Self::None => "",
            Self::A => "a",
            Self::B => "b0",
            // On both sides of the limit.
            Self::Long(by) => std::str::from_utf8(&LONG[..1024 - 127 + usize::from(*by)]).unwrap(),
            Self::Given(text) => text,
        }
    }
}

impl Bound<'_> {
    fn kind(&self) -> Kind {
        Kind::ALL[usize::from(self.kind) % 6]
    }

    fn purpose(&self) -> Purpose<'_> {
        Purpose {
            kind: self.kind(),
            label: self.label.text(),
            session_id: self.session_id.text(),
            context: match self.context {
                Context::None => &[],
                Context::One => &[1; 32],
                Context::Two => &[2; 32],
                Context::Short => &[1; 31],
            },
        }
    }

    /// The table of SPEC.md, section 5.
    fn is_right(&self) -> bool {
        let Purpose {
            kind,
            label,
            session_id,
            context,
        } = self.purpose();
        let (label_is, session_is, context_is) = (
            !label.is_empty(),
            !session_id.is_empty(),
            !context.is_empty(),
        );
        let fields = match kind {
            Kind::State => !label_is && session_is && !context_is,
            Kind::RequestState => !label_is && !session_is && context_is,
            Kind::Session => !label_is && !session_is && !context_is,
            Kind::Cursor => label_is && !session_is && !context_is,
            Kind::HandleState => is_type(label) && !session_is && !context_is,
            _ => label_is,
        };
        fields
            && label.len() <= 1024
            && session_id.len() <= 1024
            && [0, 32].contains(&context.len())
    }

    fn same(&self, other: &Bound<'_>) -> bool {
        let (a, b) = (self.purpose(), other.purpose());
        (a.label, a.session_id, a.context) == (b.label, b.session_id, b.context)
    }
}

fn is_type(text: &str) -> bool {
    let mut chars = text.chars();
    matches!(chars.next(), Some('a'..='z'))
        && chars.all(|c| matches!(c, 'a'..='z' | '0'..='9'))
        && text.len() <= 32
        && !["sess", "sw1", "swk1"].contains(&text)
}

type Sealed = Token<kind::Untyped>;

pub fn run(input: &[u8]) -> bool {
    let Some(input) = crate::read::<Input<'_>>(input) else {
        return false;
    };
    let clock = Still::new();
    let Some((token, ttl)) = sealed(&input, &input.sealed, &clock) else {
        return false;
    };
    let other = input
        .other
        .as_ref()
        .and_then(|side| sealed(&input, side, &clock));
    let other = other.as_ref().map_or("", |(token, _)| token.as_str());
    let text = altered(token.as_str(), other, &input.changes);
    spelling(&text);
    if text == token.as_str() {
        same(&input, &clock, &token, ttl)
    } else if text != other {
        changed(&input, &clock, &text);
        false
    } else {
        false
    }
}

fn sealed(input: &Input<'_>, side: &Side<'_>, clock: &Still) -> Option<(Sealed, u32)> {
    let view = side.place.view_of(clock, side.limits);
    let (ttl, seconds) = match input.ttl {
        Life::Default => (Ttl::Default, Some(side.bound.kind().default_ttl())),
        Life::Given(ttl) => {
            let seconds = u32::try_from(ttl).ok().filter(|ttl| *ttl > 0);
            (Ttl::Given(Duration::from_secs(ttl)), seconds)
        }
        Life::None => (Ttl::None, Some(0)),
    };
    let sealer = view.sealer(side.bound.purpose()).with_ttl(ttl);
    let is_right = side.bound.is_right() && seconds.is_some();
    assert_eq!(sealer.check().is_ok(), is_right);
    match hazmat::seal(&sealer, input.age, input.generation, input.payload) {
        Ok(token) => {
            assert!(is_right && input.payload.len() <= side.limits.payload());
            assert!(token.as_str().len() <= view.codec().token_limit());
            Some((token, seconds.unwrap()))
        }
        Err(Error::InvalidArgument(_)) => {
            assert!(!is_right);
            None
        }
        Err(Error::TooLarge { .. }) => {
            assert!(is_right && input.payload.len() > side.limits.payload());
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Opens it unchanged: as section 9 of SPEC.md says, with each check in its order. Returns whether it opened.
fn same(input: &Input<'_>, clock: &Still, token: &Sealed, ttl: u32) -> bool {
    let (from, to) = (&input.sealed, &input.opened);
    let place = to.place.unwrap_or(from.place);
    let limits = to.limits.unwrap_or(from.limits);
    let bound = to.bound.unwrap_or(from.bound);
    let now = NOW.saturating_add_signed(to.later);
    clock.set(now);
    // Milliseconds are 64 bits.
    let now = clock.now();
    let started_at = NOW.saturating_sub(input.age.into());
    let ends = [
        (ttl > 0).then(|| NOW + u64::from(ttl)),
        to.max_age.map(|age| started_at + u64::from(age)),
    ];
    let ends = ends.into_iter().flatten().min();
    let limit = 4 + (4 * (86 + limits.payload())).div_ceil(3);
    let sealing = from.place.ring.places()[0];
    let at = place.ring.places().iter().position(|at| *at == sealing);
    let expected = match () {
        () if !bound.is_right() => Some("invalid_argument"),
        () if token.as_str().len() > limit => Some("too_large"),
        () if bound.kind() != from.bound.kind() => Some("wrong_purpose"),
        () if at.is_none() => Some("unknown_key"),
        () if place.audience != from.place.audience || !bound.same(&from.bound) => {
            Some("unauthentic")
        }
        () if place.who != from.place.who => Some("principal_mismatch"),
        () if input.payload.len() > limits.payload() => Some("too_large"),
        () if NOW > now.saturating_add(limits.clock_tolerance()) => Some("not_yet_valid"),
        () if ends.is_some_and(|end| now >= end) => Some("expired"),
        () => None,
    };
    let view = place.view_of(clock, limits);
    let mut sealer = view.sealer(bound.purpose());
    if let Some(age) = to.max_age {
        sealer = sealer.max_age(Duration::from_secs(age.into()));
    }
    let opened = match (sealer.open(token), expected) {
        (Err(error), Some(expected)) => {
            assert_eq!(error.code(), expected);
            silent(&error, token.as_str(), input.payload);
            return false;
        }
        (Ok(opened), None) => opened,
        (Err(error), None) => panic!("{error}"),
        (Ok(_), Some(expected)) => panic!("opened, expected {expected}"),
    };
    assert_eq!(opened.payload(), input.payload);
    assert_eq!((opened.issued_at(), opened.started_at()), (NOW, started_at));
    assert_eq!(
        (opened.generation(), opened.token_id()),
        (input.generation, token.id())
    );
    assert_eq!(opened.expires_at(), (ttl > 0).then(|| NOW + u64::from(ttl)));
    assert_eq!(
        (opened.needs_reseal(), opened.key_id()),
        (at > Some(0), keys()[sealing].id())
    );
    if input.renews {
        let renewed = sealer.renew(&opened, b"next").unwrap();
        assert_ne!(renewed.id(), token.id());
        let again = view.sealer(bound.purpose()).open(&renewed).unwrap();
        assert_eq!(again.payload(), b"next");
        assert_eq!(again.generation(), input.generation.saturating_add(1));
        // An age over 32 bits stops there.
        let started_at = started_at.max(renewed.issued_at().saturating_sub(u32::MAX.into()));
        assert_eq!(again.started_at(), started_at.min(renewed.issued_at()));
    }
    true
}

/// Opens what is not a token of ours: never, whoever asks.
fn changed(input: &Input<'_>, clock: &Still, text: &str) {
    let to = &input.opened;
    for bound in [Some(input.sealed.bound), to.bound].into_iter().flatten() {
        for place in [Some(input.sealed.place), to.place].into_iter().flatten() {
            let view = place.view_of(clock, Limits::default());
            let Err(error) = view.sealer(bound.purpose()).open(text) else {
                panic!("{text} opened")
            };
            if bound.is_right() {
                assert!(error.is_refusal(), "{error}");
            }
            silent(&error, text, input.payload);
        }
    }
}

fn silent(error: &Error, text: &str, payload: &[u8]) {
    leaks::assert_none(error, text);
    leaks::assert_none(error, &String::from_utf8_lossy(payload));
}

/// What is read without a key has one spelling.
pub fn spelling(text: &str) {
    if let Ok(Inspected::Token {
        kind,
        key_id,
        token_id,
    }) = inspect(text)
    {
        let (prefix, bytes) = decoded(text).expect("base64url in its one spelling");
        assert!(prefix == "sw1." && bytes.len() >= 65);
        assert_eq!(
            (bytes[0], &bytes[1..5]),
            (kind as u8, &key_id.as_bytes()[..])
        );
        assert_eq!(&bytes[5..21], token_id.as_bytes());
    }
}
