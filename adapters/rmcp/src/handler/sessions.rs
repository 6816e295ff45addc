//! The options of data-layer sessions.

use std::fmt;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::ErrorData;
use sealwax_mcp::{Failed, SessionSettings};
use serde::Serialize;
use serde_json::Value;

use crate::Context;
use crate::value::answer;

/// Returns the first value of a session as JSON, or the reason why there is none. An error is the author's own answer.
pub(crate) type Initial = dyn Fn(Context, Option<Value>) -> BoxFuture<'static, Result<Result<String, Failed>, ErrorData>>
    + Send
    + Sync;

/// Data-layer sessions, for [`GuardBuilder::sessions`](crate::GuardBuilder::sessions). `sessions/delete` needs a
/// [ledger](crate::GuardBuilder::ledger), and is an unknown method otherwise.
///
/// ```
/// # use sealwax::{Codec, Key, KeyRing};
/// use sealwax_rmcp::{Guard, Sessions, anonymous};
///
/// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
/// let sessions = Sessions::new(|_, _| async { Ok(Vec::<String>::new()) }).require_tools(["count"]);
/// let guard = Guard::builder(codec, anonymous).sessions(sessions).build()?;
/// # Ok::<(), sealwax::Error>(())
/// ```
#[must_use]
pub struct Sessions {
    pub(crate) settings: SessionSettings,
    pub(crate) initial: Option<Box<Initial>>,
}

impl Sessions {
    /// Makes sessions whose state the client holds, sealed. `initial` returns the first value of a session, from the request
    /// of `sessions/create` and its params.
    pub fn new<T, F, P>(initial: F) -> Self
    where
        T: Serialize,
        F: Fn(Context, Option<Value>) -> P + Send + Sync + 'static,
        P: Future<Output = Result<T, ErrorData>> + Send + 'static,
    {
        let initial: Box<Initial> = Box::new(move |context, params| {
            let first = initial(context, params);
            Box::pin(async move { Ok(answer(&first.await?)) })
        });
        Self {
            settings: SessionSettings::default(),
            initial: Some(initial),
        }
    }

    /// Makes sessions whose state the server holds, in rows by [`Session::ulid`](crate::Session::ulid). Only the id is
    /// verified, nothing is sealed, and handlers see the value `()`.
    pub fn held_by_server() -> Self {
        Self {
            settings: SessionSettings {
                held_by_server: true,
                ..SessionSettings::default()
            },
            initial: None,
        }
    }

    /// Sets how long a session is valid after its last write, in whole seconds: 24 hours by default.
    pub fn ttl(mut self, idle: Duration) -> Self {
        self.settings.ttl = Some(idle);
        self
    }

    /// Lets idle sessions live as long as the codec's `session_max_age`.
    pub fn no_expiry(mut self) -> Self {
        self.settings.no_expiry = true;
        self
    }

    /// Requires a session of every request except `initialize`, `ping`, `server/discover`, lists and
    /// `sessions/create`.
    pub fn require_all(mut self) -> Self {
        self.settings.required.all = true;
        self
    }

    /// Requires a session of requests of these methods.
    pub fn require_methods<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into);
        self.settings.required.methods.extend(names);
        self
    }

    /// Requires a session of calls of these tools.
    pub fn require_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into);
        self.settings.required.tools.extend(names);
        self
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sessions").field(&self.settings).finish()
    }
}
