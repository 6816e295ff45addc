//! What a tool's user is asked before it runs: settings, the words, the form, and what the answer means.

pub(crate) mod card;
pub(crate) mod collecting;
pub(crate) mod destructive;
pub(crate) mod unshown;

use std::fmt::Write as _;

use serde_json::Value;

use crate::message::input::{Client, Failed};
use crate::message::json;
use sealwax::Error;

/// A tool that runs only for a call that its user confirmed.
#[derive(Clone, Debug, Default)]
pub struct Confirm {
    /// The question, with the call's arguments in place of `{name}`: `Delete note {id}?`. `{{` and `}}` are braces.
    /// `None`: the author's function makes it of the arguments ([`Step::Word`](crate::Step::Word)).
    pub message: Option<String>,
    /// Whether a client that can neither ask nor show a card gets the question for its model, which brings the answer: the
    /// same call, once, after a preview. It proves no consent.
    pub preview: bool,
}

/// The key of the answer among those to an `input_required` result.
const QUESTION: &str = "io.github.sealwax/confirm";

/// The longest question in characters; what is left out of a longer one is said.
const LONGEST: usize = 4_000;

/// The time in which no user answers, in milliseconds.
const AT_ONCE: u64 = 1_000;

/// The longest title in characters, of an answer and of a tool.
pub(crate) const LONGEST_TITLE: usize = 100;

impl Confirm {
    pub(crate) fn check(&self, tool: &str, bound: Option<&[String]>) -> Result<(), Error> {
        let Some(message) = &self.message else {
            return Ok(());
        };
        let mistake = |why: String| Error::argument(format!("confirm {tool}: {why}"));
        if message.trim().is_empty() {
            return Err(mistake("expected a question, found an empty text".into()));
        }
        for piece in pieces(message) {
            let name = match piece {
                Piece::Argument(name) => name,
                Piece::Text(_) => continue,
                Piece::Open => {
                    let why = "expected an argument in braces, such as {id}, or {{ for a brace";
                    return Err(mistake(why.into()));
                }
            };
            if bound.is_some_and(|bound| !bound.iter().any(|one| one == name)) {
                return Err(mistake(format!(
                    "expected arguments that `only` binds, found {{{name}}}, which may change after the user agreed"
                )));
            }
        }
        Ok(())
    }
}

