//! What handles of both kinds, links and cursors share: the operations that a handler asks of the engine.

use std::time::Duration;

use sealwax::Error;
use sealwax_mcp::{
    ClientValue, Exchange, HandleOp, HandleOpKind, HandleResult, Profile, Reply, Step, token_id,
};
use serde::de::DeserializeOwned;

use crate::caller::Caller;
use crate::guard::Guard;
use crate::hooks::Timed;
use crate::refusal::{About, HandleRefused};
use crate::value::read;
use crate::{Context, Kind};

/// The handles of one type.
#[derive(Clone, Debug)]
pub(crate) struct HandleType {
    pub guard: Guard,
    pub name: String,
    pub kind: Kind,
    pub max_age: Option<Duration>,
}

/// An operation that has begun.
pub(crate) struct Operation<'a> {
    caller: &'a Caller,
    context: &'a Context,
    exchange: Timed,
    step: Step,
}

impl HandleType {
    pub(crate) fn new(guard: &Guard, kind: Kind, name: impl Into<String>) -> Self {
        Self {
            guard: guard.clone(),
            name: name.into(),
            kind,
            max_age: None,
        }
    }

    /// Begins an operation. It needs a server that this guard protects, which knows the principal.
    pub(crate) fn begin<'a>(
        &self,
        context: &'a Context,
        kind: HandleOpKind<'_>,
    ) -> Result<Operation<'a>, HandleRefused> {
        let since = self.guard.starts();
        let handle_type = &self.name;
        let begun = Caller::of(&context.extensions).and_then(|caller| {
            if caller.guard.is(&self.guard) {
                let operation = HandleOp { handle_type, kind };
                let begun = caller.within(|running| Ok(running.exchange.handle(operation)))?;
                return Ok((caller, begun));
            }
            let why = "expected handles of the guard that protects this server";
            Err(Error::InvalidArgument(why.into()))
        });
        let (caller, (exchange, step)) =
            begun.map_err(|error| self.refuse(&error, context, None))?;
        let mut exchange = Timed::new(exchange, since);
        Ok(Operation {
            caller,
            context,
            step: caller.identified(&mut exchange, step, Some(context)),
            exchange,
        })
    }

    /// Opens a handle. Returns the value that it held, and the outcome.
    pub(crate) async fn value<T: DeserializeOwned>(
        &self,
        context: &Context,
        handle: &str,
        once: bool,
    ) -> Result<(T, HandleResult), HandleRefused> {
        let operation = self.begin(
            context,
            HandleOpKind::Open {
                handle: ClientValue::Text(handle),
                max_age: self.max_age,
                once,
            },
        )?;
        match opened(&operation.exchange, &operation.step) {
            Some(Ok(value)) => Ok((value, operation.done().await?)),
            Some(Err(error)) => Err(self.refuse(&error, context, token_id(handle))),
            None => Err(operation.now().err().unwrap_or_else(trouble)),
        }
    }

    /// Ends a handle before its expiry.
    pub(crate) async fn end(&self, context: &Context, handle: &str) -> Result<(), HandleRefused> {
        let end = HandleOpKind::End {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
            self_contained: self.kind == Kind::HandleState,
        };
        self.begin(context, end)?.done().await.map(drop)
    }

    pub(crate) fn refuse(
        &self,
        error: &Error,
        context: &Context,
        id: Option<String>,
    ) -> HandleRefused {
        let about = About::new(self.kind, Profile::Handle).id(id);
        let reply = match Caller::of(&context.extensions) {
            Ok(caller) if caller.guard.is(&self.guard) => caller.refuse(error, about),
            _ => Caller::nobody(&self.guard).refuse(error, about),
        };
        HandleRefused::new(match self.kind {
            Kind::Link | Kind::Cursor => Reply::failed(),
            _ => reply,
        })
    }
}

impl Operation<'_> {
    /// Returns the outcome.
    pub(crate) async fn done(mut self) -> Result<HandleResult, HandleRefused> {
        let driven = (self.caller).drive(&mut self.exchange, self.step, Some(self.context));
        self.step = driven.await;
        self.now()
    }

    /// Returns the outcome of an operation that asks nobody.
    pub(crate) fn now(self) -> Result<HandleResult, HandleRefused> {
        match self.step {
            Step::Done(done) => Ok(*done),
            Step::Reply(reply) => Err(HandleRefused::new(reply)),
            _ => Err(trouble()),
        }
    }
}

/// Reads the value that was opened, before it is used up: what cannot be read must not count as used.
pub(crate) fn opened<T: DeserializeOwned>(
    exchange: &Exchange,
    step: &Step,
) -> Option<Result<T, Error>> {
    let opened = match step {
        Step::Done(done) => done.value.as_deref(),
        _ => exchange.opened(),
    };
    opened.map(|value| read(value, "a value that is JSON of the type asked for"))
}

/// An internal error.
pub(super) fn trouble() -> HandleRefused {
    HandleRefused::new(Reply::from(Profile::Handle.internal_error()))
}
