//! What comes in: a message of a client, and what the adapter tells.

pub(crate) mod context;
pub(crate) mod input;
pub(crate) mod json;
pub(crate) mod members;
pub(crate) mod method;
pub(crate) mod text;
pub(crate) mod token;
pub(crate) mod token_fields;