enum Piece<'a> {
    Text(&'a str),
    Argument(&'a str),
    /// A brace that nothing closes, or opens.
    Open,
}

impl<'a> Piece<'a> {
    /// Returns the first of a question, and what follows it.
    fn first(question: &'a str) -> (Self, &'a str) {
        for brace in ["{", "}"] {
            let after = question.strip_prefix(brace);
            if let Some(rest) = after.and_then(|after| after.strip_prefix(brace)) {
                return (Self::Text(brace), rest);
            }
        }
        if let Some((name, rest)) = question.strip_prefix('{').and_then(|it| it.split_once('}'))
            && !name.is_empty()
            && !name.contains('{')
        {
            return (Self::Argument(name), rest);
        }
        match question.find(['{', '}']) {
            Some(0) => (Self::Open, ""),
            at => {
                let whole = (question, "");
                let (text, rest) = at
                    .and_then(|at| question.split_at_checked(at))
                    .unwrap_or(whole);
                (Self::Text(text), rest)
            }
        }
    }
}

/// Splits a question at its arguments.
fn pieces(mut question: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    while !question.is_empty() {
        let (piece, rest) = Piece::first(question);
        pieces.push(piece);
        question = rest;
    }
    pieces
}

/// Reads JSON of a client's; anything else has no members.
fn read(json: Option<&str>) -> Value {
    json.and_then(json::read).unwrap_or_default()
}

/// A question for the user: a text, an argument, a text, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Words(Vec<String>);

impl Words {
    /// Makes a question with a call's arguments, each as JSON: so nobody takes one for words of the server's.
    pub fn filled(message: &str, arguments: Option<&str>) -> Self {
        let arguments = read(arguments);
        let mut parts = vec![String::new()];
        for piece in pieces(message) {
            let value = match piece {
                Piece::Text(text) => {
                    if let Some(last) = parts.last_mut() {
                        last.push_str(text);
                    }
                    continue;
                }
                Piece::Argument(name) => arguments.get(name),
                Piece::Open => continue,
            };
            parts.push(value.map_or("(none)".into(), |value| visible(&json::written(value))));
            parts.push(String::new());
        }
        Self(parts)
    }

    /// Makes one of a tool that its server marks as destructive, with those of its arguments that are bound. `tool` is its
    /// title, or the name that a client sent.
    #[inline(never)]
    pub fn of_call(
        tool: Result<&str, &str>,
        arguments: Option<&str>,
        only: Option<&[String]>,
    ) -> Self {
        let tool = match tool {
            Ok(title) => visible(title),
            Err(name) => visible(&json::written(&name.into())),
        };
        let arguments = visible(&bound(&read(arguments), only));
        let mut parts = vec![String::from("Run "), tool];
        if !arguments.is_empty() {
            parts.push(" with ".into());
            parts.push(arguments);
        }
        parts.push("?".into());
        Self(parts)
    }

    /// Makes one of the words of an author's function.
    pub fn shown(words: &str) -> Self {
        Self(vec![visible(words)])
    }

    /// Returns it as one text. An argument that is written from right to left is isolated, or its neighbours would change places.
    pub fn text(&self) -> String {
        let mut words = String::new();
        for (at, part) in self.0.iter().enumerate() {
            if at % 2 == 1 && part.chars().any(is_from_right) {
                let _ = write!(words, "\u{2068}{part}\u{2069}");
            } else {
                words.push_str(part);
            }
        }
        shortened(words)
    }

    /// Returns its parts, for a page that isolates the arguments itself; a long question is one part.
    pub fn parts(&self) -> Vec<Value> {
        let text = self.text();
        if text.chars().nth(LONGEST).is_some() {
            return vec![text.into()];
        }
        self.0.iter().cloned().map(Value::String).collect()
    }
}

/// Writes the arguments of a call that are bound; nothing if there are none.
fn bound(arguments: &Value, only: Option<&[String]>) -> String {
    let Value::Object(all) = arguments else {
        return match arguments {
            Value::Null => String::new(),
            other => json::written(other),
        };
    };
    let mut written = String::new();
    for (name, value) in all {
        if only.is_none_or(|only| only.contains(name)) {
            written.push(if written.is_empty() { '{' } else { ',' });
            written.push_str(&json::written(&name.as_str().into()));
            written.push(':');
            written.push_str(&json::written(value));
        }
    }
    if !written.is_empty() {
        written.push('}');
    }
    written
}

/// Escapes what is invisible, or turns the direction of a text.
fn visible(words: &str) -> String {
    let mut visible = String::with_capacity(words.len());
    let mut before = 'a';
    for character in words.chars() {
        // Many emoji have one.
        let is_styled = matches!(character, '\u{fe0e}' | '\u{fe0f}')
            && !before.is_ascii()
            && !is_hidden(before);
        before = character;
        if is_hidden(character) && !is_styled {
            let _ = write!(visible, "\\u{{{:x}}}", u32::from(character));
        } else {
            visible.push(character);
        }
    }
    visible
}

/// Leaves out what is too long, and says so.
fn shortened(mut words: String) -> String {
    if let Some((at, _)) = words.char_indices().nth(LONGEST) {
        // `count` is fast, and large.
        let more: usize = words.chars().skip(LONGEST).map(|_| 1).sum();
        words.truncate(at);
        let _ = write!(words, "… (and {more} characters more)");
    }
    words
}

/// Returns whether a character is of a script that is written from right to left.
fn is_from_right(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}'
        | '\u{1e800}'..='\u{1efff}')
}

/// Returns whether a character is seen by nobody, or changes how others are seen. Joiners are not: names have them.
fn is_hidden(character: char) -> bool {
    (character.is_control() && character != '\n')
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the params of `elicitation/create`: a form with one choice, which has to be made. The legacy form of an `enum`
/// with names is the one that all revisions have.
pub(crate) fn form(words: &str) -> Value {
    let [words, agrees, declines] =
        [words, agrees(words), DECLINES].map(|text| json::written(&text.into()));
    let form = format!(
        r#"{{"message":{words},"requestedSchema":{{"type":"object","properties":{{"choice":{{"type":"string","title":"Your choice",
        "enum":["yes","no"],"enumNames":[{agrees},{declines}]}}}},"required":["choice"]}}}}"#
    );
    json::read(&form).unwrap_or_default()
}

/// Returns the title of the answer by which a user agrees: what will be done.
pub(crate) fn agrees(words: &str) -> &str {
    let title = words.trim().trim_end_matches('?');
    if title.contains('\n') || title.chars().nth(LONGEST_TITLE).is_some() {
        "Yes, do it"
    } else {
        title
    }
}

/// The title of the other answer.
pub(crate) const DECLINES: &str = "No, leave it";

/// What an answer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Yes,
    No,
    /// The user closed the question.
    Dismissed,
    /// The user did not see it: no answer to the form, or one that no user gives.
    NotShown,
}

impl Said {
    /// Reads the answer to the form, after so many milliseconds.
    pub fn of(answer: &Value, after: u64) -> Self {
        let choice = answer
            .get("content")
            .and_then(|content| content.get("choice"));
        let choice = choice.and_then(Value::as_str);
        let slow = after >= AT_ONCE;
        match (answer.get("action").and_then(Value::as_str), choice) {
            (Some("accept"), Some("yes")) => Self::Yes,
            (Some("accept"), Some("no")) => Self::No,
            (Some("decline"), _) if slow => Self::No,
            (Some("cancel"), _) if slow => Self::Dismissed,
            _ => Self::NotShown,
        }
    }

