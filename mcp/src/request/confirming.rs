//! A tool that its user confirms: asks before the handler runs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::listing::Listing;
use super::showing::Shown;
use super::{Phase, Request, once, read, text};
use crate::confirm::card::{Named, TOOL, card};
use crate::confirm::destructive::Shape;
use crate::confirm::{Confirm, Said, Way, Words, form};
use crate::guard::{Guard, LONGEST_CONFIRM_TTL as LONGEST_TTL, Settings};
use crate::ledger::Check;
use crate::message::context::{About, Context};
use crate::message::input::{Client, Failed};
use crate::message::json;
use crate::message::members::lifetime;
use crate::message::text::{hex, until};
use crate::message::token::Token;
use crate::message::token_fields::TokenFields;
use crate::reply::answer::{Answer, Profile};
use crate::reply::reason::Reason;
use crate::reply::step::{Called, Elicitation, Item, Step};
use sealwax::{Error, RequestContext, View};

/// What is known of a call's confirmation.
#[derive(Default)]
pub(super) struct Confirmation {
    /// The question, unless the author's function makes it.
    message: Option<String>,
    /// What is known of the server's list, until it is known whether the tool is confirmed.
    pub(super) listing: Option<Listing>,
    /// Whether the model may bring the answer.
    preview: bool,
    capabilities: Option<String>,
    responses: Option<String>,
    can_be_asked: bool,
    /// What the author's function made of the arguments.
    pub(super) words: Option<Words>,
    /// Whether the client did not show the question.
    was_unshown: bool,
    /// What the caller's list says of the tool, where it was asked for.
    pub(super) shape: Option<Shape>,
    /// Whether the log has it that nobody was asked.
    is_logged: bool,
    /// Whether the guard's own tool was called to run it.
    pub(super) by: bool,
    /// The consent that was brought, unchecked.
    consent: Option<String>,
    /// What tells one agreement from another: the id of a consent, or on this connection the time of asking.
    pub(super) agreed: Option<Vec<u8>>,
}

impl Confirmation {
    fn new(confirm: &Confirm, client: Option<&Client<'_>>) -> Box<Self> {
        let client = client.copied().unwrap_or_default();
        Box::new(Self {
            message: confirm.message.clone(),
            preview: confirm.preview,
            capabilities: client.capabilities.map(Into::into),
            responses: client.responses.map(Into::into),
            can_be_asked: client.can_be_asked,
            ..Self::default()
        })
    }

    /// That of a tool of which only the server's list tells whether it is confirmed.
    fn unlisted(preview: bool, client: Option<&Client<'_>>) -> Box<Self> {
        let confirm = Confirm {
            message: None,
            preview,
        };
        let mut confirmation = Self::new(&confirm, client);
        confirmation.listing = Some(Listing::default());
        confirmation
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
        self.shown = Shown::new(self, guard, client).map(Box::new);
        if *self.method != *"tools/call" {
            return;
        }
        let find = |name: &str| {
            let mut all = guard.settings().confirm.iter();
            all.find(|(tool, _)| tool == name)
        };
        let Some(target) = self.target.as_deref() else {
            return;
        };
        let named = Some(target).filter(|target| *target == TOOL);
        let named = named.and_then(|_| Named::read(self.arguments.as_deref()));
        let known = find(named.as_ref().map_or(target, |named| &*named.tool));
        let destructive = guard.settings().destructive.as_ref();
        let confirmation = match (known, destructive) {
            (Some((_, confirm)), _) => Some(Confirmation::new(confirm, client)),
            (None, Some(destructive)) => Some(Confirmation::unlisted(destructive.preview, client)),
            (None, None) => None,
        };
        if let Some(mut confirmation) = confirmation {
            if let Some(named) = named {
                confirmation.by = true;
                confirmation.consent = named.token;
                self.target = Some(named.tool.into());
                self.arguments = named.arguments;
            }
            self.confirmation = Some(confirmation);
        }
    }

    /// Returns the call to run in place of the one that came.
    pub fn called(&self) -> Option<Called> {
        let confirmation = self.confirmation.as_ref()?;
        confirmation.by.then(|| self.call())
    }

    fn call(&self) -> Called {
        let arguments = self.arguments.as_deref().and_then(json::read);
        Called {
            name: self.target.as_deref().unwrap_or_default().into(),
            arguments: arguments.unwrap_or_else(|| Map::new().into()),
        }
    }

    /// Returns whether its whole result is reported.
    pub fn reports_whole(&self) -> bool {
        matches!(self.shown.as_deref(), Some(Shown::List(..)))
    }

