//! Properties of every input, tried on many.

use std::time::Duration;

use crate::common::alice;
use proptest::collection::vec;
use proptest::prelude::*;
use sealwax::{Kind, Purpose};

/// Bindings that are right for their kind.
#[derive(Clone, Debug)]
pub struct Bindings {
    kind: Kind,
    label: String,
    session_id: String,
    context: Vec<u8>,
}

impl Bindings {
    pub fn purpose(&self) -> Purpose<'_> {
        Purpose {
            kind: self.kind,
            label: &self.label,
            session_id: &self.session_id,
            context: &self.context,
        }
    }
}

pub fn bindings() -> impl Strategy<Value = Bindings> {
    let text = || "\\PC{1,40}";
    (
        0..6_usize,
        text(),
        "[a-z][a-z0-9]{0,31}",
        text(),
        any::<[u8; 32]>(),
        any::<[bool; 2]>(),
    )
        .prop_map(|(kind, label, handle_type, session_id, context, custom)| {
            let kind = Kind::ALL[kind];
            let has = |kinds: &[Kind], optional: bool| {
                kinds.contains(&kind) || kind == Kind::Custom && optional
            };
            Bindings {
                kind,
                label: match kind {
                    Kind::Cursor | Kind::Custom => label,
                    Kind::HandleState => handle_type,
                    _ => String::new(),
                },
                session_id: if has(&[Kind::State], custom[0]) {
                    session_id
                } else {
                    String::new()
                },
                context: if has(&[Kind::RequestState], custom[1]) {
                    context.to_vec()
                } else {
                    Vec::new()
                },
            }
        })
}

proptest! {
    #[test]
    fn what_is_sealed_opens_to_the_same(
        bindings in bindings(),
        payload in vec(any::<u8>(), 0..4096),
        ttl in proptest::option::of(1..=u32::MAX),
    ) {
        let alice = alice();
        let sealer = alice.sealer(bindings.purpose());
        let sealer = match ttl {
            Some(ttl) => sealer.ttl(Duration::from_secs(ttl.into())),
            None => sealer.no_expiry(),
        };
        let token = sealer.seal(&payload).unwrap();
        prop_assert!(token.as_str().len() <= alice.codec().token_limit());
        let opened = sealer.open(&token).unwrap();
        prop_assert_eq!(opened.payload(), &payload);
        prop_assert_eq!(opened.expires_at(), ttl.map(|ttl| opened.issued_at() + u64::from(ttl)));
        prop_assert_eq!((opened.generation(), opened.started_at()), (0, opened.issued_at()));

        let renewed = sealer.open(sealer.renew(&opened, b"next").unwrap()).unwrap();
        prop_assert_eq!((renewed.generation(), renewed.started_at()), (1, opened.started_at()));
    }
}
