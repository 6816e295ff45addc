//! Data-layer sessions: what an author says once, and what handlers reach.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sealwax::{Error, Principal, SessionId, View};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::refusal::{About, Reason, error_data, said};
use crate::session::Session;
use crate::{Guard, Kind};

/// What a session begins with: JSON, or why there is none.
pub(crate) type Initial = Result<Result<Vec<u8>, Error>, ErrorData>;

type InitialOf =
    dyn Fn(RequestContext<RoleServer>, Option<Value>) -> BoxFuture<'static, Initial> + Send + Sync;

/// Sessions as the boundary sees them, of whatever type.
pub(crate) struct SessionSettings {
    /// `None`: the server holds the state.
    pub initial: Option<Box<InitialOf>>,
    pub fits: fn(&[u8]) -> bool,
    max_age: Duration,
    idle: Idle,
    all: bool,
    methods: HashSet<String>,
    tools: HashSet<String>,
}

#[derive(Clone, Copy)]
enum Idle {
    Default,
    Ttl(Duration),
    Never,
}

impl SessionSettings {
    /// The sessions of the core for one principal.
    pub(crate) fn of<'v>(&self, view: &'v View) -> sealwax::Sessions<'v> {
        match self.idle {
            Idle::Default => view.sessions(),
            Idle::Ttl(ttl) => view.sessions().ttl(ttl),
            Idle::Never => view.sessions().no_expiry(),
        }
    }

    /// When a session ends at the latest, in Unix milliseconds.
    pub(crate) fn end_ms(&self, id: &SessionId) -> u64 {
        id.ends_at_ms(self.max_age)
    }

    /// Whether a request is refused without a session.
    pub(crate) fn required(&self, method: &str, tool: Option<&str>) -> bool {
        let free = matches!(method, "initialize" | "ping" | "server/discover") || is_list(method);
        (self.all && !free)
            || self.methods.contains(method)
            || tool.is_some_and(|tool| self.tools.contains(tool))
    }
}

pub(crate) fn is_list(method: &str) -> bool {
    method.ends_with("/list")
}

impl Guard {
    /// Data-layer sessions, which begin with what `initial` gives: from the request of
    /// `sessions/create` and its params. Say it before the server serves. `sessions/delete` takes
    /// something that remembers it ([`GuardBuilder::accept`](crate::GuardBuilder::accept)), and is
    /// no method otherwise.
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
            Box::pin(async move { Ok(json(&first.await?)) })
        };
        SessionsBuilder::new(self, Some(Box::new(initial)), |payload| {
            serde_json::from_slice::<T>(payload).is_ok()
        })
    }

    /// Data-layer sessions whose state the server holds, in rows by [`Session::ulid`]: the id alone
    /// is verified, nothing is sealed, and a handler finds the value `()`.
    #[must_use]
    pub fn sessions_held_by_server(&self) -> SessionsBuilder<()> {
        SessionsBuilder::new(self, None, |_| true)
    }
}

/// Sets the options of data-layer sessions.
pub struct SessionsBuilder<T> {
    guard: Guard,
    settings: SessionSettings,
    value: PhantomData<fn() -> T>,
}

impl<T> SessionsBuilder<T> {
    fn new(guard: &Guard, initial: Option<Box<InitialOf>>, fits: fn(&[u8]) -> bool) -> Self {
        Self {
            guard: guard.clone(),
            settings: SessionSettings {
                initial,
                fits,
                max_age: guard.settings().codec.session_max_age(),
                idle: Idle::Default,
                all: false,
                methods: HashSet::new(),
                tools: HashSet::new(),
            },
            value: PhantomData,
        }
    }

    /// How long a session lives without a write, in whole seconds: 24 hours unless set.
    #[must_use]
    pub fn ttl(mut self, idle: Duration) -> Self {
        self.settings.idle = Idle::Ttl(idle);
        self
    }

    /// Sessions do not end by being idle; the codec's `session_max_age` remains.
    #[must_use]
    pub fn no_expiry(mut self) -> Self {
        self.settings.idle = Idle::Never;
        self
    }

    /// Every request needs a session, but `initialize`, `ping`, `server/discover`, lists and
    /// `sessions/create`.
    #[must_use]
    pub fn require_all(mut self) -> Self {
        self.settings.all = true;
        self
    }

    /// Requests of these methods need a session.
    #[must_use]
    pub fn require_methods<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.settings
            .methods
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Calls of these tools need a session.
    #[must_use]
    pub fn require_tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.settings
            .tools
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// The sessions.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidArgument`] for a lifetime of zero, or where the guard has sessions already.
    pub fn build(self) -> Result<Sessions<T>, Error> {
        let anyone = self.guard.settings().codec.view(&Principal::anonymous())?;
        self.settings.of(&anyone).check()?;
        let slot = &self.guard.settings().sessions;
        if slot.set(Arc::new(self.settings)).is_err() {
            return Err(Error::InvalidArgument(
                "sessions: this guard has them already; say it once".into(),
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

/// The data-layer sessions of one guard, whose value is a `T`.
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
    /// The session of the request in `context`; `None` where it has none.
    ///
    /// # Errors
    ///
    /// An internal error outside of the server that this guard protects, or for another type than
    /// the sessions were made with.
    pub fn of(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Session<T>>, ErrorData> {
        let session = Session::of(context)?;
        match session {
            Some(session) if !session.caller.guard.is(&self.guard) => {
                let error = "expected the sessions of the guard that protects this server";
                Err(self.guard.refuse_session(
                    &Error::InvalidArgument(error.into()).into(),
                    About::default(),
                ))
            }
            session => Ok(session),
        }
    }
}

impl Guard {
    pub(crate) fn refuse_session(&self, reason: &Reason, about: About<'_>) -> ErrorData {
        error_data(self.refuse(Kind::Session, reason, about))
    }
}

pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| {
        let error = said(error);
        Error::InvalidArgument(
            format!("payload: expected a value that JSON can hold: {error}").into(),
        )
    })
}
