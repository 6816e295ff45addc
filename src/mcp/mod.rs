//! The protocol: what messages carry, and what clients are told.

mod answer;
mod carried;

pub use answer::{Answer, ErrorData, Profile, RpcError, TextContent, ToolResult};
pub use carried::Carried;
