//! No altered token, id or handle opens: not by a letter, a bit, or parts of another one that is as genuine.

use std::sync::LazyLock;

use crate::alter::{Change, altered};
use crate::common::alice;
use crate::properties::bindings;
use arbitrary::Unstructured;
use proptest::collection::vec;
use proptest::prelude::*;
use sealwax::{Error, View};

static ALICE: LazyLock<View> = LazyLock::new(alice);

proptest! {
    // Each of three texts.
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn nothing_altered_opens(
        bindings in bindings(),
        payload in vec(any::<u8>(), 0..40),
        bytes in vec(any::<u8>(), 16..48),
    ) {
        let (change, another): (Change<'_>, Option<_>) = Unstructured::new(&bytes).arbitrary().unwrap();
        let changes: Vec<_> = [change].into_iter().chain(another).collect();
        let sealer = ALICE.sealer(bindings.purpose());
        let sealed = [(); 2].map(|()| sealer.seal(&payload).unwrap().into_string());
        refused(sealed, &changes, |text| sealer.open(text).map(drop));
        let ids = [(); 2].map(|()| ALICE.mint_session_id().unwrap().to_string());
        refused(ids, &changes, |text| ALICE.verify_session_id(text, None).map(drop));
        let handles = [(); 2].map(|()| ALICE.mint_handle("basket").unwrap().to_string());
        refused(handles, &changes, |text| ALICE.verify_handle("basket", text, None).map(drop));
    }
}

fn refused(
    [one, other]: [String; 2],
    changes: &[Change<'_>],
    open: impl Fn(&str) -> Result<(), Error>,
) {
    let text = altered(&one, &other, changes);
    let is_genuine = text == one || text == other;
    match open(&text) {
        Ok(()) => assert!(is_genuine, "{text} opened"),
        Err(error) => assert!(!is_genuine && error.is_refusal(), "{text}: {error}"),
    }
}