    pub fn told(answer: Result<&str, Failed>, after: u64) -> Self {
        let answer = answer.ok().and_then(json::read);
        answer.map_or(Self::NotShown, |answer| Self::of(&answer, after))
    }
}

/// The way to ask a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By a result that requires input (2026-07-28).
    InputRequired,
    /// By a request of the server's, while the call waits.
    Elicit,
    /// By a page of the guard's, which the client shows.
    Card,
    /// By the model, after a preview.
    Preview,
    /// The client has none.
    Nothing,
}

/// The type of the pages of servers (MCP Apps).
pub(crate) const MIME: &str = "text/html;profile=mcp-app";

/// Returns whether a client shows the pages of servers.
fn shows_pages(capabilities: &Value) -> bool {
    let extensions = capabilities.get("extensions");
    let ui = extensions.and_then(|all| all.get("io.modelcontextprotocol/ui"));
    let types = ui
        .and_then(|ui| ui.get("mimeTypes"))
        .and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|one| one == MIME))
}

impl Client<'_> {
    /// Returns the first way; after a client did not show the question, the next.
    pub(crate) fn way(&self, modern: bool, was_unshown: bool, preview: bool) -> Way {
        let capabilities = read(self.capabilities);
        // `{}` is by a form, as it was before there were other ways.
        let elicits = capabilities
            .get("elicitation")
            .and_then(Value::as_object)
            .is_some_and(|ways| ways.contains_key("form") || !ways.contains_key("url"));
        match (elicits && !was_unshown, modern) {
            (true, true) => Way::InputRequired,
            (true, false) if self.can_be_asked => Way::Elicit,
            _ if shows_pages(&capabilities) => Way::Card,
            _ if preview => Way::Preview,
            _ => Way::Nothing,
        }
    }

    /// Returns whether it shows the pages of servers.
    pub(crate) fn shows_cards(&self) -> bool {
        shows_pages(&read(self.capabilities))
    }

    /// Returns the answer to the question that an `input_required` result asked.
    pub(crate) fn answer(&self) -> Value {
        let mut responses = read(self.responses);
        responses
            .get_mut(QUESTION)
            .map(Value::take)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Said, Way, Words, agrees};
    use crate::message::input::Client;

    /// The rest is in the transcripts.
    #[test]
    fn words_are_of_what_is_bound() {
        let of = |message| Words::filled(message, Some(r#"{"id":7}"#)).text();
        assert_eq!(of("{{{id}}} {{}}"), "{7} {}");
        assert_eq!(of("é{id}é"), "é7é");
        let only = ["id".to_owned()];
        for (tool, arguments, only, words) in [
            (
                Ok("{id}\u{202e}"),
                r#"{"id":7,"a":"\u05d0"}"#,
                Some(&only[..]),
                "Run {id}\\u{202e} with {\"id\":7}?",
            ),
            (
                Err("Nothing. \"a\u{202e}"),
                r#"{"id":7,"\u202e":"\u05d0"}"#,
                None,
                "Run \"Nothing. \\\"a\\u{202e}\" with \u{2068}{\"id\":7,\"\\u{202e}\":\"\u{5d0}\"}\u{2069}?",
            ),
            (Ok("a"), " { } ", None, "Run a?"),
            (Ok("a"), "[1]", Some(&only[..]), "Run a with [1]?"),
            (Ok("a"), r#"{"name":7}"#, Some(&only[..]), "Run a?"),
        ] {
            assert_eq!(Words::of_call(tool, Some(arguments), only).text(), words);
        }
        assert_eq!(agrees("a\nb?"), "Yes, do it");
    }

    #[test]
    fn a_user_sees_all_of_it() {
        let turned = "a\u{202e}b\u{200b}\u{e0041}\u{7}\nc\u{200d}d\u{3164}\u{2800}\u{fe0f}\u{26a0}\u{fe0f}\u{fe0f}";
        assert_eq!(
            Words::shown(turned).text(),
            "a\\u{202e}b\\u{200b}\\u{e0041}\\u{7}\nc\u{200d}d\\u{3164}\\u{2800}\\u{fe0f}\u{26a0}\u{fe0f}\\u{fe0f}"
        );
    }

    /// What transcripts leave out: other types than the protocol has.
    #[test]
    fn what_no_client_sends_is_no_answer_and_no_way_to_ask() {
        for answer in [
            json!({"action": "accept", "content": {"choice": true}}),
            json!({"content": {"choice": "yes"}}),
            json!("accept"),
            json!(null),
        ] {
            assert_eq!(Said::of(&answer, 1_000), Said::NotShown, "{answer}");
        }
        for capabilities in [Some(r#"{"elicitation":true}"#), Some("["), None] {
            let client = Client {
                capabilities,
                can_be_asked: true,
                ..Client::default()
            };
            for modern in [true, false] {
                assert_eq!(client.way(modern, false, false), Way::Nothing);
                assert_eq!(client.way(modern, false, true), Way::Preview);
            }
        }
    }
}
