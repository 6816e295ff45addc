//! Steps, with the refusals on the way.

use super::write::Object;
use crate::exchange::Exchange;
use crate::ledger::Command;
use crate::session::Session;
use crate::step::{
    Deliver, HandleResult, Presented, Question, Refused, Reply, Report, Respond, Step,
};

/// Returns a step as a document, together with the refusals on the way.
pub(super) fn begun((mut exchange, step): (Exchange, Step)) -> (Exchange, String) {
    let step = written(&mut exchange, &step);
    (exchange, step)
}

pub(super) fn written(exchange: &mut Exchange, step: &Step) -> String {
    let mut object = Object::default();
    match step {
        Step::Identify => object.step("identify"),
        Step::Ask {
            question: Question::Accept(tokens),
            ..
        } => {
            object.step("ask");
            object.list("accept", tokens.iter().map(presented));
        }
        Step::Ask {
            question: Question::End(token),
            ..
        } => {
            object.step("ask");
            object.json("end", &presented(token));
        }
        Step::Ledger(command) => {
            object.step("ledger");
            object.command(command);
        }
        Step::Update(value) => {
            object.step("update");
            object.text("value", Some(value));
        }
        Step::Begin => object.step("begin"),
        Step::Deliver(deliver) => {
            object.deliver(deliver);
            if let Some(session) = exchange.session() {
                object.json("session", &self::session(session));
            }
        }
        Step::Respond(leave) => object.leave(leave),
        Step::Reply(reply) => object.reply(reply),
        Step::Done(made) => object.made(made),
        Step::Drop => object.step("drop"),
    }
    let refused = exchange.refused();
    if !refused.is_empty() {
        object.list("refused", refused.iter().map(self::refused));
    }
    object.written()
}

impl Object {
    fn step(&mut self, name: &str) {
        self.put("step", name);
    }

    fn command(&mut self, command: &Command) {
        self.put("script", command.script.name());
        self.put("keys", &command.keys);
        self.put("args", &command.args);
    }

    fn deliver(&mut self, deliver: &Deliver) {
        self.step("deliver");
        self.text("carried", deliver.opened.as_deref());
        self.text("own", deliver.builtin_result.as_deref());
        self.text("negotiated", deliver.negotiated.as_deref());
        self.text("tokenId", deliver.token_id.as_deref());
        if let Some(expires_at) = deliver.expires_at {
            self.number("expiresAt", Some(expires_at));
        }
        self.text("version", deliver.version.as_deref());
        self.text("stamp", deliver.add_session_id.as_deref());
        match deliver.report {
            Report::Never => {}
            Report::Member(member) => self.put("watch", member),
            Report::Always => self.flag("watch", true),
        }
    }

    fn leave(&mut self, leave: &Respond) {
        self.step("leave");
        self.text("token", leave.token.as_deref());
        if let Some(metadata) = &leave.metadata {
            self.put("metadata", metadata);
        }
        self.flag("private", leave.cache_scope.is_some());
        self.flag("declare", leave.declare);
        self.text("header", leave.header.as_deref());
        if let Some(timeout) = leave.timeout {
            self.number("timeout", Some(timeout));
        }
    }

    fn reply(&mut self, reply: &Reply) {
        self.step("reply");
        if let Some(status) = reply.status {
            self.number("status", Some(status.into()));
        }
        self.text("allow", reply.allow);
        if let Some(error) = &reply.error {
            self.put("error", error);
        }
        self.flag("done", reply.done);
        if let Some(tool) = &reply.tool {
            self.put("tool", tool);
        }
    }

    fn made(&mut self, made: &HandleResult) {
        self.step("done");
        self.text("handle", made.handle.as_deref());
        self.text("id", Some(&made.id));
        self.text("expiresAt", made.expires_at.as_deref());
        self.text("value", made.value.as_deref());
        if let Some(before) = &made.predecessor {
            let mut object = Self::default();
            object.number("startedAt", Some(before.started_at));
            object.number("generation", Some(before.generation.into()));
            object.put("id", &*before.id);
            object.number("issuedAt", Some(before.issued_at));
            object.number("until", before.until);
            self.json("before", &object.written());
        }
        if let Some(life) = made.times {
            let mut object = Self::default();
            object.number("issuedAt", Some(life.issued_at));
            object.number("expiresAt", life.expires_at);
            object.flag("needsReseal", life.needs_reseal);
            object.flag("needsRenewal", life.needs_renewal);
            self.json("life", &object.written());
        }
    }
}

fn presented(token: &Presented) -> String {
    let mut object = Object::default();
    object.put("kind", token.item.name());
    object.put("id", &*token.id);
    object.number("until", token.until);
    object.flag("public", token.public);
    object.written()
}

fn refused(one: &Refused) -> String {
    let mut object = Object::default();
    object.put("code", one.code);
    object.put("kind", one.item.name());
    object.text("tokenId", one.token_id.as_deref());
    object.text("target", one.target.as_deref());
    object.put("message", &*one.message);
    object.written()
}

fn session(session: &Session) -> String {
    let mut object = Object::default();
    object.put("id", session.id());
    object.put("ulid", &*session.ulid());
    object.number("generation", Some(session.generation().into()));
    match session.value() {
        None => object.json("value", "null"),
        value => object.text("value", value),
    }
    object.written()
}
