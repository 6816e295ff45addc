//! What makes the question of a confirmation.

use futures::future::BoxFuture;
use rmcp::ErrorData;
use serde_json::Value;

use crate::Context;

/// Makes the question of a confirmation of a call's arguments.
pub(crate) type Question =
    dyn Fn(Value, Context) -> BoxFuture<'static, Result<String, ErrorData>> + Send + Sync;
