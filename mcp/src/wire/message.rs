//! What a message is, by its bytes: read once, and strictly, so that nobody behind takes it for another one.

use std::ops::Range;

use super::spans::{Member, Object, Unread, items, object, string, whole};
use crate::message::input::{ClientValue, OwnedClientValue};
use crate::message::token_fields::TokenFields;

/// The first revision without sessions of the transport.
pub(crate) const MODERN: &str = "2026-07-28";

/// A message that came from a client.
#[derive(Debug, Default)]
pub(crate) struct Came {
    /// The id of a request, as it was written.
    pub id: Option<String>,
    /// `None` for a client's response, and for a batch.
    pub method: Option<String>,
    /// The member of `params` that [`TokenFields::target`] names.
    pub target: Option<String>,
    pub is_notification: bool,
    /// The revision that its `_meta` names.
    pub claim: Claim,
    /// SEP-1359's `sessionId`: beside `params`, or inside a client's `result`.
    pub session_id: OwnedClientValue,
    /// What to cut to remove that.
    pub cut: Option<Range<usize>>,
    /// The `params` of `initialize`.
    pub initialize: Option<String>,
    /// The id of the request that it cancels, as it was written.
    pub cancels: Option<String>,
}

/// The revision that a message names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Claim {
    #[default]
    None,
    Earlier,
    Modern,
}

impl Claim {
    /// Returns what a value claims. What is no revision counts by the order of its text: the SDK refuses it with
    /// `UnsupportedProtocolVersionError`, which lists what the server has (SEP-2575).
    pub fn of(version: ClientValue<'_>) -> Self {
        match version {
            ClientValue::Absent => Self::None,
            ClientValue::Text(text) if text >= MODERN => Self::Modern,
            _ => Self::Earlier,
        }
    }
}

const TEXT: Unread = Unread::Unclear("a method that is a text of well-formed Unicode");
const ID: Unread = Unread::Unclear("an id that is a text or an integer");
const MESSAGE: Unread = Unread::Unclear("a message that is an object of JSON");

impl Came {
    /// Reads the bytes of a message, or of a batch as revision 2025-03-26 has it.
    pub fn read(bytes: &[u8], may_be_batch: bool) -> Result<Self, Unread> {
        // JSON in UTF-8 begins without a byte order mark (RFC 8259, section 8.1).
        let text = str::from_utf8(bytes).map_err(|_| Unread::NoJson)?;
        match whole(text, NAMES)? {
            Some(message) => Self::of(text, message),
            None if may_be_batch => Self::batch(text),
            None => Err(MESSAGE),
        }
    }

    fn batch(text: &str) -> Result<Self, Unread> {
        if !text.trim_start().starts_with('[') {
            return Err(MESSAGE);
        }
        let items = items(text);
        if items.is_empty() {
            return Err(MESSAGE);
        }
        for item in items {
            let message = object(text, &item, NAMES)?.ok_or(MESSAGE)?;
            Self::of(text, message)?;
        }
        // It is no request of its own, and needs the session that a client's response needs.
        Ok(Self::default())
    }

    fn of(text: &str, message: Object<5>) -> Result<Self, Unread> {
        let [id, method, params, result, session_id] = message.members;
        let of = |member: &Member| text.get(member.value.clone()).unwrap_or_default();
        let mut came = Self::default();
        if let Some(member) = session_id {
            came.take_session_id(of(&member), member.cut);
        }
        let Some(method) = method else {
            if let (None, Some(result)) = (&came.cut, &result)
                && let Some(result) = object(text, &result.value, ["sessionId"])?
                && let [Some(member)] = result.members
            {
                came.take_session_id(of(&member), member.cut);
            }
            return Ok(came);
        };
        let method = string(of(&method)).ok_or(TEXT)?.into_owned();
        came.is_notification = id.is_none();
        if let Some(id) = id.as_ref().map(of) {
            came.id = Some(is_id(id).then(|| id.to_owned()).ok_or(ID)?);
        }
        if let Some(params) = &params {
            came.read_params(text, &method, &params.value)?;
            if method == "initialize" {
                came.initialize = Some(of(params).to_owned());
            }
        } else if method == "initialize" {
            came.initialize = Some("null".into());
        }
        came.method = Some(method);
        Ok(came)
    }

    fn take_session_id(&mut self, json: &str, cut: Range<usize>) {
        self.cut = Some(cut);
        self.session_id = value(json);
    }

    fn read_params(
        &mut self,
        text: &str,
        method: &str,
        params: &Range<usize>,
    ) -> Result<(), Unread> {
        let fields = TokenFields::for_method(method);
        // What nothing has twice for the guard may not be there twice for the SDK either.
        let param = fields.map_or("_meta", |fields| fields.param);
        let target = fields.and_then(|fields| fields.target).unwrap_or("_meta");
        let names = [
            "_meta",
            param,
            target,
            "arguments",
            "inputResponses",
            "requestId",
            "reason",
        ];
        let Some(params) = object(text, params, names)? else {
            return Ok(());
        };
        let of = |member: &Member| text.get(member.value.clone()).unwrap_or_default();
        let [meta, _, target, _, _, cancels, reason] = params.members;
        self.target = target.and_then(|target| string(of(&target)).map(Into::into));
        // One whose reason is no text cancels nothing at SDKs that read it by its schema.
        let has_reason = reason.is_none_or(|reason| string(of(&reason)).is_some());
        if method == "notifications/cancelled" && has_reason {
            self.cancels = cancels.map(|id| of(&id).to_owned());
        }
        if let Some(meta) = meta
            && let Some(meta) = object(text, &meta.value, META)?
            && let [Some(version), ..] = meta.members
        {
            self.claim = Claim::of(value(of(&version)).borrowed());
        }
        Ok(())
    }
}

const NAMES: [&str; 5] = ["id", "method", "params", "result", "sessionId"];
const META: [&str; 3] = [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/session",
];

/// Returns a client's value where a text is expected.
fn value(json: &str) -> OwnedClientValue {
    match string(json) {
        _ if json == "null" => OwnedClientValue::Absent,
        Some(text) => OwnedClientValue::Text(text.into()),
        None => OwnedClientValue::Other,
    }
}

/// Returns whether it is the id of a request: a text, or an integer that no reader rounds.
fn is_id(json: &str) -> bool {
    const LARGEST: u64 = 1 << 53;
    let digits = json.strip_prefix('-').unwrap_or(json);
    // Of which there is one.
    let is_integer = json != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = is_integer.then(|| digits.parse()).and_then(Result::ok);
    number.is_some_and(|number: u64| number < LARGEST) || string(json).is_some()
}

/// Returns a text without a place in it.
pub(crate) fn without(text: &str, cut: &Range<usize>) -> String {
    let before = text.get(..cut.start).unwrap_or_default();
    let after = text.get(cut.end..).unwrap_or_default();
    [before, after].concat()
}
