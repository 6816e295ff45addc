//! Calls functions as C does: with memory that is input and output at once, and by threads. It is made for Miri, which sees in
//! it what no tool for C sees (`tests/assurance/miri`); `cargo test` runs it too. What calls them in any order is tests/fuzz/targets/src/abi.

mod aliases;
mod threads;

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::{ptr, slice};

use sealwax_mcp::machine::Frame;

use crate::call::ErrorReport;
use crate::codec::{Codec, sealwax_codec_free};
use crate::key_ring::{Ring, sealwax_ring_free, sealwax_ring_parse};
use crate::machine::{Machine, sealwax_machine_new, sealwax_machine_on};
use crate::status::{SEALWAX_BUFFER_TOO_SMALL, SEALWAX_OK, Status};
use crate::testing::{
    TestClock, sealwax_test_clock_free, sealwax_test_clock_new, sealwax_test_codec_new,
};
use crate::token::{Purpose, SEALWAX_KIND_SESSION, sealwax_open, sealwax_seal};
use crate::view::{View, sealwax_view_free, sealwax_view_new};

/// The first of the vectors, and another one.
const KEY: &str = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";
const REVOKE: &str =
    r#"{"script":"revoke","keys":["swl1:{a}:p:b"],"args":["0","0"],"withinMs":300}"#;
const OPEN: &str = r#"{"script":"open","keys":["began","fence"],"args":[]}"#;
const NOW: &str = "1800000000";
const AUDIENCE: &str = "https://mcp.example.com";
/// Of a token, and of a payload.
const ROOM: usize = 256;
const NOW_MS: u64 = 1_800_000_000_000;

const SESSION: Purpose = Purpose {
    kind: SEALWAX_KIND_SESSION,
    label: ptr::null(),
    label_len: 0,
    session_id: ptr::null(),
    session_id_len: 0,
    context: ptr::null(),
    context_len: 0,
};

/// Calls a function. `[text]` stands for a pointer and a size, `[]` for (NULL, 0).
macro_rules! c {
    (@ $f:ident ($($done:tt)*) ()) => {
        // SAFETY: the tests keep to the rules of the header.
        unsafe { $f($($done)*) }
    };
    (@ $f:ident ($($done:tt)*) ([] $(, $($rest:tt)*)?)) => {
        c!(@ $f ($($done)* std::ptr::null(), 0,) ($($($rest)*)?))
    };
    (@ $f:ident ($($done:tt)*) ([$text:expr] $(, $($rest:tt)*)?)) => {
        c!(@ $f (
            $($done)* $crate::as_c::bytes(&$text).as_ptr().cast(), $crate::as_c::bytes(&$text).len(),
        ) ($($($rest)*)?))
    };
    (@ $f:ident ($($done:tt)*) ($argument:expr $(, $($rest:tt)*)?)) => {
        c!(@ $f ($($done)* $argument,) ($($($rest)*)?))
    };
    ($f:ident($($arguments:tt)*)) => {
        c!(@ $f () ($($arguments)*))
    };
}
use c;

fn bytes<T: AsRef<[u8]> + ?Sized>(bytes: &T) -> &[u8] {
    bytes.as_ref()
}

/// What the tests of one thread begin with: freed in an order in which nobody would.
struct World {
    ring: *mut Ring,
    clock: *mut TestClock,
    codec: *mut Codec,
    alice: *mut View,
    /// Not initialized, as in C.
    error: Box<MaybeUninit<ErrorReport>>,
}

impl World {
    fn new() -> Self {
        let none = ptr::null_mut();
        let ring = made(|ring| c!(sealwax_ring_parse([KEY], ring, none)));
        let clock = made(|clock| c!(sealwax_test_clock_new(NOW_MS, clock, none)));
        let codec = made(|codec| {
            c!(sealwax_test_codec_new(
                ring.cast_const(),
                [AUDIENCE],
                ptr::null(),
                clock.cast_const(),
                codec,
                none
            ))
        });
        let alice = made(|view| {
            c!(sealwax_view_new(
                codec.cast_const(),
                [],
                [],
                ["alice"],
                view,
                none
            ))
        });
        Self {
            ring,
            clock,
            codec,
            alice,
            error: Box::new(MaybeUninit::uninit()),
        }
    }

    fn error(&mut self) -> *mut ErrorReport {
        self.error.as_mut_ptr()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        c!(sealwax_ring_free(self.ring));
        c!(sealwax_codec_free(self.codec));
        c!(sealwax_test_clock_free(self.clock));
        c!(sealwax_view_free(self.alice));
    }
}

/// Returns what a call writes to a place that was not initialized.
fn made<T>(call: impl FnOnce(*mut T) -> Status) -> T {
    let mut place = Box::new(MaybeUninit::uninit());
    assert_eq!(call(place.as_mut_ptr()), SEALWAX_OK);
    // SAFETY: it succeeded, so it was written.
    unsafe { *place.assume_init() }
}

