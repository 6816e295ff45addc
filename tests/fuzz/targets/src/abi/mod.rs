//! The C ABI by its structure: any calls in any order that the header allows, with NULL for any pointer, texts of any
//! bytes, buffers of any size, and objects that are freed in any order. Nothing but what the header says is written, and no
//! call finds a fault in sealwax. Under a sanitizer, memory is at its exact size.

mod call;
mod header;
mod memory;

use std::ffi::c_void;
use std::ptr;
use std::thread;

// Its functions are linked by their names.
use sealwax_c as _;

use call::{Call, Function, Input, Kind};
use header::*;
use memory::{BUFFER_TOO_SMALL, Buffer, Given, OK, Place, Room, Text, Told};

const SETTINGS: &str = "{\"sessions\":{},\"ledger\":{\"local\":true},\"events\":true}";
const NOW: u64 = 1_800_000_000;

const KINDS: [Kind; 7] = [
    Kind::Key,
    Kind::Ring,
    Kind::Codec,
    Kind::View,
    Kind::Session,
    Kind::Machine,
    Kind::Clock,
];

/// The objects that the caller owns.
#[derive(Default)]
struct Caller {
    objects: [Vec<*mut c_void>; 7],
    /// Those of them that are another's.
    shared: Vec<*mut c_void>,
    /// The latest texts.
    returned: Vec<Vec<u8>>,
    reached: bool,
}

// SAFETY: threads share its objects while it has only such as they may.
unsafe impl Send for Caller {}
// SAFETY: as above.
unsafe impl Sync for Caller {}

pub fn run(input: &[u8]) -> bool {
    let mut caller = Caller::default();
    caller.begin();
    caller.run(input)
}

/// Has two threads make the calls of inputs, with objects that they share; what they make, another frees.
pub fn beside(inputs: &[Vec<u8>]) {
    let mut caller = Caller::default();
    caller.begin();
    let settings = Text::new(&Given::Bytes(b"{}"), &[]);
    let codec = caller.object(Kind::Codec, 0);
    caller.machine(ptr::null(), ptr::null(), &Text::frame(7, 0, &[]));
    caller.machine(codec, ptr::null(), &Text::frame(1, 0, &[&settings]));
    let mut alone = caller.beside();
    alone.known();
    let [sealed, opened, by_guard] = &alone.returned[..] else {
        panic!("{:?}", alone.returned)
    };
    assert!(sealed.starts_with(b"sw1.") && opened == b"hello" && by_guard.starts_with(b"sw1."));
    let caller = &caller;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                for input in inputs {
                    let mut caller = caller.beside();
                    caller.known();
                    caller.run(input);
                    scope.spawn(move || drop(caller));
                }
            });
        }
    });
}

impl Caller {
    fn run(&mut self, input: &[u8]) -> bool {
        let input = crate::read::<Input<'_>>(input);
        for call in input.iter().flat_map(|input| &input.calls).take(24) {
            self.call(call);
        }
        self.reached
    }

    /// Makes calls that are done, unless another sets the clock, as few of the fuzzer's are: they seal, open, and make a guard seal.
    fn known(&mut self) {
        let calls = [
            (Function::Seal, 2, [60, 0], ["hello", "", "", ""]),
            (Function::Open, 2, [60, 0], ["sw1.", "", "", ""]),
            (
                Function::MachineNew,
                1,
                [8, 7],
                ["tools/call", "t", "{}", ""],
            ),
            (
                Function::MachineOn,
                1,
                [0, 3],
                ["input_required", "", "7", ""],
            ),
        ];
        for (function, kind, numbers, texts) in calls {
            let texts = texts.map(|text| match text {
                "" => Given::Absent,
                "sw1." => Given::Returned(0),
                text => Given::Bytes(text.as_bytes()),
            });
            self.call(&Call {
                function,
                objects: [0, 0, 1],
                texts,
                room: Room::Large,
                numbers,
                kind,
                nulls: 0,
            });
        }
    }

    /// Another one that begins with what this one has.
    fn beside(&self) -> Self {
        let objects = self.objects.clone();
        Self {
            shared: objects.concat(),
            objects,
            returned: Vec::new(),
            reached: false,
        }
    }

