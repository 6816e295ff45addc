//! The dialogue with a Redis.

use serde_json::Value;

use super::NO_DOCUMENT;
use super::ledger::command;
use super::read::{Document, read, texts};
use super::write::Object;
use crate::ledger::redis::{Answer, Dialogue, Next, Redis, Send};
use sealwax::Error;

/// Begins the dialogue about a command, a document with `checked` beside the
/// command: see [`Redis::begin`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid command.
pub fn dialogue(redis: &Redis, document: &str) -> Result<(Dialogue, String), Error> {
    let command = command(document)?;
    let document = read(document)?;
    let document = Document(&document);
    let (dialogue, next) = redis.begin(command, document.is("checked"));
    let next = written(&dialogue, next);
    Ok((dialogue, next))
}

/// Reports the answer to what was sent: see [`Dialogue::on`].
///
/// # Errors
///
/// [`Error::InvalidArgument`] for an invalid document.
pub fn answered(dialogue: &mut Dialogue, document: &str) -> Result<String, Error> {
    let document = read(document)?;
    let answer = match Document(&document).first().ok_or(NO_DOCUMENT)? {
        (name, Document(items @ Value::Array(_))) if name == "texts" => Answer::Texts(texts(items)),
        (name, Document(Value::String(text))) if name == "text" => Answer::Text(text.clone()),
        (name, Document(Value::String(text))) if name == "error" => Answer::Error(text.clone()),
        (name, Document(number)) if name == "number" => {
            Answer::Number(number.as_i64().ok_or(NO_DOCUMENT)?)
        }
        _ => return Err(NO_DOCUMENT),
    };
    let next = dialogue.on(answer);
    Ok(written(dialogue, next))
}

fn written(dialogue: &Dialogue, next: Next) -> String {
    let mut object = Object::default();
    match next {
        Next::Send(Send { args, own }) => {
            object.put("send", &args);
            object.flag("own", own);
        }
        Next::Done(reply) => object.put("done", &reply),
        Next::Unfit(why) => object.put("unfit", &*why),
        Next::Failed(why) => object.put("failed", &*why),
    }
    if !dialogue.warned().is_empty() {
        object.put("warned", dialogue.warned());
    }
    object.written()
}
