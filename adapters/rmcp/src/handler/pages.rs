//! Cursors in the results of tools.

use std::time::Duration;

use sealwax::Error;
use sealwax_mcp::HandleOpKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handles::HandleType;
use crate::guard::Guard;
use crate::refusal::HandleRefused;
use crate::value::json;
use crate::{Context, Kind};

impl Guard {
    /// Returns the pages of a tool's result, whose cursor the next call has in the argument `cursor`.
    pub fn pages(&self) -> Pages {
        Pages {
            handles: HandleType::new(self, Kind::Cursor, "cursor"),
            list: None,
            ttl: None,
        }
    }
}

/// Cursors in the results of a tool, each bound to its user, the tool and the other arguments of the call.
///
/// ```no_run
/// # use rmcp::{RoleServer, service::RequestContext};
/// # use sealwax_rmcp::{Guard, HandleRefused};
/// # async fn tool(guard: Guard, context: RequestContext<RoleServer>) -> Result<(), HandleRefused> {
/// let pages = guard.pages();
/// let from: u32 = pages.position(&context).await?.unwrap_or(0);
/// let next = pages.cursor(&context, &(from + 20))?; // tell the model: next page with this cursor
/// # Ok(()) }
/// ```
#[must_use]
#[derive(Clone, Debug)]
pub struct Pages {
    handles: HandleType,
    list: Option<String>,
    ttl: Option<Duration>,
}

impl Pages {
    /// Sets the argument that carries the cursor: `cursor` by default.
    pub fn argument(mut self, name: impl Into<String>) -> Self {
        self.handles.name = name.into();
        self
    }

    /// Sets what the list is made of, such as its version: a cursor of another list is refused.
    pub fn list(mut self, list: impl Into<String>) -> Self {
        self.list = Some(list.into());
        self
    }

    /// Sets how long a cursor is valid, in whole seconds: 24 hours by default.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Seals the JSON of the position where the next page begins, and returns the cursor.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] outside of `tools/call`, for arguments that nothing can be bound to, and for a position that cannot be
    /// sealed.
    pub fn cursor<T: Serialize + ?Sized>(
        &self,
        context: &Context,
        position: &T,
    ) -> Result<String, HandleRefused> {
        let position =
            json(position).map_err(|error| self.handles.refuse(&error, context, None))?;
        let cursor = HandleOpKind::Cursor {
            position: &position,
            ttl: self.ttl,
            list: self.list.as_deref(),
        };
        let made = self.handles.begin(context, cursor)?.now()?;
        Ok(made.handle.unwrap_or_default())
    }

    /// Returns the position of the cursor that a call brought; `None` for the first page. What no guard could have made is the first
    /// page too: models fill in every argument that they know of.
    ///
    /// # Errors
    ///
    /// [`HandleRefused`] for a cursor that was altered, has expired, or is of another user, tool, call or list, and for one that
    /// holds no `T`.
    pub async fn position<T: DeserializeOwned>(
        &self,
        context: &Context,
    ) -> Result<Option<T>, HandleRefused> {
        let list = self.list.as_deref();
        let position = HandleOpKind::Position { list };
        let opened = self.handles.begin(context, position)?.done().await?;
        let read = opened.value.as_deref().map(serde_json::from_str);
        read.transpose().map_err(|_| {
            let error = Error::InvalidArgument(
                "position: expected JSON of the type asked for, found another".into(),
            );
            self.handles.refuse(&error, context, Some(opened.id))
        })
    }
}
