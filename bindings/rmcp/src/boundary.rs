//! The way of a request through the guard: in by what came back, out by what leaves.

use std::sync::Arc;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use sealwax::{Carried, Error, Opened, Principal, Token, View};
use serde_json::Value;

use crate::accept::over;
use crate::caller::{Caller, Known, OpenedState, ReceivedState};
use crate::refusal::{About, Reason, error_data, said};
use crate::wire::{Incoming, Leaving, Outgoing};
use crate::{Guard, Kind, Presented};

impl Guard {
    /// Calls `handler` with what `request` carried opened, and seals what it gives.
    pub(crate) async fn carry<Q, A, H>(
        &self,
        method: &str,
        mut request: Q,
        mut context: RequestContext<RoleServer>,
        handler: impl FnOnce(Q, RequestContext<RoleServer>) -> H,
    ) -> Result<A, ErrorData>
    where
        Q: Incoming,
        A: Outgoing,
        H: Future<Output = Result<A, ErrorData>>,
    {
        let mut caller = Caller::of(&context).cloned().map_err(|error| {
            let refused = self.refuse(Kind::RequestState, &error.into(), About::default());
            error_data(refused)
        })?;
        let Some(carried) = Carried::by(method) else {
            return handler(request, context).await;
        };
        let passage = Passage {
            guard: self,
            purpose: match carried.kind {
                sealwax::Kind::RequestState => {
                    Purpose::RequestState(bind(self, method, &carried, &request))
                }
                _ => Purpose::Cursor(method),
            },
            carried,
        };
        passage.open(&mut request, &mut caller, &context).await?;
        context.extensions.insert(caller.clone());
        // The principal is asked for where it is needed: for a list, perhaps afterwards.
        let asking = context.clone();
        let mut answer = handler(request, context).await?;
        passage.seal(&mut answer, &caller, &asking)?;
        Ok(answer)
    }

    fn anybody(&self) -> Result<View, Error> {
        self.settings().codec.view(&Principal::anonymous())
    }
}

/// One request, and what its tokens are bound to.
struct Passage<'a> {
    guard: &'a Guard,
    carried: Carried,
    purpose: Purpose<'a>,
}

enum Purpose<'a> {
    /// Bound to the request. An error counts once there is a state to open or to seal.
    RequestState(Result<sealwax::RequestContext, Error>),
    /// Bound to the list method: the user's, or of a public page anybody's.
    Cursor(&'a str),
}

impl Passage<'_> {
    fn kind(&self) -> Kind {
        match self.purpose {
            Purpose::RequestState(_) => Kind::RequestState,
            Purpose::Cursor(_) => Kind::Cursor,
        }
    }

    async fn open(
        &self,
        request: &mut impl Incoming,
        caller: &mut Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let came = request.take(&self.carried);
        let bound = matches!(self.purpose, Purpose::RequestState(_));
        if came.is_none() && !bound {
            return Ok(());
        }
        let refused = |reason, about| error_data(self.guard.refuse(self.kind(), &reason, about));
        let known = caller.known(context);
        let known = known.map_err(|error| refused(error.into(), About::default()))?;
        let Some(came) = came else {
            caller.state = ReceivedState::Absent;
            return Ok(());
        };
        let opened = self.open_token(known, &came).await.map_err(|reason| {
            let about = About {
                principal: Some(&known.principal),
                token: came.as_str(),
                token_id: None,
            };
            refused(reason, about)
        })?;
        request.put(&self.carried, opened.text.clone());
        if bound {
            caller.state = ReceivedState::Opened(Arc::new(opened));
        }
        Ok(())
    }

    async fn open_token(&self, known: &Known, came: &Value) -> Result<OpenedState, Reason> {
        let Value::String(token) = came else {
            return Err(Error::Malformed("a token that is a JSON string").into());
        };
        let (payload, token_id, expires_at) = match &self.purpose {
            Purpose::RequestState(binding) => {
                let context = binding.clone()?;
                parts(known.view.request_state(&context).open(token)?)
            }
            Purpose::Cursor(method) => match known.view.cursor(method).open(token) {
                // Or as one of a page that is everybody's.
                Err(Error::PrincipalMismatch) => {
                    parts(self.guard.anybody()?.cursor(method).open(token)?)
                }
                opened => parts(opened?),
            },
        };
        let presented = Presented {
            kind: self.kind(),
            id: token_id.clone(),
            principal: known.principal.clone(),
            expires_at: expires_at.map(over),
        };
        let text = String::from_utf8(payload)
            .map_err(|_| Error::Malformed("a payload that is UTF-8 text"))?;
        self.guard.accept(&presented).await?;
        Ok(OpenedState { text, token_id })
    }

    /// Nothing but sealed text leaves: what cannot be sealed makes the whole answer an error.
    fn seal(
        &self,
        answer: &mut impl Outgoing,
        caller: &Caller,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let public = answer.is_public() && !caller.private;
        let seal = |text: &str| match &self.purpose {
            // A cache may hand the page to anybody, so its cursor belongs to whom the page does.
            Purpose::Cursor(_) if public => self.seal_text(text, &self.guard.anybody()?),
            _ => self.seal_text(text, &caller.known(context)?.view),
        };
        let sealed = match answer.leaving(&self.carried) {
            None => Ok(()),
            Some(Leaving::Text(text)) => seal(text).map(|token| {
                *text = token;
            }),
            Some(Leaving::Json(value)) => match value.as_str() {
                Some(text) => seal(text).map(|token| {
                    *value = token.into();
                }),
                None => Err(Error::InvalidArgument(
                    "expected what leaves as a token to be a JSON string".into(),
                )),
            },
        };
        sealed.map_err(|error| {
            let about = About {
                principal: caller.principal(),
                ..About::default()
            };
            error_data(
                self.guard
                    .refuse(self.kind(), &Reason::NotSealed(error), about),
            )
        })
    }

    fn seal_text(&self, text: &str, view: &View) -> Result<String, Error> {
        let payload = text.as_bytes();
        match &self.purpose {
            Purpose::RequestState(binding) => {
                let context = binding.clone()?;
                let sealer = view.request_state(&context);
                let sealed = match self.guard.settings().request_state_ttl {
                    Some(ttl) => sealer.ttl(ttl).seal(payload),
                    None => sealer.seal(payload),
                };
                sealed.map(Token::into_string)
            }
            Purpose::Cursor(method) => view.cursor(method).seal(payload).map(Token::into_string),
        }
    }
}

/// What is wanted of an opened token of either kind.
fn parts<K>(opened: Opened<K>) -> (Vec<u8>, String, Option<u64>) {
    let (token_id, expires_at) = (opened.token_id().to_string(), opened.expires_at());
    (opened.into_payload(), token_id, expires_at)
}

fn bind(
    guard: &Guard,
    method: &str,
    carried: &Carried,
    request: &impl Incoming,
) -> Result<sealwax::RequestContext, Error> {
    let target = request.target(carried).unwrap_or_default();
    if carried.target != Some("name") {
        // What a resource is asked with beside its address is no part of the request.
        return sealwax::RequestContext::new(method, target, None);
    }
    let arguments = request
        .arguments()
        .transpose()
        .map_err(|error| Error::InvalidArgument(format!("arguments: {}", said(error)).into()))?;
    match guard.settings().only.get(target) {
        Some(names) => {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            sealwax::RequestContext::only(method, target, arguments.as_deref(), &names)
        }
        None => sealwax::RequestContext::new(method, target, arguments.as_deref()),
    }
}
