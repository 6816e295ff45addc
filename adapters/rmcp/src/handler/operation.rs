//! Operations of a handler on a handle.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use sealwax::Error;
use sealwax_mcp::{
    ClientValue, Exchange, HandleOp, HandleOpKind, HandleResult, Profile, Reply, Step,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::refused::Refused;
use super::session::json;
use crate::Kind;
use crate::caller::Caller;
use crate::guard::Guard;
use crate::refusal::{About, token_id};

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
    kind: Kind,
    caller: &'a Caller,
    context: &'a RequestContext<RoleServer>,
    exchange: Exchange,
    step: Step,
}

impl HandleType {
    /// Begins an operation. It needs a server that this guard protects, which knows the principal.
    pub(crate) fn begin<'a>(
        &self,
        context: &'a RequestContext<RoleServer>,
        kind: HandleOpKind<'_>,
    ) -> Result<Operation<'a>, Refused> {
        let operation = HandleOp {
            handle_type: &self.name,
            kind,
        };
        let begun = Caller::of(&context.extensions).and_then(|caller| {
            if caller.guard.is(&self.guard) {
                let begun = caller.within(|running| Ok(running.exchange.handle(operation)))?;
                return Ok((caller, begun));
            }
            Err(Error::InvalidArgument(
                "expected handles of the guard that protects this server".into(),
            ))
        });
        let (caller, (mut exchange, step)) = begun.map_err(|error| self.refuse(&error, None))?;
        let step = caller.identified(&mut exchange, step, context);
        Ok(Operation {
            kind: self.kind,
            caller,
            context,
            exchange,
            step,
        })
    }

    /// Ends a handle before its expiry.
    pub(crate) async fn end(
        &self,
        context: &RequestContext<RoleServer>,
        handle: &str,
    ) -> Result<(), Refused> {
        let end = HandleOpKind::End {
            handle: ClientValue::Text(handle),
            max_age: self.max_age,
            self_contained: self.kind == Kind::HandleState,
        };
        self.begin(context, end)?.done().await.map(drop)
    }

    /// Returns the JSON of a value to seal.
    pub(crate) fn json<T: Serialize + ?Sized>(
        &self,
        context: &RequestContext<RoleServer>,
        value: &T,
    ) -> Result<String, Refused> {
        json(value).map_err(|error| self.refuse(&error, Caller::of(&context.extensions).ok()))
    }

    fn refuse(&self, error: &Error, caller: Option<&Arc<Caller>>) -> Refused {
        let principal = caller.and_then(|caller| caller.principal());
        let about = About::new(self.kind, Profile::Handle, principal);
        Refused::new(self.guard.refuse(error, about))
    }
}

impl Operation<'_> {
    /// Returns the outcome.
    pub(crate) async fn done(mut self) -> Result<HandleResult, Refused> {
        let drive = self
            .caller
            .drive(&mut self.exchange, self.step, self.context);
        done(drive.await)
    }

    /// Returns the outcome of an operation that asks nobody.
    pub(crate) fn now(self) -> Result<HandleResult, Refused> {
        done(self.step)
    }

    /// Returns the outcome, and the value that `handle` held.
    pub(crate) async fn open<T: DeserializeOwned>(
        self,
        handle: &str,
    ) -> Result<(T, HandleResult), Refused> {
        let opened = match &self.step {
            Step::Done(done) => done.value.as_deref(),
            _ => self.exchange.opened(),
        };
        // Read the value first: a handle that cannot be read must not count as used.
        let value = opened.map(serde_json::from_str).transpose();
        match value.map_err(|_| self.unreadable(handle))? {
            Some(value) => Ok((value, self.done().await?)),
            None => Err(self.now().err().unwrap_or_else(trouble)),
        }
    }

    fn unreadable(&self, handle: &str) -> Refused {
        let about = About {
            token_id: token_id(handle),
            ..self.caller.about(self.kind, Profile::Handle)
        };
        let error = Error::Malformed("a value that is JSON of the type asked for");
        Refused::new(self.caller.guard.refuse(&error, about))
    }
}

fn done(step: Step) -> Result<HandleResult, Refused> {
    match step {
        Step::Done(done) => Ok(*done),
        Step::Reply(reply) => Err(Refused::new(reply)),
        _ => Err(trouble()),
    }
}

/// An internal error.
fn trouble() -> Refused {
    Refused::new(Reply::from(Profile::Handle.internal_error()))
}
