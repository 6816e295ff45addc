//! Keys and opened payloads are wiped: after each step of a process, another one searches all of its memory that can be
//! written to, the stack too.
//!
//! The searcher derives what to look for by RustCrypto's crates, from the key's text and the token. So the process that
//! is searched never holds a needle of its own.
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::unwrap_used)]

mod common;
#[path = "wiped/needles.rs"]
mod needles;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _, stderr, stdin};
use std::os::unix::fs::FileExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, ops::Range};

use sealwax::{Codec, Error, Key, KeyRing, Principal, View};
use zeroize::Zeroizing;

use common::{AUDIENCE, Clock};
use needles::Needles;

/// Set for the process that is searched.
const CHILD: &str = "SEALWAX_TEST_WIPED";

/// Bytes that are in no program file.
fn payload() -> Zeroizing<Vec<u8>> {
    let mut payload = Zeroizing::new(vec![0; 4096]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for chunk in payload.as_chunks_mut::<8>().0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *chunk = state.to_le_bytes();
    }
    payload
}

// ---- the process that is searched ----

/// Tells the searcher a word and where the stack is, and waits until it has searched.
fn tell(word: &str, text: &str) {
    let here = 0_u8;
    let mut err = stderr();
    write!(err, "{word} {:#x} ", &raw const here as usize).unwrap();
    // Not formatted, which would copy it: it may be a key's.
    err.write_all(text.as_bytes()).unwrap();
    err.write_all(b"\n").unwrap();
    stdin().read_exact(&mut [0]).unwrap();
}

fn refused(view: &View, token: &str, code: &str) {
    let error = view.session().open(token).err().map(|error| error.code());
    assert_eq!(error, Some(code));
}

#[test]
fn searched() {
    if env::var_os(CHILD).is_none() {
        return;
    }
    let clock = Clock::at_ms(1_800_000_000_000);
    let codec_of = |key: &Key, limit: usize| {
        let ring = KeyRing::new([key.clone()]).unwrap();
        let builder = Codec::builder(ring, AUDIENCE).payload_limit(limit);
        builder.build_in(clock.clone()).unwrap()
    };
    let key = Key::generate().unwrap();
    tell("key", &key.to_text().unwrap());
    let codec = codec_of(&key, 4096);
    let [alice, mallory] = ["alice", "mallory"].map(Principal::subject);
    let alice = codec.view(&alice).unwrap();
    let sealer = alice.session().ttl(Duration::from_secs(60));
    let token = sealer.seal(&payload()).unwrap();
    tell("sealed", token.as_str());

    let opened = alice.session().open(&token).unwrap();
    tell("opened", "");
    drop(opened);
    tell("payload-dropped", "");
    let taken = Zeroizing::new(alice.session().open(&token).unwrap().into_payload());
    tell("taken", "");
    drop(taken);
    tell("taken-dropped", "");

    refused(
        &codec.view(&mallory).unwrap(),
        token.as_str(),
        "principal_mismatch",
    );
    tell("principal-mismatch", "");
    let last = if token.as_str().ends_with('A') {
        "Q"
    } else {
        "A"
    };
    let altered = format!("{}{last}", &token.as_str()[..token.as_str().len() - 1]);
    refused(&alice, &altered, "unauthentic");
    tell("unauthentic", "");
    let aged = alice.session().max_age(Duration::ZERO);
    assert!(matches!(aged.open(&token), Err(Error::Expired { .. })));
    tell("max-age", "");
    clock.pass(61);
    refused(&alice, token.as_str(), "expired");
    tell("expired", "");
    let small = codec_of(&key, 4090).view(&Principal::subject("alice"));
    refused(&small.unwrap(), token.as_str(), "too_large");
    tell("too-large", "");

    let id = alice.mint_session_id().unwrap();
    alice.verify_session_id(id.as_str(), None).unwrap();
    let handle = alice.mint_handle("basket").unwrap();
    alice
        .verify_handle("basket", handle.as_str(), None)
        .unwrap();
    let text = key.to_text().unwrap();
    assert_eq!(text.parse::<Key>(), Ok(key.clone()));
    drop((text, alice, codec, key));
    tell("key-dropped", "");
}

