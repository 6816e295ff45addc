//! Sealwax in Rust against its peers, with `guard` what protection adds to a request, or with `ledger STORE`
//! what an admission costs: a JSON object a line (benches/run.py and benches/ledger/run.py say which).

mod guard;
mod ledger;
mod measure;
mod peers;

use std::env;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use measure::{Effort, duel, passed};
use peers::{Branca, Fernet, FloorRing, FloorRustCrypto, Paseto, Peer, Rmcp};
use sealwax::{Codec, Key, KeyRing, Principal, RequestContext, View};
use serde_json::json;
use sha2::{Digest as _, Sha256};

const SIZES: [usize; 4] = [64, 256, 1024, 4096];
const AUDIENCE: &str = "https://mcp.example.com";
const METHOD: &str = "tools/call";
const TARGET: &str = "save_note";
/// As a model writes them, in the order of the tool's schema.
const ARGUMENTS: &str = r#"{"path":"projects/sealwax/meeting-notes.md","title":"Meeting of Tuesday","content":"Decide on the release; ask Alice for the figures.","tags":["work","release"],"pinned":true,"revision":41,"reason":"the user asked for it"}"#;
/// As they are to be hashed, in the order of their names.
const SORTED: &str = r#"{"content":"Decide on the release; ask Alice for the figures.","path":"projects/sealwax/meeting-notes.md","pinned":true,"reason":"the user asked for it","revision":41,"tags":["work","release"],"title":"Meeting of Tuesday"}"#;

fn main() {
    let words: Vec<_> = env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "quick");
    if words.iter().any(|word| word == "guard") {
        return guard::run(quick);
    }
    if let [command, store, ..] = &words[..]
        && command == "ledger"
    {
        return ledger::run(store, quick);
    }
    let (turn, turns) = match quick {
        true => (Duration::from_micros(300), 15),
        false => (Duration::from_millis(1), 101),
    };
    let effort = Effort {
        turn,
        turns,
        warm: turn,
        clock: passed,
    };
    let codec = Codec::new(KeyRing::new([Key::generate().unwrap()]).unwrap(), AUDIENCE).unwrap();
    let alice = codec.view(&principal()).unwrap();
    let context = RequestContext::new(METHOD, TARGET, Some(ARGUMENTS)).unwrap();
    for size in SIZES {
        let payload = "x".repeat(size).into_bytes();
        for peer in everyone() {
            against(effort, &alice, &context, &payload, &*peer);
        }
        requests(effort, &codec, &payload);
    }
    parts(effort, &codec);
    threads(&alice, &context);
    memory(&alice, &context, if quick { 100_000 } else { 10_000_000 });
}

fn everyone() -> [Box<dyn Peer>; 6] {
    [
        Box::new(Rmcp::new()),
        Box::new(Paseto::new()),
        Box::new(Fernet::new()),
        Box::new(Branca),
        Box::new(FloorRing),
        Box::new(FloorRustCrypto::new()),
    ]
}

fn principal() -> Principal {
    Principal::subject("alice")
        .with_issuer("https://idp.example.com")
        .with_client("cli-7")
}

fn against(
    effort: Effort,
    alice: &View,
    context: &RequestContext,
    payload: &[u8],
    peer: &dyn Peer,
) {
    let sealer = alice.request_state(context);
    let (ours, theirs) = (sealer.seal(payload).unwrap(), peer.seal(payload));
    assert_eq!(peer.open(&theirs), payload);
    let lengths = [ours.as_str().len(), theirs.len()];

    let seal = duel(
        effort,
        &mut || drop(black_box(sealer.seal(black_box(payload)))),
        &mut || drop(black_box(peer.seal(black_box(payload)))),
    );
    print("seal", payload.len(), peer.name(), seal, lengths);
    let open = duel(
        effort,
        &mut || drop(black_box(sealer.open(black_box(ours.as_str())))),
        &mut || drop(black_box(peer.open(black_box(&theirs)))),
    );
    print("open", payload.len(), peer.name(), open, lengths);
}

