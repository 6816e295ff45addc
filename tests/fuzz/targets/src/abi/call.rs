//! What an input says: which function is called, with what.

use arbitrary::Arbitrary;

use super::header;
use super::memory::{Given, Room, Text};

#[derive(Arbitrary, Debug)]
pub struct Input<'a> {
    pub calls: Vec<Call<'a>>,
}

/// A call, with all that it may take: each function takes its part.
#[derive(Arbitrary, Debug)]
pub struct Call<'a> {
    pub function: Function,
    /// Which objects of their kinds; one in eight is NULL.
    pub objects: [u8; 3],
    pub texts: [Given<'a>; 4],
    pub room: Room,
    pub numbers: [u64; 2],
    pub kind: u8,
    pub nulls: u8,
}

impl Call<'_> {
    /// A frame for a machine, mostly of a kind and a number of texts that there are; `None` for the first text as it is.
    pub fn frame(&self, texts: &[Text; 4]) -> Option<Text> {
        let (first, kinds) = match self.function {
            Function::MachineNew => (1, 15),
            _ => (16, 13),
        };
        let [flags, count] = self.numbers;
        let count = usize::try_from(count % 16)
            .ok()
            .filter(|count| *count <= 12)?;
        let texts: Vec<_> = texts.iter().cycle().take(count).collect();
        Some(Text::frame(first + self.kind % kinds, flags as u16, &texts))
    }
}

/// What objects there are, by the place of their list.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Key,
    Ring,
    Codec,
    View,
    Session,
    Machine,
    Clock,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Function {
    Free(Kind),
    KeyGenerate,
    KeyFromSecret,
    KeyParse,
    KeyRead,
    RingParse,
    RingNew,
    RingIds,
    CodecNew,
    SetKeys,
    ViewNew,
    Anonymous,
    Plain,
    Seal,
    Open,
    MintId,
    VerifyId,
    NewHandle,
    VerifyHandle,
    SessionCreate,
    SessionMint,
    SessionOpen,
    SessionRead,
    SessionRenew,
    SessionFork,
    MachineNew,
    MachineOn,
    Evaluate,
    Inspect,
    Words,
    Context,
    Claims,
    Answer,
    ClockNew,
    ClockSet,
    TestCodec,
}

impl Function {
    /// The kind of object that it makes.
    pub fn makes(self) -> Option<Kind> {
        Some(match self {
            Self::KeyGenerate | Self::KeyFromSecret | Self::KeyParse => Kind::Key,
            Self::RingParse | Self::RingNew => Kind::Ring,
            Self::CodecNew | Self::TestCodec => Kind::Codec,
            Self::ViewNew | Self::Anonymous => Kind::View,
            Self::SessionOpen => Kind::Session,
            Self::MachineNew => Kind::Machine,
            Self::ClockNew => Kind::Clock,
            _ => return None,
        })
    }

    /// How many bytes of a struct of the caller it writes to.
    pub fn fills(self) -> usize {
        match self {
            Self::Seal => header::SEALED,
            Self::Open | Self::SessionRead => header::OPENED,
            Self::MintId | Self::VerifyId | Self::NewHandle | Self::VerifyHandle => {
                header::IDENTIFIER
            }
            Self::Inspect => header::INSPECTION,
            Self::Context => 32,
            Self::SetKeys => 1,
            _ => 0,
        }
    }

    /// Whether it writes to a buffer.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::RingIds
                | Self::Seal
                | Self::Open
                | Self::MintId
                | Self::NewHandle
                | Self::SessionCreate
                | Self::SessionMint
                | Self::SessionRead
                | Self::SessionRenew
                | Self::SessionFork
                | Self::Evaluate
                | Self::Words
                | Self::Claims
                | Self::Answer
        )
    }
}
