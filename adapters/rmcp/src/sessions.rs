//! Data-layer sessions: their options, and a handler's access to them.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sealwax::Error;
use sealwax_mcp::Profile;
use sealwax_mcp::{Failed, SessionSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Kind;
use crate::caller::Received;
use crate::guard::{Guard, Initial, InitialOf, WithSessions};
use crate::handler::session::{Session, json};
use crate::refusal::{About, error_data};

impl Guard {
    /// Adds data-layer sessions. `initial` returns the first value of a session, from the request of
    /// `sessions/create` and its params. Call it before you serve. `sessions/delete` needs a
    /// [ledger](crate::GuardBuilder::ledger) or an [`Accept`](crate::Accept), and is an unknown method
    /// otherwise.
    ///
    /// ```
    /// # use sealwax::{Codec, Key, KeyRing};
    /// # use sealwax_rmcp::{Guard, anonymous};
    /// # let codec = Codec::new(KeyRing::new([Key::generate()?])?, "https://mcp.example.com")?;
    /// # let guard = Guard::builder(codec, anonymous).build()?;
    /// let sessions = guard
    ///     .sessions(|_, _| async { Ok(Vec::<String>::new()) })
    ///     .require_tools(["count"])
    ///     .build()?;
    /// # Ok::<(), sealwax::Error>(())
    /// ```
    pub fn sessions<T, F, P>(&self, initial: F) -> SessionsBuilder<T>
    where
        T: Serialize + DeserializeOwned,
        F: Fn(RequestContext<RoleServer>, Option<Value>) -> P + Send + Sync + 'static,
        P: Future<Output = Result<T, ErrorData>> + Send + 'static,
    {
        let initial = move |context, params| -> BoxFuture<'static, Initial> {
            let first = initial(context, params);
            let failed = |error: Error| Failed(error.to_string());
            Box::pin(async move { Ok(json(&first.await?).map_err(failed)) })
        };
        SessionsBuilder::new(self, Some(Box::new(initial)))
    }

    /// Adds data-layer sessions whose state the server holds, in rows by [`Session::ulid`]. Only the id is
    /// verified, nothing is sealed, and handlers see the value `()`.
    #[must_use]
    pub fn sessions_held_by_server(&self) -> SessionsBuilder<()> {
        SessionsBuilder::new(self, None)
    }
}

/// Sets the options of data-layer sessions.
pub struct SessionsBuilder<T> {
    guard: Guard,
    settings: SessionSettings,
    initial: Option<Box<InitialOf>>,
    value: PhantomData<fn() -> T>,
}

impl<T> SessionsBuilder<T> {
    fn new(guard: &Guard, initial: Option<Box<InitialOf>>) -> Self {
        Self {
            guard: guard.clone(),
            settings: SessionSettings {
                held_by_server: initial.is_none(),
                ..SessionSettings::default()
            },
            initial,
            value: PhantomData,
        }
    }

    /// Sets how long a session is valid after its last write, in whole seconds: 24 hours by default.
    #[must_use]
    pub fn ttl(mut self, idle: Duration) -> Self {
        self.settings.ttl = Some(idle);
        self
    }

    /// Lets idle sessions live as long as the codec's `session_max_age`.
    #[must_use]
    pub fn no_expiry(mut self) -> Self {
        self.settings.no_expiry = true;
        self
    }

    /// Requires a session of every request except `initialize`, `ping`, `server/discover`, lists and
    /// `sessions/create`.
    #[must_use]
    pub fn require_all(mut self) -> Self {
        self.settings.required.all = true;
        self
    }

    /// Requires a session of requests of these methods.
    #[must_use]
    pub fn require_methods<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into);
        self.settings.required.methods.extend(names);
        self
    }

    /// Requires a session of calls of these tools.
    #[must_use]
    pub fn require_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into);
        self.settings.required.tools.extend(names);
        self
    }

    /// Builds the sessions.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a lifetime of zero, for two lifetimes, for a lifetime if the server holds
    /// the state, for a required method that never depends on a session, and if the guard has sessions already.
    pub fn build(self) -> Result<Sessions<T>, Error> {
        let rules = self.guard.rules().sessions(self.settings);
        let sessions = WithSessions {
            engine: rules.clone().build()?,
            rules,
            initial: self.initial,
        };
        if self.guard.sessions_slot().set(sessions).is_err() {
            return Err(Error::InvalidArgument(
                "sessions: this guard has sessions already; build them once".into(),
            ));
        }
        Ok(Sessions {
            guard: self.guard,
            value: PhantomData,
        })
    }
}

impl<T> fmt::Debug for SessionsBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SessionsBuilder").field(&self.guard).finish()
    }
}

/// The data-layer sessions of one guard, with values of type `T`.
pub struct Sessions<T> {
    guard: Guard,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for Sessions<T> {
    fn clone(&self) -> Self {
        Self {
            guard: self.guard.clone(),
            value: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Sessions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sessions").field(&self.guard).finish()
    }
}

impl<T: DeserializeOwned> Sessions<T> {
    /// Returns the session of the request or notification in `context`; `None` if it has none.
    ///
    /// # Errors
    ///
    /// The fixed answer to a session whose value is no `T`; an internal error in a server that this guard does
    /// not protect.
    pub fn of(&self, context: &impl Received) -> Result<Option<Session<T>>, ErrorData> {
        let session = Session::of(context)?;
        match session {
            Some(session) if !session.caller.guard.is(&self.guard) => {
                let error = "expected the sessions of the guard that protects this server";
                let error = Error::InvalidArgument(error.into());
                let about = About::new(Kind::Session, Profile::DataLayer, None);
                Err(error_data(self.guard.refuse(&error, about)))
            }
            session => Ok(session),
        }
    }
}