/// The work of one request, from its principal and its arguments: to the token sealed, to the token opened,
/// and to the token opened and the next one sealed. Beside rmcp's, the token alone.
fn requests(effort: Effort, codec: &Codec, payload: &[u8]) {
    let context = || RequestContext::new(METHOD, TARGET, Some(black_box(ARGUMENTS))).unwrap();
    let alice = || codec.view(black_box(&principal())).unwrap();
    let seal = || alice().request_state(&context()).seal(black_box(payload));
    let open = |token: &str| alice().request_state(&context()).open(black_box(token));
    let token = seal().unwrap();
    let token = token.as_str();

    let rmcp = Rmcp::new();
    let bindings = || {
        let mut bindings =
            b"https://idp.example.com\0cli-7\0alice\0tools/call\0save_note\0".to_vec();
        bindings.extend_from_slice(&Sha256::digest(black_box(ARGUMENTS)));
        bindings
    };
    let theirs = rmcp.seal_with(payload, &bindings());

    let (view, bound) = (alice(), context());
    let sealer = view.request_state(&bound);
    let rmcp_opens = || rmcp.0.open_with(black_box(&theirs), &bindings()).unwrap();
    let against = |op, peer, ours: &mut dyn FnMut(), its: &mut dyn FnMut(), length| {
        let times = duel(effort, ours, its);
        print(op, payload.len(), peer, times, [token.len(), length]);
    };
    against(
        "request-seal",
        "rmcp",
        &mut || drop(black_box(seal())),
        &mut || drop(black_box(rmcp.seal_with(black_box(payload), &bindings()))),
        theirs.len(),
    );
    against(
        "request-open",
        "rmcp",
        &mut || drop(black_box(open(token))),
        &mut || drop(black_box(rmcp_opens())),
        theirs.len(),
    );
    against(
        "request-seal",
        "token-alone",
        &mut || drop(black_box(seal())),
        &mut || drop(black_box(sealer.seal(black_box(payload)))),
        token.len(),
    );
    against(
        "request-open",
        "token-alone",
        &mut || drop(black_box(open(token))),
        &mut || drop(black_box(sealer.open(black_box(token)))),
        token.len(),
    );
    against(
        "request",
        "rmcp-request",
        &mut || {
            let (alice, context) = (alice(), context());
            let sealer = alice.request_state(&context);
            let opened = sealer.open(black_box(token)).unwrap();
            black_box(sealer.seal(opened.payload()).unwrap());
        },
        &mut || {
            let bindings = bindings();
            let opened = rmcp.0.open_with(black_box(&theirs), &bindings).unwrap();
            black_box(rmcp.seal_with(&opened, &bindings));
        },
        theirs.len(),
    );
}

/// What a request costs beside its tokens, in nanoseconds: the request context of arguments in either order,
/// and the view with one key and with three.
fn parts(effort: Effort, codec: &Codec) {
    let ring = KeyRing::new([(); 3].map(|()| Key::generate().unwrap())).unwrap();
    let three = Codec::new(ring, AUDIENCE).unwrap();
    let context = |arguments| {
        black_box(RequestContext::new(METHOD, TARGET, Some(black_box(arguments))).unwrap());
    };
    let alice = principal();
    let view = |codec: &Codec| drop(black_box(codec.view(black_box(&alice)).unwrap()));
    let sorted = duel(effort, &mut || context(SORTED), &mut || context(ARGUMENTS));
    let views = duel(effort, &mut || view(codec), &mut || view(&three));
    println!(
        "{}",
        json!({ "language": "rust", "parts": {
            "context": sorted.0, "context-unsorted": sorted.1, "view": views.0, "view-3-keys": views.1,
        } })
    );
}

fn print(
    op: &str,
    size: usize,
    peer: &str,
    (ours, theirs): (f64, f64),
    [our_length, peer_length]: [usize; 2],
) {
    println!(
        "{}",
        json!({
            "language": "rust", "size": size, "op": op, "ours_ns": ours, "peer": peer, "peer_ns": theirs,
            "ratio": theirs / ours, "ours_length": our_length, "peer_length": peer_length,
        })
    );
}

/// Tokens a second of one codec shared by one and by two threads, by turns; the best turn of each,
/// for whatever else runs on the machine takes a thread's core away.
fn threads(alice: &View, context: &RequestContext) {
    const TOKENS: usize = 20_000;
    let tokens_a_second = |threads: usize| {
        let start = Instant::now();
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..TOKENS {
                        black_box(alice.request_state(context).seal(&[7; 64]).unwrap());
                    }
                });
            }
        });
        (threads * TOKENS) as f64 / start.elapsed().as_secs_f64()
    };
    let (mut one, mut two) = (0.0_f64, 0.0_f64);
    for _ in 0..25 {
        one = one.max(tokens_a_second(1));
        two = two.max(tokens_a_second(2));
    }
    println!(
        "{}",
        json!({ "language": "rust", "threads": { "1": one, "2": two, "ratio": two / one } })
    );
}

/// Resident bytes before and after so many tokens sealed and opened.
fn memory(alice: &View, context: &RequestContext, tokens: usize) {
    let seal_and_open = || {
        let token = alice.request_state(context).seal(&[7; 64]).unwrap();
        black_box(alice.request_state(context).open(&token).unwrap());
    };
    (0..1000).for_each(|_| seal_and_open());
    let before = resident();
    (0..tokens).for_each(|_| seal_and_open());
    println!(
        "{}",
        json!({ "language": "rust", "memory": { "tokens": tokens, "before": before, "after": resident() } })
    );
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
