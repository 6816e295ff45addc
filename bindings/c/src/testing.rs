//! The clock of an application's tests.

use std::ffi::c_char;

use crate::call::{ErrorReport, call};
use crate::codec::{Codec, Limits, builder};
use crate::input;
use crate::key_ring::Ring;
use crate::output::{Slot, free};
use crate::status::Status;

/// For tests of an application: a clock that stands still until it is set. Threads may share it.
pub struct TestClock(sealwax_core::testing::TestClock);

/// Makes a clock that stands at `now_ms`, in Unix milliseconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_test_clock_new(
    now_ms: u64,
    clock: *mut *mut TestClock,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let clock = Slot::new("clock", clock)?;
        clock.give(TestClock(sealwax_core::testing::TestClock::at_ms(now_ms)));
        Ok(())
    })
}

/// Sets the clock, for every codec on it; backwards too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_test_clock_set(
    clock: *const TestClock,
    now_ms: u64,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        input::object("clock", clock)?.0.set_ms(now_ms);
        Ok(())
    })
}

/// Frees a clock; NULL is allowed. The codecs on it stay valid, at its last time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_test_clock_free(clock: *mut TestClock) {
    free(clock);
}

/// Makes a codec on this clock, as sealwax_codec_new does on the system's. Its randomness is the system's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sealwax_test_codec_new(
    ring: *const Ring,
    audience: *const c_char,
    audience_len: usize,
    limits: *const Limits,
    clock: *const TestClock,
    codec: *mut *mut Codec,
    error: *mut ErrorReport,
) -> Status {
    call(error, || {
        let ring = input::object("ring", ring)?;
        let audience = input::text("audience", audience, audience_len)?;
        let clock = input::object("clock", clock)?;
        let codec = Slot::new("codec", codec)?;
        let builder = builder(ring, audience, limits);
        codec.give(Codec(builder.build_in(clock.0.clone())?));
        Ok(())
    })
}
