//! The command.

use std::ptr;

use super::{nulls, places};
use crate::as_c::{Pick, World, c, lent, made, take};
use crate::command::*;
use crate::status::*;

#[test]
fn commands() {
    let mut world = World::new();
    let error = world.error();
    let request = r#"{"program":"p","command":"inspect","options":{},"environment":{},"now":0}"#;
    let mut command = ptr::null_mut();
    places!(next: *const std::ffi::c_char, len: usize);
    nulls!(
        "rrrro",
        sealwax_command_begin([request], &raw mut command, next, len, error),
        c!(sealwax_command_free(take(&mut command)))
    );
    nulls!(
        "rrrro",
        {
            let command =
                made(|place| c!(sealwax_command_begin([request], place, next, len, error)));
        }
        sealwax_command_on(command, [r#"{"bytes":"c3cx"}"#], next, len, error),
        c!(sealwax_command_free(command))
    );
    let command = made(|place| c!(sealwax_command_begin([request], place, next, len, error)));
    let last = lent(|next, len| {
        c!(sealwax_command_on(
            command,
            [r#"{"bytes":"c3cx"}"#],
            next,
            len,
            error
        ))
    });
    assert!(last.is_some_and(|last| last.contains("\"status\":1")));
    c!(sealwax_command_free(command));
}
