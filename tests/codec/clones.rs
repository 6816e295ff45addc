//! Copies of one generator, as in clones of a virtual machine, draw different nonces once their clocks differ.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{AUDIENCE, ring};
use sealwax::{Codec, Environment, Error, Principal, mix_time};

/// A generator that is restored to the same state before each draw, and a clock.
struct Copied {
    state: u8,
    nanoseconds: AtomicU64,
    step: u64,
}

impl Environment for Copied {
    fn now_ms(&self) -> u64 {
        1_800_000_000_000
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.fill(self.state);
        let now = self.nanoseconds.fetch_add(self.step, Ordering::Relaxed);
        mix_time(bytes, now.into());
        Ok(())
    }
}

/// The nonces' first 16 bytes of so many tokens; and the session ids, whose time is the same.
fn drawn(state: u8, step: u64, count: usize) -> [Vec<String>; 2] {
    let copied = Copied {
        state,
        nanoseconds: 1_800_000_000_000_000_000.into(),
        step,
    };
    let codec = Codec::builder(ring(), AUDIENCE).build_in(copied).unwrap();
    let alice = codec.view(&Principal::subject("alice")).unwrap();
    let token = |_| alice.session().seal(b"").unwrap().as_str()[4..32].into();
    let id = |_| alice.mint_session_id().unwrap().as_str().into();
    [
        (0..count).map(token).collect(),
        (0..count).map(id).collect(),
    ]
}

#[test]
fn a_repeated_generator_at_another_time_gives_another_nonce() {
    for step in [1, 255, 1_000, 1 << 32] {
        for found in drawn(7, step, 1_000) {
            assert_eq!(found.iter().collect::<HashSet<_>>().len(), 1_000, "{step}");
        }
    }
    // Without a difference in time the draws are equal.
    for found in drawn(7, 0, 10) {
        assert_eq!(found.iter().collect::<HashSet<_>>().len(), 1);
    }
    assert_ne!(drawn(7, 0, 1), drawn(8, 0, 1));
}

#[test]
fn nothing_random_is_lost() {
    for len in [0, 1, 7, 8, 24] {
        for time in [0, 1, u64::MAX.into(), u128::MAX] {
            let mixed: HashSet<_> = (0..=u8::MAX)
                .map(|state| {
                    let mut bytes = vec![state; len];
                    mix_time(&mut bytes, time);
                    bytes
                })
                .collect();
            assert_eq!(mixed.len(), if len == 0 { 1 } else { 256 });
        }
    }
    let mut bytes = [8; 24];
    mix_time(&mut bytes, 0x0102);
    assert_eq!(bytes[..3], [10, 9, 8]);
    // What a stub of a generator left does not become a time.
    let mut bytes = [0; 24];
    mix_time(&mut bytes, 0x0102);
    assert_eq!(bytes, [0; 24]);
}

/// The system's generator as a clone has it: `getrandom` of the C library replaced by one that repeats.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn the_systems_generator_may_repeat() {
    use std::fs;
    use std::process::Command;

    use crate::common::alice;
    use sealwax::System;

    const REPEATS: &str = "
        #include <string.h>
        #include <sys/types.h>
        ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
          (void)flags;
          memset(bytes, 7, count);
          return (ssize_t)count;
        }";
    const NAME: &str = "the_systems_generator_may_repeat";

    if std::env::var_os("LD_PRELOAD").is_some_and(|it| it.to_string_lossy().contains(NAME)) {
        // Bytes that no time is mixed into repeat.
        let mut bytes = [0; 24];
        System.fill(&mut bytes).unwrap();
        assert_eq!(bytes[16..], [7; 8]);
        let alice = alice();
        let ids = (0..1_000).map(|_| alice.session().seal(b"").unwrap().as_str()[4..32].to_owned());
        assert_eq!(ids.collect::<HashSet<_>>().len(), 1_000);
        return;
    }
    let folder = env!("CARGO_TARGET_TMPDIR");
    let [source, library] = [".c", ".so"].map(|end| format!("{folder}/{NAME}{end}"));
    fs::write(&source, REPEATS).unwrap();
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut compile = Command::new(compiler);
    compile.args(["-shared", "-fPIC", "-o", &library, &source]);
    assert!(compile.status().unwrap().success());
    let mut again = Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", &format!("clones::{NAME}")])
        .env("LD_PRELOAD", &library);
    let output = again.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
