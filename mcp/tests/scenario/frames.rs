//! Frames, as another language writes them.

use sealwax::Error;
use sealwax_mcp::machine::{Answer, Frame, Machine};

/// The texts of a frame.
pub type Texts<'a> = &'a [Option<&'a [u8]>];

/// Stands for what is no text.
pub const NO_TEXT: &[u8] = b"\0";

/// Writes and reads a frame of these texts, and gives it to a function.
pub fn framed<T>(kind: u8, flags: u16, texts: Texts<'_>, read: impl FnOnce(&Frame<'_>) -> T) -> T {
    let [low, high] = flags.to_le_bytes();
    let mut frame = vec![kind, u8::try_from(texts.len()).unwrap(), low, high];
    for text in texts {
        let len = match *text {
            None => -1,
            Some(NO_TEXT) => -2,
            Some(text) => i32::try_from(text.len()).unwrap(),
        };
        frame.extend(len.to_le_bytes());
    }
    for text in texts.iter().flatten().filter(|text| **text != NO_TEXT) {
        frame.extend(*text);
    }
    read(&Frame::read(&frame).unwrap())
}

pub fn made(parent: Option<&Machine>, kind: u8, flags: u16, texts: Texts<'_>) -> (Machine, Answer) {
    framed(kind, flags, texts, |frame| {
        Machine::new(parent, frame).unwrap()
    })
}

pub fn tell(
    machine: &mut Machine,
    kind: u8,
    flags: u16,
    texts: Texts<'_>,
) -> Result<Answer, Error> {
    framed(kind, flags, texts, |frame| machine.on(frame))
}