    /// Most calls need a view, so there is one from the beginning.
    fn begin(&mut self) {
        let secret: Vec<u8> = (0_u8..32).map(|byte| byte.wrapping_mul(151)).collect();
        let settings = Given::Bytes(SETTINGS.as_bytes());
        let settings = Text::frame(1, 0, &[&Text::new(&settings, &[])]);
        let (name, alice) = ("urn:fuzz".as_ptr(), "alice".as_ptr());
        let (null, none) = (ptr::null(), ptr::null_mut());
        // SAFETY: as the header says.
        unsafe {
            let key = self.first(Kind::Key, |out| {
                sealwax_key_from_secret(secret.as_ptr(), 32, out, none)
            });
            let ring = self.first(Kind::Ring, |out| {
                sealwax_ring_new([key].as_ptr(), 1, out, none)
            });
            let clock = self.first(Kind::Clock, |out| {
                sealwax_test_clock_new(NOW * 1000, out, none)
            });
            let codec = self.first(Kind::Codec, |out| {
                sealwax_test_codec_new(ring, name, 8, ptr::null(), clock, out, none)
            });
            self.first(Kind::View, |out| {
                sealwax_view_new(codec, null, 0, null, 0, alice, 5, out, none)
            });
            self.machine(codec, ptr::null(), &settings);
        }
    }

    /// Makes a machine, and returns what it lends.
    fn machine(&mut self, codec: In, parent: In, frame: &Text) -> Slice {
        let mut lent = Slice(ptr::null(), 0);
        let (answer, len) = (&raw mut lent.0, &raw mut lent.1);
        let (frame, size, none) = (frame.data(), frame.len(), ptr::null_mut());
        self.first(Kind::Machine, |out| {
            // SAFETY: as the header says.
            unsafe { sealwax_machine_new(codec, parent, frame, size, out, answer, len, none) }
        });
        lent
    }

    fn first(&mut self, kind: Kind, make: impl FnOnce(Give) -> Status) -> In {
        let mut object = ptr::null_mut();
        let status = make(&raw mut object);
        assert_eq!(status, OK);
        self.made(kind, status, object);
        object
    }

    /// One of its objects, or NULL.
    fn object(&self, kind: Kind, which: u8) -> *mut c_void {
        let all = &self.objects[kind as usize];
        let at = usize::from(which / 8)
            .checked_rem(all.len())
            .filter(|_| which % 8 != 7);
        at.map_or(ptr::null_mut(), |at| all[all.len() - 1 - at])
    }

    fn keep(&mut self, text: Vec<u8>) {
        self.reached |= !text.is_empty();
        self.returned.push(text);
    }

    /// Takes a new object, which is there if the call was done.
    fn made(&mut self, kind: Kind, status: i32, object: *mut c_void) {
        assert_eq!(status == OK, !object.is_null());
        if status == OK {
            self.objects[kind as usize].push(object);
        }
    }

    /// Reads what the library lent, before the next call: a text, or an answer of a machine.
    ///
    /// # Safety
    ///
    /// As the library returned it.
    unsafe fn owned(&mut self, status: i32, lent: Bytes, len: usize, is_answer: bool) {
        assert!(status == OK || (lent.is_null() && len == 0));
        if lent.is_null() {
            return;
        }
        // SAFETY: the library says that it is valid until the next call with its object.
        let lent = unsafe { std::slice::from_raw_parts(lent, len) };
        if !is_answer {
            assert!(std::str::from_utf8(lent).is_ok());
            return self.keep(lent.to_vec());
        }
        let ([kind, 2, _, _], rest) = lent.split_first_chunk().expect("an answer") else {
            panic!("{lent:?}")
        };
        assert!((32..=36).contains(kind));
        let (lens, mut rest) = rest.split_at(8);
        for len in lens.chunks(4) {
            let len = i32::from_le_bytes(len.try_into().expect("four bytes"));
            if let Ok(len) = usize::try_from(len) {
                let (text, after) = rest.split_at(len);
                assert!(std::str::from_utf8(text).is_ok());
                self.keep(text.to_vec());
                rest = after;
            }
        }
        assert!(rest.is_empty());
    }

