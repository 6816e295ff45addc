//! The card: a page of the guard's on which a user answers, for clients that show the pages of servers (MCP Apps,
//! specification 2026-01-26), and the tool by which the page sends the answer.

use serde_json::{Map, Value};

use crate::confirm::destructive::{Shape, is_destructive};
use crate::confirm::{Confirm, DECLINES, MIME, Words, agrees};
use crate::guard::Settings;
use crate::message::input::Client;
use crate::message::json;

/// The tool that runs another one with a confirmation. A page calls it, and in a preview the model.
pub(crate) const TOOL: &str = "sealwax_confirm";

/// The beginning of the pages' addresses. Clients keep a page by its address, so another page has another version.
const PAGES: &str = "ui://sealwax/confirm/1/";

/// The member of a result's `_meta` that the page reads. It is not for the model.
const KEY: &str = "io.github.sealwax/confirm";

const PAGE: &str = include_str!("card.html");

/// What a list of tools shows of confirmations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    /// Its client shows pages.
    pub card: bool,
    /// A model may call the tool.
    pub preview: bool,
}

impl Listed {
    /// Returns what a client sees.
    pub fn new(settings: &Settings, client: Option<&Client<'_>>) -> Self {
        Self {
            card: client.is_some_and(Client::shows_cards),
            preview: settings.previews(),
        }
    }

    /// Returns the tools of a result with what it shows, if that is more. The tool of the guard's is on the first page.
    #[inline(never)]
    pub fn tools(self, settings: &Settings, result: &mut Value, first: bool) -> Option<Value> {
        if !self.card && !self.preview {
            return None;
        }
        let tools = result.get_mut("tools")?.as_array_mut()?;
        for tool in tools.iter_mut().filter(|_| self.card) {
            let is_confirmed = settings.names(name(tool))
                || (settings.destructive.is_some() && is_destructive(tool));
            if is_confirmed && !Shape::of(tool).has_page {
                let page = address(name(tool));
                show(tool, page);
            }
        }
        if first {
            let visibility = if self.preview {
                r#""app","model""#
            } else {
                r#""app""#
            };
            let tool = format!(
                r#"{{"name":"{TOOL}","description":"{DESCRIPTION}","inputSchema":{{"type":"object","properties":{{
                "tool":{{"type":"string"}},"arguments":{{"type":"object"}},"confirmation":{{"type":"string"}}}},
                "required":["tool","arguments"]}},"_meta":{{"ui":{{"visibility":[{visibility}]}}}}}}"#
            );
            tools.push(json::read(&tool)?);
        }
        result.get_mut("tools").map(Value::take)
    }
}

/// Returns a confirmed tool that a whole list does not have: a misspelt one protects nothing.
#[inline(never)]
pub(crate) fn missing<'a>(confirm: &'a [(String, Confirm)], result: &Value) -> Option<&'a str> {
    let tools = result.get("tools")?.as_array()?;
    let mut confirmed = confirm.iter().map(|(tool, _)| &**tool);
    confirmed.find(|confirmed| !tools.iter().any(|tool| name(tool) == *confirmed))
}

fn name(tool: &Value) -> &str {
    tool.get("name").and_then(Value::as_str).unwrap_or_default()
}

const DESCRIPTION: &str = "Runs a tool that its user has confirmed: with the arguments and the confirmation of its \
                           result. Never call it before the user has agreed.";

/// Names the page of a tool.
fn show(tool: &mut Value, page: String) {
    let ui = member(tool, "_meta").and_then(|meta| member(meta, "ui"));
    if let Some(Value::Object(ui)) = ui {
        ui.insert("resourceUri".into(), page.into());
    }
}

/// Keeps what a list says of the tools that are confirmed by their names. What it says of others is the caller's own list's to say.
#[inline(never)]
pub(crate) fn keep(settings: &Settings, result: &Value) {
    let tools = result.get("tools").and_then(Value::as_array);
    for tool in tools.into_iter().flatten() {
        if settings.names(name(tool)) {
            settings.keep_shape(name(tool), Shape::of(tool));
        }
    }
}

/// Returns a member, which is made if it is no object.
fn member<'a>(of: &'a mut Value, name: &str) -> Option<&'a mut Value> {
    let of = of.as_object_mut()?;
    if !of.get(name).is_some_and(Value::is_object) {
        of.insert(name.into(), Map::new().into());
    }
    of.get_mut(name)
}

/// Returns the address of the page of a tool.
fn address(tool: &str) -> String {
    let mut address = String::from(PAGES);
    for byte in tool.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            address.push('%');
            address.push_str(&base16ct::upper::encode_string(&[byte]));
        }
    }
    address
}

/// Returns the name that the rest of an address has.
#[inline(never)]
fn named(mut rest: &[u8]) -> Option<String> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let mut name = Vec::new();
    while let [byte, after @ ..] = rest {
        let (byte, after) = match (byte, after) {
            (b'%', [high, low, after @ ..]) => {
                (u8::try_from(digit(high)? * 16 + digit(low)?).ok()?, after)
            }
            _ => (*byte, after),
        };
        name.push(byte);
        rest = after;
    }
    String::from_utf8(name).ok()
}