// ---- the process that searches ----

struct Searched {
    process: Child,
    said: BufReader<std::process::ChildStderr>,
}

/// What was found at a step, in other memory than the stack, and on it.
#[derive(Debug, Default)]
struct Found {
    heap: Vec<&'static str>,
    stack: Vec<&'static str>,
}

impl Searched {
    fn start() -> Self {
        let mut process = Command::new(env::current_exe().unwrap())
            .args(["--exact", "searched", "--nocapture"])
            .env(CHILD, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stderr.take().unwrap());
        Self { process, said }
    }

    /// Waits for a word; returns where the stack is, and the text beside it.
    fn hear(&mut self, word: &str) -> (usize, String) {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        let mut parts = line.trim_end().splitn(3, ' ');
        assert_eq!(parts.next(), Some(word), "{line}");
        let stack = parts.next().unwrap().trim_start_matches("0x");
        let stack = usize::from_str_radix(stack, 16).unwrap();
        (stack, parts.next().unwrap_or_default().to_owned())
    }

    fn go_on(&mut self) {
        self.process
            .stdin
            .as_mut()
            .unwrap()
            .write_all(b".")
            .unwrap();
    }

    /// Waits for a word, and searches all memory that the process may write to.
    fn search(&mut self, word: &str, needles: &Needles) -> Found {
        let (stack, _) = self.hear(word);
        let pid = self.process.id();
        let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
        let mut found = Found::default();
        for range in writable(&fs::read_to_string(format!("/proc/{pid}/maps")).unwrap()) {
            let mut bytes = vec![0; range.len()];
            memory
                .read_exact_at(&mut bytes, range.start as u64)
                .unwrap();
            let place = if range.contains(&stack) {
                &mut found.stack
            } else {
                &mut found.heap
            };
            needles.find(&bytes, place);
        }
        self.go_on();
        found
    }
}

fn writable(maps: &str) -> Vec<Range<usize>> {
    let lines = maps.lines().filter(|line| line.contains(" rw"));
    let ranges = lines.map(|line| {
        let (start, end) = line.split_once(' ').unwrap().0.split_once('-').unwrap();
        let [start, end] = [start, end].map(|at| usize::from_str_radix(at, 16).unwrap());
        start..end
    });
    ranges.collect()
}

/// What is found as long as a key is in use: otherwise the search sees nothing.
const KEYS: [&str; 6] = [
    "secret",
    "seal",
    "id's inner state",
    "id's outer state",
    "principal's inner state",
    "principal's outer state",
];

#[test]
fn nothing_is_left() {
    let mut searched = Searched::start();
    let (_, key) = searched.hear("key");
    searched.go_on();
    let (_, token) = searched.hear("sealed");
    searched.go_on();
    let needles = Needles::of(&key, &token, &payload());
    let is_key = |name: &&'static str| KEYS.contains(name);
    for (step, payload_lives) in [
        ("opened", true),
        ("payload-dropped", false),
        ("taken", true),
        ("taken-dropped", false),
        ("principal-mismatch", false),
        ("unauthentic", false),
        ("max-age", false),
        ("expired", false),
        ("too-large", false),
    ] {
        let found = searched.search(step, &needles);
        let (mut keys, other): (Vec<_>, Vec<_>) = found.heap.into_iter().partition(is_key);
        keys.sort_unstable_by_key(|name| KEYS.iter().position(|key| key == name));
        assert_eq!(keys, KEYS, "{step}");
        let expected: &[_] = if payload_lives { &["payload"] } else { &[] };
        assert_eq!(other, expected, "{step}");
        assert_eq!(found.stack, [""; 0], "{step}");
    }
    let left = searched.search("key-dropped", &needles);
    assert_eq!((left.heap, left.stack), (vec![], vec![]));
    assert!(searched.process.wait().unwrap().success());
}
