//! Ledgers, in memory and in a Redis.

use std::ptr;

use super::{Places, nulls, places};
use crate::as_c::{Pick, World, c, made, take};
use crate::ledger::*;
use crate::redis::*;
use crate::status::*;

const OPEN: &str = r#"{"script":"open","keys":["began","fence"],"args":[]}"#;

#[test]
fn ledgers() {
    let mut world = World::new();
    let (error, mut places) = (world.error(), Places::new());
    let now = 1_800_000_000;
    places!(reply: *const std::ffi::c_char, len: usize);
    nulls!("rrro", sealwax_ledger_text(["open"], reply, len, error));
    nulls!(
        "rrrro",
        sealwax_ledger_judge(
            [OPEN],
            now,
            ["[null,null]"],
            places.out(),
            places.cap(),
            places.len(),
            error
        )
    );
    let mut memory = ptr::null_mut();
    nulls!(
        "ro",
        sealwax_memory_new(usize::MAX, now, &raw mut memory, error),
        c!(sealwax_memory_free(take(&mut memory)))
    );
    let memory = made(|memory| c!(sealwax_memory_new(1 << 20, now, memory, error)));
    nulls!(
        "rrrro",
        sealwax_memory_run(memory, [OPEN], now, reply, len, error)
    );
    c!(sealwax_memory_free(memory));
    let mut redis = ptr::null_mut();
    nulls!(
        "ro",
        sealwax_redis_new(true, &raw mut redis, error),
        c!(sealwax_redis_free(take(&mut redis)))
    );
    let redis = made(|redis| c!(sealwax_redis_new(true, redis, error)));
    let revoke = r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0"],"withinMs":300}"#;
    let mut dialogue = ptr::null_mut();
    nulls!(
        "rrrrro",
        sealwax_redis_begin(
            redis.cast_const(),
            [revoke],
            &raw mut dialogue,
            reply,
            len,
            error
        ),
        c!(sealwax_dialogue_free(take(&mut dialogue)))
    );
    nulls!(
        "rrrro",
        {
            let dialogue = made(|place| {
                c!(sealwax_redis_begin(redis.cast_const(), [revoke], place, reply, len, error))
            });
        }
        sealwax_dialogue_on(dialogue, [r#"{"text":"role:slave"}"#], reply, len, error),
        c!(sealwax_dialogue_free(dialogue))
    );
    c!(sealwax_redis_free(redis));
}
