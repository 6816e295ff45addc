//! A tool that its user confirms: asks before the handler runs.

use std::sync::Arc;

use serde_json::Value;

use super::{Phase, Request, once, read, text};
use crate::answer::Answer;
use crate::confirm::{Confirm, Said, Way, filled, form, shown};
use crate::context::{About, Context};
use crate::guard::Guard;
use crate::input::{Client, Failed};
use crate::json;
use crate::reason::Reason;
use crate::step::{Elicitation, Item, Step};
use crate::token::Token;
use crate::token_fields::TokenFields;
use sealwax::{Error, RequestContext, View};

/// What is known of a call's confirmation.
#[derive(Default)]
pub(super) struct Confirmation {
    /// The question, unless the author's function makes it.
    message: Option<String>,
    capabilities: Option<String>,
    responses: Option<String>,
    can_be_asked: bool,
    /// What the author's function made of the arguments.
    words: Option<String>,
    /// When the user was asked who agreed, on this connection, in Unix milliseconds.
    pub(super) agreed: Option<u64>,
}

impl Confirmation {
    fn new(confirm: &Confirm, client: Option<&Client<'_>>) -> Box<Self> {
        let client = client.copied().unwrap_or_default();
        Box::new(Self {
            message: confirm.message.clone(),
            capabilities: client.capabilities.map(Into::into),
            responses: client.responses.map(Into::into),
            can_be_asked: client.can_be_asked,
            ..Self::default()
        })
    }

    fn client(&self) -> Client<'_> {
        Client {
            capabilities: self.capabilities.as_deref(),
            responses: self.responses.as_deref(),
            can_be_asked: self.can_be_asked,
        }
    }
}

/// What a confirmation, and the states of a confirmed call, are bound to.
struct Bound {
    /// The state of the question.
    asked: RequestContext,
    /// The question with its words.
    words: RequestContext,
    /// The states of a handler that runs: one that was sealed without a confirmation opens nowhere.
    confirmed: RequestContext,
}

impl Bound {
    fn new(request: &RequestContext, target: &str, words: &str) -> Result<Self, Error> {
        let request = request.to_string();
        let of = |purpose, words: Option<&str>| {
            let words = words.map_or("null".into(), |words| json::written(&words.into()));
            let bound = format!(r#"{{"request":"{request}","words":{words}}}"#);
            RequestContext::new(purpose, target, Some(&bound))
        };
        Ok(Self {
            asked: of("confirm", None)?,
            words: of("confirm", Some(words))?,
            confirmed: of("confirmed", None)?,
        })
    }
}

impl Request {
    /// Keeps the question and what its client can do, if its tool is one that its user confirms.
    #[cold]
    pub fn look_up_confirmation(&mut self, guard: &Guard, client: Option<&Client<'_>>) {
        let target = self.target.as_deref();
        let Some(target) = target.filter(|_| *self.method == *"tools/call") else {
            return;
        };
        let mut all = guard.settings().confirm.iter();
        let found = all.find(|(tool, _)| tool == target);
        self.confirmation = found.map(|(_, confirm)| Confirmation::new(confirm, client));
    }

    fn confirmation(&mut self) -> &mut Confirmation {
        self.confirmation.get_or_insert_default()
    }

    /// Returns what its token opened to, if that is a state of its handler's, and adds the token to those that the ledger is asked
    /// about. If it may not run, the user is asked, or it is refused.
    #[inline(never)]
    pub(super) fn confirm(
        &mut self,
        context: &mut Context,
        fields: TokenFields,
        view: &Arc<View>,
        tokens: &mut Vec<Token>,
    ) -> Result<Option<String>, Step> {
        let refused = |request: &Self, context: &mut Context, reason| {
            Err(request.refuse_token(context, fields, reason))
        };
        let request = match self.binding(context, fields) {
            Ok(request) => request,
            Err(reason) => return refused(self, context, reason),
        };
        let target = self.target.clone().unwrap_or_default();
        let words = match self.words() {
            Some(words) => words,
            None => {
                self.phase = Phase::Wording;
                return Err(Step::Word);
            }
        };
        let bound = match Bound::new(&request, &target, &words) {
            Ok(bound) => bound,
            Err(error) => return refused(self, context, error.into()),
        };
        self.bound = Some(bound.confirmed);
        if self.token.is_absent() {
            return match self.confirmation().agreed {
                Some(_) => Ok(None),
                None => Err(self.ask(context, view, &bound, &words)),
            };
        }
        let token = match text(self.token.borrowed()) {
            Ok(token) => token,
            Err(error) => return refused(self, context, error.into()),
        };
        let once = once(context);
        let opened = view.request_state(&bound.confirmed).open(token);
        match opened {
            Err(Error::Unauthentic) => {}
            opened => {
                return match opened.and_then(|opened| read(Item::RequestState, opened, Some(once)))
                {
                    Ok((state, token)) => {
                        tokens.push(token);
                        Ok(Some(state))
                    }
                    Err(error) => refused(self, context, error.into()),
                };
            }
        }
        let asked = view.request_state(&bound.asked).open(token);
        let asked = asked.and_then(|opened| read(Item::RequestState, opened, Some(once)));
        let (asked, token) = match asked {
            Ok(asked) => asked,
            Err(error) => return refused(self, context, error.into()),
        };
        let (at, words_then) = asked.split_once(' ').unwrap_or_default();
        let after = context
            .guard
            .now_ms()
            .saturating_sub(at.parse().unwrap_or_default());
        let said = Said::of(&self.confirmation().client().answer(), after);
        match said {
            // Other words than those that the user agreed to.
            Said::Yes if words_then != bound.words.to_string() => {
                Err(self.ask(context, view, &bound, &words))
            }
            Said::Yes => {
                tokens.push(token);
                Ok(None)
            }
            said => Err(self.not_confirmed(context, said)),
        }
    }