    fn buffer(&mut self, buffer: &Buffer, status: i32) {
        assert!(status != BUFFER_TOO_SMALL || buffer.cap() < 24_000);
        if let Some(written) = buffer.written(status) {
            self.keep(written);
        }
    }

    #[expect(clippy::too_many_lines, reason = "a line or some for each function")]
    fn call(&mut self, call: &Call<'_>) {
        let mut texts = call
            .texts
            .each_ref()
            .map(|text| Text::new(text, &self.returned));
        if let Function::RingParse = call.function {
            // A file's path, and why it was not read.
            texts[1].unmark();
            texts[2].unmark();
        }
        let [a, b, c, d] = texts.each_ref().map(|text| Slice(text.data(), text.len()));
        let [first, second, third] = call.objects;
        let null = |bit: u8| call.nulls >> bit & 1 == 1;
        let mut out = Buffer::new(call.room);
        let mut place = Place::new(null(0));
        let mut told = Told::new(null(1));
        let error = told.data();
        let [number_0, number_1] = call.numbers;
        let number: Number = given(null(2), &number_0).cast();
        let lifetime = Lifetime(number_0, null(3));
        let lifetime = given(null(4), &lifetime);
        let kinds = [1, 2, 3, 4, 5, 127, 0, -1];
        let purpose = Purpose {
            kind: kinds[usize::from(call.kind % 8)],
            label: b,
            session_id: c,
            context: d,
        };
        let purpose = given(null(5), &purpose);
        let (mut object, mut text, mut len) = (ptr::null_mut(), ptr::null(), 0);
        let give: Give = room(null(6), &mut object);
        let texts_out: Texts = room(null(7), &mut text);
        let len_out: Len = &raw mut len;
        let [key, ring, codec, view, session, machine, clock] =
            KINDS.map(|kind| self.object(kind, first));
        let second = |kind| self.object(kind, second);
        let frame = call.frame(&texts);
        let frame = frame
            .as_ref()
            .map_or(a, |frame| Slice(frame.data(), frame.len()));
        // Memory may be an input and an output at once: a token takes the place of its payload, and claims of those before.
        let is_one = third % 2 == 1;
        let held = if is_one { out.hold(&texts[0]) } else { None };
        if is_one {
            place.claims(NOW);
        }
        let (o, cap, written) = (out.data(), out.cap(), out.len());
        let at = place.data();
        let a = held.map_or(a, |()| Slice(o, a.1));
        let before = if is_one { at } else { ptr::null_mut() };
        // SAFETY: as the header allows: each pointer is NULL, or to as much as is said; each object is NULL, or alive.
        let status = unsafe {
            match call.function {
                Function::Free(kind) => {
                    self.free(kind, first);
                    OK
                }
                Function::KeyGenerate => sealwax_key_generate(give, error),
                Function::KeyFromSecret => sealwax_key_from_secret(a.0, a.1, give, error),
                Function::KeyParse => sealwax_key_parse(a.0, a.1, give, error),
                Function::KeyRead => {
                    place.checked(sealwax_key_id(key, at.cast(), error), 4);
                    let mut told = Told::new(false);
                    let status = sealwax_key_to_text(key, o, cap, written, told.data());
                    told.checked(status);
                    self.buffer(&out, status);
                    return;
                }
                Function::RingParse if call.kind.is_multiple_of(2) => {
                    sealwax_ring_parse(a.0, a.1, give, error)
                }
                Function::RingParse => {
                    sealwax_ring_of_file(b.0, b.1, a.0, a.1, c.0, c.1, give, error)
                }
                Function::RingNew => {
                    let keys: Vec<In> = call
                        .objects
                        .iter()
                        .map(|at| self.object(Kind::Key, *at).cast_const())
                        .collect();
                    sealwax_ring_new(keys.as_ptr(), usize::from(call.kind % 4), give, error)
                }
                Function::RingIds => sealwax_ring_ids(ring, o, cap, written, error),
                Function::CodecNew => {
                    let limits = Limits([number, ptr::null(), &raw const number_1]);
                    let limits = given(null(3), &limits);
                    sealwax_codec_new(ring, a.0, a.1, limits, give, error)
                }
                Function::TestCodec => {
                    let clock = second(Kind::Clock);
                    let limits = Limits([ptr::null(), number, ptr::null()]);
                    let limits = given(null(3), &limits);
                    sealwax_test_codec_new(ring, a.0, a.1, limits, clock, give, error)
                }
                Function::SetKeys => {
                    sealwax_codec_set_keys(codec, second(Kind::Ring), at.cast(), error)
                }
                Function::ViewNew => {
                    sealwax_view_new(codec, a.0, a.1, b.0, b.1, c.0, c.1, give, error)
                }
                Function::Anonymous => sealwax_view_new_anonymous(codec, give, error),
                Function::Plain => {
                    assert!(sealwax_token_limit(codec) <= sealwax_metadata_limit(codec));
                    let kind = kinds[usize::from(call.kind % 8)];
                    assert_eq!(
                        sealwax_kind_name(kind).is_null(),
                        !matches!(kind, 1..=5 | 127)
                    );
                    let status = i32::from(first) - 3;
                    assert!(
                        !sealwax_code(status).is_null()
                            && (!sealwax_is_refusal(status) || status >= 40)
                    );
                    sealwax_check_ttl(number_0, error)
                }
                Function::Seal => sealwax_seal_token(
                    view, purpose, lifetime, before, a.0, a.1, o, cap, written, at, error,
                ),
                Function::Open => {
                    sealwax_open(view, purpose, number, a.0, a.1, o, cap, written, at, error)
                }
                Function::MintId => sealwax_mint_session_id(view, o, cap, written, at, error),
                Function::VerifyId => sealwax_verify_session_id(view, a.0, a.1, number, at, error),
                Function::NewHandle => {
                    sealwax_new_handle(view, a.0, a.1, number, o, cap, written, at, error)
                }
                Function::VerifyHandle => {
                    sealwax_verify_handle(view, a.0, a.1, b.0, b.1, number, at, error)
                }
                Function::SessionCreate => {
                    sealwax_session_create(view, lifetime, a.0, a.1, o, cap, written, error)
                }
                Function::SessionMint => sealwax_session_mint(view, o, cap, written, error),
                Function::SessionOpen => sealwax_session_open(view, a.0, a.1, give, error),
                Function::SessionRead => match null(3) {
                    true => sealwax_session_payload(session, o, cap, written, at, error),
                    false => sealwax_session_id(session, o, cap, written, at, error),
                },
                Function::SessionRenew => {
                    let session = second(Kind::Session);
                    sealwax_session_renew(view, lifetime, session, a.0, a.1, o, cap, written, error)
                }
                Function::SessionFork => {
                    let session = second(Kind::Session);
                    sealwax_session_fork(view, lifetime, session, o, cap, written, error)
                }
                Function::MachineNew => {
                    let codec = second(Kind::Codec);
                    sealwax_machine_new(
                        codec, machine, frame.0, frame.1, give, texts_out, len_out, error,
                    )
                }
                Function::MachineOn => {
                    sealwax_machine_on(machine, frame.0, frame.1, texts_out, len_out, error)
                }
                Function::Evaluate => {
                    sealwax_ledger_evaluate(a.0, a.1, number_0, b.0, b.1, o, cap, written, error)
                }
                Function::Inspect => sealwax_inspect(a.0, a.1, at, error),
                Function::Words => {
                    let ring = self.object(Kind::Ring, third);
                    match null(0) {
                        true => sealwax_report_json(a.0, a.1, ring, o, cap, written, error),
                        false => {
                            sealwax_report_words(a.0, a.1, ring, number_0, o, cap, written, error)
                        }
                    }
                }
                Function::Context => {
                    sealwax_request_context(a.0, a.1, b.0, b.1, c.0, c.1, at.cast(), error)
                }
                Function::Claims if null(0) => {
                    sealwax_token_fields(a.0, a.1, o, cap, written, error)
                }
                Function::Claims => sealwax_principal_from_claims(a.0, a.1, o, cap, written, error),
                Function::Answer => sealwax_answer(
                    a.0,
                    a.1,
                    i32::from(call.kind),
                    b.0,
                    b.1,
                    o,
                    cap,
                    written,
                    error,
                ),
                Function::ClockNew => sealwax_test_clock_new(number_0, give, error),
                Function::ClockSet => sealwax_test_clock_set(clock, number_0, error),
            }
        };
        told.checked(status);
        place.checked(status, call.function.fills());
        let is_answer = matches!(call.function, Function::MachineNew | Function::MachineOn);
        // SAFETY: no call came in between.
        unsafe { self.owned(status, text, len, is_answer) };
        if let Some(kind) = call.function.makes() {
            self.made(kind, status, object);
        } else if call.function.writes() {
            self.buffer(&out, status);
        }
    }

