//! What goes out: steps, answers to a client, events, lines of the log.

pub(crate) mod answer;
pub(crate) mod event;
pub(crate) mod log;
pub(crate) mod reason;
pub(crate) mod set;
pub(crate) mod step;