    /// Returns the question with its arguments, once its words are known.
    fn words(&self) -> Option<String> {
        let known = self.confirmation.as_ref()?;
        let words = known.words.as_deref().map(shown);
        let message = known.message.as_deref();
        words.or_else(|| Some(filled(message?, self.arguments.as_deref())))
    }

    fn way(&self) -> Way {
        let known = self.confirmation.as_ref();
        known.map_or(Way::Nothing, |known| known.client().way(self.modern))
    }

    /// Asks the user.
    fn ask(&mut self, context: &mut Context, view: &View, bound: &Bound, words: &str) -> Step {
        let now = context.guard.now_ms();
        match self.way() {
            Way::InputRequired => {
                let settings = context.guard.settings();
                let sealer = view.request_state(&bound.asked);
                let sealer = match settings.confirm_ttl {
                    Some(ttl) => sealer.ttl(ttl),
                    None => sealer,
                };
                let token = match sealer.seal(format!("{now} {}", bound.words).as_bytes()) {
                    Ok(token) => token.into_string(),
                    Err(error) => {
                        let about = About::new(Item::RequestState);
                        return context.reply(Reason::Unsealed(error), about);
                    }
                };
                context.sealed(Item::RequestState, &token, None);
                Step::Reply(Answer::input_required(form(words), token).into())
            }
            Way::Elicit => {
                self.phase = Phase::Asking { at: now };
                Step::Elicit(Box::new(Elicitation {
                    params: form(words),
                }))
            }
            Way::Nothing => self.not_confirmed(context, Said::NotShown),
        }
    }

    /// Takes the answer of a user who was asked at `at`.
    pub(super) fn elicited(
        &mut self,
        context: &mut Context,
        at: u64,
        answer: Result<&str, Failed>,
    ) -> Step {
        match Said::told(answer, context.guard.now_ms().saturating_sub(at)) {
            Said::Yes => {
                self.confirmation().agreed = Some(at);
                self.phase = Phase::Entering;
                self.advance(context)
            }
            said => self.not_confirmed(context, said),
        }
    }

    /// Takes the words of the author's function.
    pub(super) fn worded(&mut self, context: &mut Context, words: Result<&str, Failed>) -> Step {
        let words = words.map_err(|failed| failed.says("confirm"));
        let words = words.and_then(|words| match json::read(words) {
            Some(Value::String(words)) if !words.trim().is_empty() => Ok(words),
            _ => Err("confirm: expected a text that is not empty".to_owned()),
        });
        match words {
            Ok(words) => {
                self.confirmation().words = Some(words);
                self.phase = Phase::Entering;
                self.advance(context)
            }
            Err(why) => {
                let reason = Reason::Unsealed(Error::argument(why));
                context.reply(reason, About::new(Item::RequestState))
            }
        }
    }

    /// Answers a call that nobody confirmed.
    fn not_confirmed(&self, context: &mut Context, said: Said) -> Step {
        let tool = self.target.as_deref().unwrap_or_default();
        if said == Said::NotShown {
            let asks = self.way() != Way::Nothing;
            let why = if asks { NOT_SHOWN } else { NO_WAY };
            let reason = Reason::refused("unconfirmed", why);
            context.refuse(reason, About::new(Item::RequestState));
        }
        Step::Reply(Answer::not_confirmed(tool, said, self.modern).into())
    }
}

const NOT_SHOWN: &str = "confirm: expected the user's answer, found that the client gave none, or one at once: it says that it \
                         elicits, and shows nothing";
const NO_WAY: &str = "confirm: expected a client that elicits by a form, or a connection on which it can be asked, found none";