/// Returns the result of reading a page, if it is one.
#[inline(never)]
pub(crate) fn page(settings: &Settings, uri: &str, modern: bool) -> Option<Value> {
    let tool = named(uri.strip_prefix(PAGES)?.as_bytes()).filter(|tool| address(tool) == uri)?;
    // Of those that are marked, the server's list alone has the names.
    if settings.destructive.is_none() && !settings.names(&tool) {
        return None;
    }
    // A name in a script ends neither its text nor the script.
    let tool = json::written(&tool.into()).replace('<', "\\u003c");
    let text = format!("{PAGE}<script>const TOOL = {tool}</script>\n");
    let [uri, text] = [uri, &text].map(|text| json::written(&text.into()));
    // A result of 2026-07-28 has to say how long a client may keep it, and for whom.
    let modern = if modern {
        r#","resultType":"complete","ttlMs":3600000,"cacheScope":"public""#
    } else {
        ""
    };
    json::read(&format!(
        r#"{{"contents":[{{"uri":{uri},"mimeType":"{MIME}","text":{text},"_meta":{{"ui":{{"prefersBorder":true}}}}}}]{modern}}}"#
    ))
}

/// Returns what the page shows, and what it sends, as the `_meta` of a result.
#[inline(never)]
pub(crate) fn card(tool: &str, arguments: Option<&str>, words: &Words, token: &str) -> Value {
    let parts = Value::Array(words.parts());
    let text = words.text();
    let title = agrees(&text);
    let call = call(tool, arguments, token);
    let ran = format!("I answered the card with yes: {tool} ran.");
    let failed = "The card was answered with yes, but it was not done.";
    let unknown = "The card was answered with yes; whether it was done is not known.";
    let left = format!("I answered the card with no: {tool} did not run.");
    let [title, ran, failed, unknown, declines, left] =
        [title, &ran, failed, unknown, DECLINES, &left].map(|text| json::written(&text.into()));
    let parts = json::written(&parts);
    let card = format!(
        r#"{{"{KEY}":{{"words":{parts},"yes":{{"title":[{title}],"said":{ran},"failed":{failed},"unknown":{unknown},"call":{call}}},
        "no":{{"title":[{declines}],"said":{left}}}}}}}"#
    );
    json::read(&card).unwrap_or_default()
}

/// Returns the params of a call of [`TOOL`].
fn call(tool: &str, arguments: Option<&str>, token: &str) -> String {
    let [tool, token] = [tool, token].map(|text| json::written(&text.into()));
    let arguments = arguments.unwrap_or("{}");
    format!(
        r#"{{"name":"{TOOL}","arguments":{{"tool":{tool},"arguments":{arguments},"confirmation":{token}}}}}"#
    )
}

/// What a call of [`TOOL`] names.
pub(crate) struct Named {
    /// The tool that it runs.
    pub tool: String,
    /// Its arguments, as JSON.
    pub arguments: Option<String>,
    /// The confirmation, unless it is what clients fill into a member that they know.
    pub token: Option<String>,
}

impl Named {
    /// Reads the arguments of a call of the tool.
    pub fn read(arguments: Option<&str>) -> Option<Self> {
        let mut given = json::read(arguments?)?;
        let text = |value: &Value| value.as_str().map(String::from);
        let token = given.get("confirmation").and_then(text);
        Some(Self {
            tool: given.get("tool").and_then(text)?,
            arguments: match given.get_mut("arguments").map(Value::take) {
                // Some models write them as a text.
                Some(Value::String(written)) => Some(written),
                Some(value @ Value::Object(_)) => Some(json::written(&value)),
                _ => None,
            },
            token: token.filter(|token| token.starts_with("yes_")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{address, page};
    use crate::guard::Guard;
    use sealwax::{Codec, Key, KeyRing};

    /// The rest is in the transcripts.
    #[test]
    fn a_name_of_any_characters_has_a_page() {
        let ring = KeyRing::new([Key::generate().unwrap()]).unwrap();
        let codec = Codec::new(ring, "https://mcp.example.com").unwrap();
        let guard = Guard::builder(codec).confirm_destructive(false);
        let guard = guard.build().unwrap();
        for (tool, name, written) in [
            ("a/b é", "a%2Fb%20%C3%A9", "\"a/b é\""),
            ("\"</script>", "%22%3C%2Fscript%3E", r#""\"\u003c/script>""#),
        ] {
            let uri = format!("ui://sealwax/confirm/1/{name}");
            assert_eq!(address(tool), uri);
            let found = page(guard.settings(), &uri, true).unwrap();
            let text = found["contents"][0]["text"].as_str().unwrap();
            let script = format!("<script>const TOOL = {written}</script>\n");
            assert!(text.ends_with(&script), "{tool}");
        }
        // Another writing of the same name is another address.
        for other in ["%", "%4", "%4X", "%64%65", "%ff", "%c3%a9", "\u{e9}"] {
            let uri = format!("ui://sealwax/confirm/1/{other}");
            assert!(page(guard.settings(), &uri, true).is_none(), "{uri}");
        }
    }
}
