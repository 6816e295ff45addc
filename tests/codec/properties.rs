//! Properties of every input, tried on many.

use std::time::Duration;

use crate::common::{AUDIENCE, alice, view_of};
use proptest::collection::vec;
use proptest::prelude::*;
use sealwax::{Kind, Principal, Purpose, View};

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

    #[test]
    fn every_binding_changed_alone_is_refused_with_its_code(bindings in bindings(), payload in vec(any::<u8>(), 0..64)) {
        let alice = alice();
        let token = alice.sealer(bindings.purpose()).seal(&payload).unwrap();
        let code = |view: &View, bindings: &Bindings| {
            view.sealer(bindings.purpose()).open(token.as_str()).unwrap_err().code()
        };
        let elsewhere = view_of("https://mcp.example.com/", &Principal::subject("alice"));
        prop_assert_eq!(code(&elsewhere, &bindings), "unauthentic");
        for other in [
            Principal::subject("alicf"),
            Principal::client("alice"),
            Principal::subject("alice").with_issuer("i"),
            Principal::anonymous(),
        ] {
            prop_assert_eq!(code(&view_of(AUDIENCE, &other), &bindings), "principal_mismatch");
        }
        if !bindings.label.is_empty() {
            let label = if bindings.label == "x" { "y" } else { "x" }.into();
            prop_assert_eq!(code(&alice, &Bindings { label, ..bindings.clone() }), "unauthentic");
        }
        if !bindings.session_id.is_empty() {
            let session_id = bindings.session_id.clone() + " ";
            prop_assert_eq!(code(&alice, &Bindings { session_id, ..bindings.clone() }), "unauthentic");
        }
        if let Some(first) = bindings.context.first() {
            let mut context = bindings.context.clone();
            context[0] = first ^ 1;
            prop_assert_eq!(code(&alice, &Bindings { context, ..bindings.clone() }), "unauthentic");
        }
        let custom = Bindings { kind: Kind::Custom, label: "x".into(), ..bindings.clone() };
        if bindings.kind != Kind::Custom {
            prop_assert_eq!(code(&alice, &custom), "wrong_purpose");
        }
    }
}
