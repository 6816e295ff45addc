//! Checks that the host's stack has space for a call of this module.
//!
//! An exception that passes through the module leaves what it was doing half done: borrowed cells stay borrowed, and no
//! later call succeeds. A host throws one where its stack is full, which a handler reaches that recurses over JSON of a
//! client. So `pkg/src/module.ts` checks the stack before each call;
//! what seals and opens tokens has a check before it in the module itself (`xtask/src/wasm.rs`), which returns -2.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use wasm_bindgen::prelude::*;

use crate::{machines, shared};

/// Calls itself so many times: throws the host's exception if the stack is too full for that, and leaves nothing half
/// done. Returns whether nothing is half done by an earlier call: one that ended in a trap, or has not ended.
#[wasm_bindgen(js_name = checkStack)]
pub fn check_stack(calls: u32) -> bool {
    descend(calls);
    shared::is_free() && machines::is_free()
}

/// More calls than any stack takes.
const NEVER: u32 = u32::MAX / 2;

macro_rules! descend_holding {
    ($($name:ident)*) => {
        static KEPT: [AtomicU32; 129] = [const { AtomicU32::new(0) }; 129];

        /// Its frame is large, because it might hold many values while it calls itself. It never does.
        #[inline(never)]
        fn descend(left: u32) {
            struct Held { $($name: u32,)* }
            if left == 0 {
                return;
            }
            let mut at = 0;
            let held = (left > NEVER).then(|| Held {
                $($name: { at += 1; KEPT[at].load(Relaxed) },)*
            });
            descend(left - 1);
            if let Some(held) = held {
                let mut at = 0;
                $(KEPT[at].store(held.$name, Relaxed); at += 1;)*
                KEPT[at].store(left, Relaxed);
            }
            KEPT[0].store(left, Relaxed);
        }
    };
}

descend_holding!(
    a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 b2 b3 b4 b5 b6 b7 c0 c1 c2 c3 c4 c5 c6 c7 d0 d1 d2 d3 d4 d5 d6 d7
    e0 e1 e2 e3 e4 e5 e6 e7 f0 f1 f2 f3 f4 f5 f6 f7 g0 g1 g2 g3 g4 g5 g6 g7 h0 h1 h2 h3 h4 h5 h6 h7
    i0 i1 i2 i3 i4 i5 i6 i7 j0 j1 j2 j3 j4 j5 j6 j7 k0 k1 k2 k3 k4 k5 k6 k7 l0 l1 l2 l3 l4 l5 l6 l7
    m0 m1 m2 m3 m4 m5 m6 m7 n0 n1 n2 n3 n4 n5 n6 n7 o0 o1 o2 o3 o4 o5 o6 o7 p0 p1 p2 p3 p4 p5 p6 p7
);