    /// Frees an object, or NULL.
    fn free(&mut self, kind: Kind, which: u8) {
        let object = self.object(kind, which);
        self.objects[kind as usize].retain(|known| *known != object);
        if self.shared.contains(&object) {
            return;
        }
        let free = match kind {
            Kind::Key => sealwax_key_free,
            Kind::Ring => sealwax_ring_free,
            Kind::Codec => sealwax_codec_free,
            Kind::View => sealwax_view_free,
            Kind::Session => sealwax_session_free,
            Kind::Machine => sealwax_machine_free,
            Kind::Clock => sealwax_test_clock_free,
        };
        // SAFETY: it is alive, or NULL, and nothing refers to it any more.
        unsafe { free(object) };
    }
}

/// A struct of the caller, or NULL.
fn given<T>(is_null: bool, this: &T) -> In {
    match is_null {
        true => ptr::null(),
        false => ptr::from_ref(this).cast(),
    }
}

/// A place of the caller to write to, or NULL.
fn room<T>(is_null: bool, this: &mut T) -> *mut T {
    match is_null {
        true => ptr::null_mut(),
        false => this,
    }
}

/// Whatever is left, in the order of the kinds.
impl Drop for Caller {
    fn drop(&mut self) {
        for kind in KINDS {
            while !self.objects[kind as usize].is_empty() {
                self.free(kind, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_told_what_it_lent() {
        let mut caller = Caller::default();
        caller.begin();
        let text = |text: &str| Text::new(&Given::Bytes(text.as_bytes()), &[]);
        let [method, target, json, alice] = ["tools/call", "t", "{}", "alice"].map(text);
        let none = Text::new(&Given::Absent, &[]);
        let codec = caller.object(Kind::Codec, 0);
        caller.machine(codec, ptr::null(), &Text::frame(1, 0, &[&json]));
        let guard = caller.object(Kind::Machine, 0);
        let begin = |caller: &mut Caller, token: &Text| {
            let texts = [&method, &target, &json, token, &none, &none, &alice];
            let lent = caller.machine(ptr::null(), guard, &Text::frame(2, 8, &texts));
            (caller.object(Kind::Machine, 0), lent)
        };
        let tell = |machine: Mut, Slice(frame, size): Slice| {
            let mut lent = Slice(ptr::null(), 0);
            let (answer, len) = (&raw mut lent.0, &raw mut lent.1);
            // SAFETY: as the header says.
            let status =
                unsafe { sealwax_machine_on(machine, frame, size, answer, len, ptr::null_mut()) };
            (status, lent)
        };
        // A state that is a frame itself, which seals one.
        let state = Text::frame(19, 0, &[&text("7")]);
        let result = Text::frame(17, 0, &[&text("input_required"), &none, &state]);
        let (exchange, _) = begin(&mut caller, &none);
        let (status, sealed) = tell(exchange, Slice(result.data(), result.len()));
        // SAFETY: no call came in between.
        unsafe { caller.owned(status, sealed.0, sealed.1, true) };
        let token = Text::new(&Given::Returned(0), &caller.returned);
        let (exchange, lent) = begin(&mut caller, &token);
        // The token takes the place of the state while it is read: behind a head, and two lengths.
        let (status, sealed) = tell(exchange, Slice(lent.0.wrapping_add(12), state.len()));
        assert_eq!(status, OK);
        assert_eq!(tell(exchange, sealed).0, 10);
    }
}
