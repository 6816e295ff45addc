//! The engine's state machines, by number: an object of the glue for each would take a finalizer, which costs more than what
//! the engine does for most requests. What they are told and what they answer are frames in the shared memory.

use std::cell::RefCell;

use sealwax::Error;
use sealwax_mcp::machine::{Answer, Machine};
use wasm_bindgen::prelude::*;

use crate::codec::Codec;
use crate::shared::{self, Writer};

#[derive(Default)]
struct Machines {
    all: Vec<Option<Machine>>,
    free: Vec<usize>,
}

thread_local! {
    static MACHINES: RefCell<Machines> = RefCell::default();
}

const NO_MACHINE: Error = Error::InvalidArgument(std::borrow::Cow::Borrowed(
    "machine: expected one that is not freed, found none",
));

#[wasm_bindgen]
impl Codec {
    /// Makes a guard: see [`new`].
    pub fn guard(&self, given: usize) -> i32 {
        begin(shared::frame(given, |frame| {
            Machine::guard(self.0.clone(), frame)
        }))
    }
}

/// Makes a machine. Writes its number, in 4 bytes, and its answer. JavaScript frees it. No machine has the number -1.
#[wasm_bindgen(js_name = machineNew)]
pub fn new(parent: i32, given: usize) -> i32 {
    begin(shared::frame(given, |frame| {
        MACHINES.with_borrow(|machines| {
            let parent = usize::try_from(parent).ok();
            let parent = parent.map(|number| machines.get(number).ok_or(NO_MACHINE));
            Machine::new(parent.transpose()?, frame)
        })
    }))
}

/// Tells a machine something, and writes its answer.
#[wasm_bindgen(js_name = machineOn)]
pub fn on(machine: usize, given: usize) -> i32 {
    let answer = shared::frame(given, |frame| {
        MACHINES.with_borrow_mut(|machines| match machines.all.get_mut(machine) {
            Some(Some(machine)) => machine.on(frame),
            _ => Err(NO_MACHINE),
        })
    });
    shared::put_result(answer, write)
}

/// After a fault it may do nothing.
#[wasm_bindgen(js_name = machineFree)]
pub fn free(machine: usize) {
    let freed = MACHINES.with(|machines| {
        let mut machines = machines.try_borrow_mut().ok()?;
        let freed = machines.all.get_mut(machine)?.take();
        if freed.is_some() {
            machines.free.push(machine);
        }
        freed
    });
    drop(freed);
}

/// Returns how many exchanges are not freed yet, for tests.
#[wasm_bindgen]
pub fn exchanges() -> usize {
    MACHINES.with_borrow(|machines| {
        let machines = machines.all.iter().flatten();
        machines
            .filter(|one| matches!(one, Machine::Exchange(_)))
            .count()
    })
}

/// Returns whether no call is using a machine.
pub fn is_free() -> bool {
    MACHINES.with(|machines| machines.try_borrow_mut().is_ok())
}

#[inline(never)]
fn begin(made: Result<(Machine, Answer), Error>) -> i32 {
    let made = made.map(|(machine, answer)| (add(machine), answer));
    shared::put_result(made, |(number, answer), writer| {
        writer.put(&number.to_le_bytes());
        write(answer, writer);
    })
}

fn add(machine: Machine) -> u32 {
    MACHINES.with_borrow_mut(|Machines { all, free }| {
        let number = free.pop().unwrap_or(all.len());
        match all.get_mut(number) {
            Some(place) => *place = Some(machine),
            None => all.push(Some(machine)),
        }
        u32::try_from(number).unwrap_or_default()
    })
}

impl Machines {
    fn get(&self, number: usize) -> Option<&Machine> {
        self.all.get(number)?.as_ref()
    }
}

fn write(answer: &Answer, writer: &mut Writer<'_>) {
    writer.put(&answer.head());
    for text in answer.texts.iter().flatten() {
        writer.put(text.as_bytes());
    }
}
