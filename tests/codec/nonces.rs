//! No two nonces alike, from eight threads that share a codec. The Python package's tests do the
//! same across `fork`.

use std::collections::HashSet;
use std::thread;

use crate::common::alice;

const THREADS: usize = 8;
const TOKENS: usize = 100_000;

#[test]
fn no_two_tokens_of_eight_threads_share_a_nonce() {
    let alice = alice();
    // A token id is the first 16 bytes of the nonce, so ids that differ are nonces that differ.
    let sealed = || {
        let session = alice.session();
        let ids = (0..TOKENS).map(|_| {
            let token = session.seal(b"").unwrap();
            // Header and token id: 21 bytes, 28 characters.
            token.as_str()[4..32].to_owned()
        });
        ids.collect::<Vec<_>>()
    };
    let ids: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(sealed)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(ids.len(), THREADS * TOKENS);
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
}
