//! Machines of each kind.

use std::ptr;

use super::{nulls, places};
use crate::as_c::{NOW, OPEN, Pick, REVOKE, World, begin, c, frame, take, text};
use crate::machine::*;
use crate::session::*;
use crate::status::*;

const CALLER: &str = r#"{"subject":"alice"}"#;
const SEAL: &str = r#"{"op":"seal","type":"order"}"#;
const FAULT: &str = r#"{"code":"internal_error","kind":"request-state","message":"lost"}"#;
const INSPECT: &str =
    r#"{"program":"p","command":"inspect","options":{},"environment":{},"now":0}"#;

#[test]
fn machines() {
    let mut world = World::new();
    let (error, view) = (world.error(), world.alice.cast_const());
    let codec = world.codec.cast_const();
    let begun = |parent, kind, flags, texts: &[&str]| {
        begin(codec, parent, &frame(kind, flags, texts))
            .0
            .cast_const()
    };
    let none = ptr::null();
    let settings = r#"{"sessions":{"ttl":60},"ledger":{"local":true},"events":true}"#;
    let guard = begun(none, SEALWAX_GUARD, 0, &[settings]);
    let without = begun(none, SEALWAX_GUARD, 0, &[r#"{"sessions":{"ttl":60}}"#]);
    let metadata = text(|out, cap, len| {
        c!(sealwax_session_create(
            view,
            ptr::null(),
            ["1"],
            out,
            cap,
            len,
            error
        ))
    });
    let metadata: serde_json::Value = serde_json::from_str(&metadata).expect("JSON");
    let [id, state] = ["sessionId", "state"].map(|name| metadata[name].as_str().expect("a text"));
    let call = ["tools/call", "t", "{}", "", "", "", "alice", "", id, state];
    let flags = SEALWAX_FLAG_CALLER | SEALWAX_FLAG_SESSION;
    let exchange = begun(without, SEALWAX_MESSAGE, flags, &call);
    let store = begun(none, SEALWAX_STORE, 0, &[]);
    places!(answer: *const u8, len: usize);
    for (kind, parent, texts, expected) in [
        (SEALWAX_GUARD, none, &["{}"][..], "rorrrro"),
        (SEALWAX_MESSAGE, guard, &call, "oirrrro"),
        (SEALWAX_HTTP, guard, &["GET"], "oirrrro"),
        (SEALWAX_CONNECTION, guard, &[], "oirrrro"),
        (SEALWAX_REVOCATION, guard, &[CALLER, "60"], "oirrrro"),
        (SEALWAX_REPORT, guard, &[FAULT], "oirrrro"),
        (SEALWAX_HANDLE, exchange, &[SEAL, "[7]"], "oirrrro"),
        (SEALWAX_STORE, none, &[], "oorrrro"),
        (SEALWAX_DIALOGUE, store, &[REVOKE], "oirrrro"),
        (SEALWAX_MEMORY, none, &["1000000", NOW], "oorrrro"),
        (SEALWAX_COMMAND, none, &[INSPECT], "oorrrro"),
    ] {
        let mut machine = ptr::null_mut();
        let frame = frame(kind, 0, texts);
        nulls!(
            expected,
            sealwax_machine_new(codec, parent, [frame], &raw mut machine, answer, len, error),
            c!(sealwax_machine_free(take(&mut machine)))
        );
    }
    let caller = SEALWAX_FLAG_CALLER;
    let of_call = (SEALWAX_MESSAGE, without, &call[..], caller);
    let in_session = (SEALWAX_MESSAGE, without, &call[..], flags);
    // Each time a machine that is where the call is expected.
    for ((begins, parent, texts, flags), kind, told) in [
        (
            (SEALWAX_MESSAGE, without, &call[..2], 0),
            SEALWAX_PRINCIPAL,
            &["", "", "alice"][..],
        ),
        (
            (SEALWAX_MESSAGE, without, &call[..2], 0),
            SEALWAX_TOLD,
            &["null"],
        ),
        (of_call, SEALWAX_EVENT, &[r#"{"result":{"error":true}}"#]),
        (of_call, SEALWAX_RESULT, &["input_required", "", "mine"]),
        (of_call, SEALWAX_SEAL_STATE, &["1"]),
        (in_session, SEALWAX_WRITE, &["2"]),
        (in_session, SEALWAX_FORK, &[]),
        (
            (SEALWAX_MEMORY, none, &["1000000", NOW], 0),
            SEALWAX_RUN,
            &[OPEN, NOW],
        ),
        (
            (SEALWAX_DIALOGUE, store, &[REVOKE], 0),
            SEALWAX_EVENT,
            &[r#"{"text":"role:slave"}"#],
        ),
        (
            (SEALWAX_COMMAND, none, &[INSPECT], 0),
            SEALWAX_EVENT,
            &[r#"{"bytes":"c3cx"}"#],
        ),
    ] {
        let frame = frame(kind, 0, told);
        nulls!(
            "rrrro",
            { let machine = begun(parent, begins, flags, texts).cast_mut(); }
            sealwax_machine_on(machine, [frame], answer, len, error),
            c!(sealwax_machine_free(machine))
        );
    }
    for machine in [exchange, store, without, guard] {
        c!(sealwax_machine_free(machine.cast_mut()));
    }
}