    pub(super) fn confirmation(&mut self) -> &mut Confirmation {
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
                return Err(Step::Word(Box::new(self.call())));
            }
        };
        let bound = match Bound::new(&request, &target, &words.text()) {
            Ok(bound) => bound,
            Err(error) => return refused(self, context, error.into()),
        };
        self.bound = Some(bound.confirmed);
        if self.token.is_absent() {
            if let Some(consent) = self.confirmation().consent.take() {
                let ttl = context.guard.settings().confirm_ttl.unwrap_or(TTL);
                return match view.verify_consent(&bound.words, &consent, ttl) {
                    Ok(consent) => {
                        self.confirmation().agreed = Some(consent.ulid().into());
                        let (id, at) = (consent.ulid(), consent.created_at_ms());
                        // Whatever is said of other states, a yes counts once. No `confirm_ttl` is longer than that.
                        let mut token = Token::made(Item::Handle, id, at, Check::Once);
                        let ends_at_ms = consent.ends_at_ms(LONGEST_TTL);
                        token.until = until(Some(ends_at_ms.div_ceil(1000)));
                        tokens.push(token);
                        Ok(None)
                    }
                    Err(error) => Err(self.no_consent(context, error.into())),
                };
            }
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
        let asked = asked.and_then(|opened| read(Item::RequestState, opened, Some(Check::Once)));
        let (asked, token) = match asked {
            Ok(asked) => asked,
            Err(error) => return refused(self, context, error.into()),
        };
        let (at, words_then) = asked.split_once(' ').unwrap_or_default();
        let after = elapsed(context, at.parse().unwrap_or_default());
        let said = Said::of(&self.confirmation().client().answer(), after);
        match said {
            // Other words than those that the user agreed to.
            Said::Yes if words_then != bound.words.to_string() => {
                Err(self.ask(context, view, &bound, &words))
            }
            Said::NotShown => {
                self.not_shown(context);
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
    fn words(&self) -> Option<Words> {
        let known = self.confirmation.as_ref()?;
        let message = known.message.as_deref();
        let filled = || Some(Words::filled(message?, self.arguments.as_deref()));
        known.words.clone().or_else(filled)
    }

    /// Keeps that its client did not show the question: the next call begins with the next way.
    fn not_shown(&mut self, context: &mut Context) {
        self.unconfirmed(context, NOT_SHOWN);
        let known = self.confirmation();
        known.was_unshown = true;
        if let Some(principal) = context.principal() {
            let settings = context.guard.settings();
            let now = context.guard.now_ms();
            settings
                .unshown
                .add(principal, known.capabilities.as_deref(), now);
        }
    }

    /// Looks up whether its client did not show a question lately.
    fn was_unshown(&mut self, context: &Context) {
        let known = self.confirmation();
        if let Some(principal) = context.principal() {
            let settings = context.guard.settings();
            let now = context.guard.now_ms();
            known.was_unshown |=
                settings
                    .unshown
                    .has(&principal, known.capabilities.as_deref(), now);
        }
    }

    fn shape(&self, settings: &Settings) -> Option<Shape> {
        let own = self.confirmation.as_ref().and_then(|known| known.shape);
        own.or_else(|| settings.shape(self.target.as_deref().unwrap_or_default()))
    }

    /// Answers in place of the handler. To frameworks of agents an error is an exception, so that it is one only where it has to be:
    /// of a tool with an output schema, or of which no list told whether it has one. The page tells by it whether a tool ran.
    fn tell(&self, context: &Context, mut answer: Answer) -> Step {
        if let Answer::ToolResult(result) = &mut answer {
            let known = self.confirmation.as_ref();
            let shape = self.shape(context.guard.settings());
            result.is_error =
                known.is_some_and(|known| known.by) || shape.is_none_or(|shape| shape.has_schema);
        }
        Step::Reply(answer.into())
    }

    fn way(&self, settings: &Settings) -> Way {
        let Some(known) = self.confirmation.as_ref() else {
            return Way::Nothing;
        };
        let client = known.client();
        match client.way(self.modern, known.was_unshown, known.preview) {
            // The client would show that page.
            Way::Card if self.shape(settings).is_some_and(|shape| shape.has_page) => {
                match known.preview {
                    true => Way::Preview,
                    false => Way::Nothing,
                }
            }
            way => way,
        }
    }

    /// Asks the user.
    fn ask(&mut self, context: &mut Context, view: &View, bound: &Bound, words: &Words) -> Step {
        let now = context.guard.now_ms();
        let text = words.text();
        self.was_unshown(context);
        let by = self.confirmation.as_ref().is_some_and(|known| known.by);
        match self.way(context.guard.settings()) {
            // A page, beside the call by which the user is asked: two answers would run the tool twice.
            Way::InputRequired | Way::Elicit if by => {
                let tool = self.target.as_deref().unwrap_or_default();
                Step::Reply(Answer::asked_elsewhere(tool, self.modern).into())
            }
            Way::InputRequired => {
                let settings = context.guard.settings();
                let sealer = view.request_state(&bound.asked);
                let sealer = sealer.with_ttl(lifetime(settings.confirm_ttl));
                let token = match sealer.seal(format!("{now} {}", bound.words).as_bytes()) {
                    Ok(token) => token.into_string(),
                    Err(error) => return unsealed(context, error),
                };
                context.sealed(Item::RequestState, &token, None);
                Step::Reply(Answer::input_required(form(&text), token).into())
            }
            Way::Elicit => {
                self.phase = Phase::Asking { at: now };
                Step::Elicit(Box::new(Elicitation {
                    params: form(&text),
                }))
            }
            way @ (Way::Card | Way::Preview) => {
                let consent = match view.mint_consent(&bound.words) {
                    Ok(consent) => consent,
                    Err(error) => return unsealed(context, error),
                };
                let (consent, id) = (consent.as_str(), hex(consent.ulid()));
                context.sealed(Item::Handle, consent, Some(id));
                let tool = self.target.as_deref().unwrap_or_default();
                let answer = if way == Way::Preview {
                    Answer::preview(tool, &text, consent, self.modern)
                } else {
                    let card = card(tool, self.arguments.as_deref(), words, consent);
                    Answer::card(tool, card, self.modern)
                };
                self.tell(context, answer)
            }
            Way::Nothing => self.not_confirmed(context, Said::NotShown),
        }
    }

    /// Refuses a consent.
    pub(super) fn no_consent(&self, context: &mut Context, reason: Reason) -> Step {
        // A verified one is known to be of this service.
        let id = self.confirmation.as_ref();
        let id = id.and_then(|known| known.agreed.as_deref());
        let about = About {
            id: id.map(base16ct::lower::encode_string),
            // The model has no handle that it could try again with.
            profile: Profile::RequestState,
            ..About::new(Item::Handle)
        };
        if !reason.is_refusal() {
            return context.reply(reason, about);
        }
        context.refuse(reason, about);
        let tool = self.target.as_deref().unwrap_or_default();
        Step::Reply(Answer::no_consent(tool, self.modern).into())
    }

    /// Returns whether it was agreed to: a token that it brought besides its session is a consent then.
    pub(super) fn is_agreed(&self) -> bool {
        let known = self.confirmation.as_ref();
        known.is_some_and(|known| known.agreed.is_some())
    }

    /// Takes the answer of a user who was asked at `at`.
    pub(super) fn elicited(
        &mut self,
        context: &mut Context,
        at: u64,
        answer: Result<&str, Failed>,
    ) -> Step {
        let was_answered = answer.is_ok();
        match Said::told(answer, elapsed(context, at)) {
            Said::Yes => {
                // Two may be asked at one time.
                let drawn = match context.draw::<8>() {
                    Ok(drawn) => drawn,
                    Err(error) => return unsealed(context, error),
                };
                self.confirmation().agreed = Some([at.to_le_bytes(), drawn].concat());
                self.phase = Phase::Entering;
                self.advance(context)
            }
            // By the next way.
            Said::NotShown => {
                // A user who is away for a while is asked again.
                if was_answered {
                    self.not_shown(context);
                }
                self.confirmation().was_unshown = true;
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
                self.confirmation().words = Some(Words::shown(&words));
                self.phase = Phase::Entering;
                self.advance(context)
            }
            Err(why) => unsealed(context, Error::argument(why)),
        }
    }

    /// Tells the log that nobody was asked, once.
    fn unconfirmed(&mut self, context: &mut Context, why: &'static str) {
        if !std::mem::replace(&mut self.confirmation().is_logged, true) {
            let reason = Reason::refused("unconfirmed", why);
            context.refuse(reason, About::new(Item::RequestState));
        }
    }

    /// Answers a call that nobody confirmed.
    fn not_confirmed(&mut self, context: &mut Context, said: Said) -> Step {
        if said == Said::NotShown {
            let known = self.confirmation.as_ref();
            let shape = self.shape(context.guard.settings());
            let why = match known {
                Some(known)
                    if known.client().shows_cards() && shape.is_some_and(|it| it.has_page) =>
                {
                    OWN_PAGE
                }
                Some(known) if known.was_unshown => NOT_SHOWN,
                _ => NO_WAY,
            };
            self.unconfirmed(context, why);
        }
        let tool = self.target.as_deref().unwrap_or_default();
        self.tell(context, Answer::not_confirmed(tool, said, self.modern))
    }
}

/// Answers a call whose question could not be made.
fn unsealed(context: &mut Context, error: Error) -> Step {
    context.reply(Reason::Unsealed(error), About::new(Item::RequestState))
}

/// Returns how many milliseconds ago something was, by this replica's clock: long ago if it is still to come by it.
fn elapsed(context: &Context, at: u64) -> u64 {
    context.guard.now_ms().checked_sub(at).unwrap_or(u64::MAX)
}

/// How long a consent counts.
const TTL: Duration = Duration::from_secs(600);

const NOT_SHOWN: &str = "confirm: expected the user's answer, found that the client gave none, or one at once: it says that it \
                         elicits, and shows nothing";
const OWN_PAGE: &str = "confirm: expected a tool without a page of its own, which its client shows in place of the card";
const NO_WAY: &str = "confirm: expected a client that elicits by a form, or a connection on which it can be asked, found none";