/// Returns what a call writes to a buffer: first to none, then to one that is too small by a byte, then to one that
/// is just large enough.
fn written<T>(mut call: impl FnMut(*mut T, usize, *mut usize) -> Status) -> Vec<u8> {
    let mut len = Box::new(MaybeUninit::uninit());
    let status = call(ptr::null_mut(), 0, len.as_mut_ptr());
    // SAFETY: it is written in both cases.
    let needed = unsafe { len.assume_init_read() };
    if needed == 0 {
        assert_eq!(status, SEALWAX_OK);
        return Vec::new();
    }
    assert_eq!(status, SEALWAX_BUFFER_TOO_SMALL);
    let mut small = Box::<[u8]>::new_uninit_slice(needed - 1);
    let status = call(small.as_mut_ptr().cast(), needed - 1, len.as_mut_ptr());
    assert_eq!(status, SEALWAX_BUFFER_TOO_SMALL);
    let mut out = Box::<[u8]>::new_uninit_slice(needed);
    let status = call(out.as_mut_ptr().cast(), needed, len.as_mut_ptr());
    assert_eq!(status, SEALWAX_OK);
    // SAFETY: it succeeded, so all of it was written.
    let out = unsafe { out.assume_init() };
    // SAFETY: as above.
    assert_eq!(unsafe { len.assume_init_read() }, needed);
    out.into_vec()
}

fn text(call: impl FnMut(*mut c_char, usize, *mut usize) -> Status) -> String {
    String::from_utf8(written(call)).expect("UTF-8")
}

/// A frame of these texts; an empty one is absent.
fn frame(kind: u8, flags: u16, texts: &[&str]) -> Box<[u8]> {
    let [low, high] = flags.to_le_bytes();
    let mut frame = vec![
        kind,
        u8::try_from(texts.len()).expect("few texts"),
        low,
        high,
    ];
    for text in texts {
        let len = if text.is_empty() {
            -1
        } else {
            i32::try_from(text.len()).expect("short")
        };
        frame.extend(len.to_le_bytes());
    }
    frame.extend(texts.concat().bytes());
    frame.into()
}

/// Seals a payload, which may be where the token and its size go.
fn seal(view: *const View, payload: (*const u8, usize), out: *mut u8, len: *mut usize) -> Status {
    let (payload, payload_len) = payload;
    c!(sealwax_seal(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        payload,
        payload_len,
        out.cast(),
        ROOM,
        len,
        ptr::null_mut()
    ))
}

/// Opens a token, which may be where the payload and its size go.
fn open(view: *const View, token: (*const u8, usize), out: *mut u8, len: *mut usize) -> Status {
    let (token, token_len) = token;
    c!(sealwax_open(
        view,
        ptr::from_ref(&SESSION),
        ptr::null(),
        token.cast(),
        token_len,
        out,
        ROOM,
        len,
        ptr::null_mut(),
        ptr::null_mut()
    ))
}

/// Where an answer is that a machine lends.
type Lent = (*const u8, usize);

/// Copies an answer: its kind and its first text, empty where it is absent.
fn copied((place, len): Lent) -> (u8, String) {
    // SAFETY: the machine has not been used since.
    let frame = unsafe { slice::from_raw_parts(place, len) };
    let frame = Frame::read(frame).expect("a frame");
    (frame.kind, frame.document().to_owned())
}

/// Makes a machine, and returns where its answer is.
fn begun(codec: *const Codec, parent: *const Machine, frame: &[u8]) -> (*mut Machine, Lent) {
    let mut machine = ptr::null_mut();
    let (mut answer, mut len) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let status = c!(sealwax_machine_new(
        codec,
        parent,
        [frame],
        &raw mut machine,
        answer.as_mut_ptr(),
        len.as_mut_ptr(),
        ptr::null_mut()
    ));
    assert_eq!(status, SEALWAX_OK);
    // SAFETY: it succeeded, so both were written.
    (machine, unsafe {
        (answer.assume_init(), len.assume_init())
    })
}

/// Makes a machine, and returns what it answers.
fn begin(
    codec: *const Codec,
    parent: *const Machine,
    frame: &[u8],
) -> (*mut Machine, (u8, String)) {
    let (machine, lent) = begun(codec, parent, frame);
    (machine, copied(lent))
}

/// Tells a machine a frame, which may be what it lent; where it answers nothing, that is where it was.
fn told(machine: *mut Machine, frame: Lent) -> (Status, Lent) {
    let mut answer = frame;
    let (place, len) = (&raw mut answer.0, &raw mut answer.1);
    let none = ptr::null_mut();
    let status = c!(sealwax_machine_on(
        machine, frame.0, frame.1, place, len, none
    ));
    (status, answer)
}

/// Tells a machine something, and returns what it answers.
fn tell(machine: *mut Machine, kind: u8, texts: &[&str]) -> (u8, String) {
    let frame = frame(kind, 0, texts);
    let (status, answer) = told(machine, (frame.as_ptr(), frame.len()));
    assert_eq!(status, SEALWAX_OK);
    copied(answer)
}
