//! The protocol: what messages carry, what clients are told, and the rules of a guard.

#[cfg(feature = "jcs")]
mod act;
mod answer;
mod carried;
#[cfg(feature = "jcs")]
mod context;
#[cfg(feature = "documents")]
pub mod document;
#[cfg(feature = "jcs")]
mod exchange;
#[cfg(feature = "jcs")]
mod guard;
#[cfg(feature = "jcs")]
mod input;
#[cfg(feature = "jcs")]
mod passage;
#[cfg(feature = "jcs")]
mod request;
#[cfg(feature = "jcs")]
mod session;
#[cfg(feature = "jcs")]
mod step;

#[cfg(feature = "jcs")]
pub use act::{Act, What};
pub use answer::{Answer, ErrorData, Profile, RpcError, TextContent, ToolResult};
pub use carried::Carried;
#[cfg(feature = "jcs")]
pub use exchange::Exchange;
#[cfg(feature = "jcs")]
pub use guard::{Front, Guard, GuardBuilder, Required, SessionSettings};
#[cfg(feature = "jcs")]
pub use input::{
    Event, Failed, Head, Message, Outcome, Scope, Sent, SentSession, Transport, Verdict,
};
#[cfg(feature = "jcs")]
pub use session::Session;
#[cfg(feature = "jcs")]
pub use step::{
    Before, Deliver, Item, Leave, Life, Made, Presented, Question, Refused, Reply, Step, Watch,
};
