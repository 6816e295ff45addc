"""Confirmations: a tool that runs only for a call that its user agreed to."""

import hashlib
import json

from .builders import *
from .stdio import line


def confirms(**words: object) -> dict:
    """The settings of a server whose tool is confirmed in these words."""
    return {"confirm": {"play": words}}


SETTINGS = confirms(message="Delete note {id}?")
transcripts = Transcripts(SETTINGS)
case = transcripts.case

QUESTION = "io.github.sealwax/confirm"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
WORDS = "Delete note 7?"
#: In milliseconds: the driver's clock begins at it.
NOW = 1_800_000_000_000
YES = {"action": "accept", "content": {"choice": "yes"}}


def pae(*pieces: str | bytes) -> bytes:
    """SPEC.md, "Building blocks"."""
    parts = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    return len(parts).to_bytes(8, "little") + b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def context_of(method: str, target: str, arguments: object) -> str:
    """SPEC.md, "Request context"."""
    canonical = json.dumps(arguments, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(pae(method, target, "" if arguments is None else canonical)).hexdigest()


def request_of(arguments: object = ARGUMENTS) -> str:
    return context_of("tools/call", "play", arguments)


def asked_token(words: str = WORDS, arguments: object = ARGUMENTS, at: int = NOW, **more: object) -> dict:
    """The state of a question."""
    bound = {"request": request_of(arguments), "words": None}
    payload = f"{at} {context_of('confirm', 'play', {**bound, 'words': words})}"
    return state_token(payload=payload, context=["confirm", "play", bound], **more)


def confirmed_token(payload: str, **more: object) -> dict:
    """The state of a confirmed call's handler."""
    return state_token(payload=payload, context=["confirmed", "play", {"request": request_of(), "words": None}], **more)


def form(words: str = WORDS, agrees: str | None = None) -> dict:
    named = [agrees or words.removesuffix("?"), "No, leave it"]
    choice = {"type": "string", "title": "Your choice", "enum": ["yes", "no"], "enumNames": named}
    schema = {"type": "object", "properties": {"choice": choice}, "required": ["choice"]}
    return {"message": words, "requestedSchema": schema}


def asks(
    words: str = WORDS,
    arguments: object = ARGUMENTS,
    *,
    agrees: str | None = None,
    name: str | None = "q",
    **token: object,
) -> dict:
    """What a call hears that is not confirmed yet: the question, and its state, by whose name an answer brings it back."""
    state = asked_token(words, arguments, **({"name": name} if name else {}), **token)
    return {
        "resultType": "input_required",
        "inputRequests": {QUESTION: {"method": "elicitation/create", "params": form(words, agrees)}},
        "requestState": state,
        "$absent": ["content", "isError"],
    }


def told(text: str) -> dict:
    return {"isError": True, "content": [{"type": "text", "text": text}], "$absent": ["requestState", "inputRequests"]}


def as_text(answer: dict) -> dict:
    """The same of a tool that is known to have no output schema."""
    kept = {name: value for name, value in answer.items() if name != "isError"}
    return {**kept, "$absent": [*answer["$absent"], "isError"]}


DECLINED = told("The user declined. play was not run. Do not try again unless the user asks for it.")
CLOSED = told("The user closed the question without an answer. play was not run.")
UNASKED = told(
    "play was not run: it needs the user's consent, and this client did not ask for it. Tell the user to use a client "
    "that supports elicitation."
)
UNCONFIRMED = {"answered": {"result": UNASKED}, "reported": report("unconfirmed", "request-state")}
RAN = runs()


def call(
    *,
    answer: object = None,
    state: object = None,
    capabilities: object = None,
    arguments: object = ARGUMENTS,
    **more: object,
) -> dict:
    """A call of the tool; with an answer to the question, and its state."""
    params = params_of("tools/call", arguments)
    if state is not None:
        params["requestState"] = state
    if answer is not None:
        params["inputResponses"] = {QUESTION: answer}
    if capabilities is not None:
        params["_meta"] = {CAPABILITIES: capabilities}
    return event("tools/call", params=params, **{"asked": ["principal"], **more})


def answered_by(answer: object, after: int = 0, **more: object) -> dict:
    return call(answer=answer, state={"$token": "q"}, after=after, **more)


def refused(code: str) -> dict:
    return refusal(STATE_ERROR, code, "request-state")


ASKED = call(hears=asks())
case("confirm: the user is asked, and agrees", "it runs unasked")(ASKED, answered_by(YES, **RAN))
#: A prompt of the tool's name.
PROMPT = event("prompts/get", asked=["principal"], **gives({"messages": []}, state=None))
case("confirm: other tools and methods run unasked", "a prompt of the tool's name is confirmed")(PROMPT)
for name, answer, after, result in [
    ("chooses no", {"action": "accept", "content": {"choice": "no"}}, 0, DECLINED),
    ("declines", {"action": "decline"}, 1, DECLINED),
    ("closes it", {"action": "cancel"}, 1, CLOSED),
    ("declines at once: nobody saw it", {"action": "decline"}, 0, UNASKED),
    ("closes it at once: nobody saw it", {"action": "cancel"}, 0, UNASKED),
    ("accepts without a choice", {"action": "accept"}, 9, UNASKED),
    ("accepts an empty form", {"action": "accept", "content": {}}, 9, UNASKED),
    ("accepts another choice", {"action": "accept", "content": {"choice": "always"}}, 9, UNASKED),
    ("does nothing", None, 9, UNASKED),
    ("does what no client does", {"action": "yes", "content": {"choice": "yes"}}, 9, UNASKED),
]:
    outcome = UNCONFIRMED if result is UNASKED else {"answered": {"result": result}, "reported": []}
    case(f"confirm: the user {name}", "it runs without a yes")(ASKED, answered_by(answer, after, **outcome))
case("confirm: a no at a replica whose clock is behind is a no", "the model gets a consent after a no")(
    call(answer={"action": "decline"}, state=asked_token(at=NOW + 5_000), hears=DECLINED),
    settings=confirms(message="Delete note {id}?", fallback="preview"),
)
case("confirm: a yes counts once where other states count again", "a setting of requestState makes a yes count again")(
    ASKED,
    answered_by(YES, **RAN),
    answered_by(YES, 590, **refused("used")),
    settings={**SETTINGS, **LEDGER, "ledgerOptions": {"reusableRequestState": True}},
)
case(
    "confirm: a client that did not show the question is not asked for ten minutes",
    "each call is asked about in vain, or no call ever again, or a user's other client is not asked",
)(
    ASKED,
    answered_by({"action": "cancel"}, **UNCONFIRMED),
    call(**UNCONFIRMED),
    call(capabilities={"elicitation": {"form": {}, "url": {}}}, hears=asks(name=None)),
    call(after=599, **UNCONFIRMED),
    call(after=1, hears=asks(at=NOW + 600_000, name=None)),
)
case("confirm: a user who declined is asked again", "a no counts as a client that shows nothing")(
    ASKED, answered_by({"action": "decline"}, 1, hears=DECLINED), call(hears=asks(at=NOW + 1_000, name=None))
)
for name, capabilities in [("says nothing of eliciting", {}), ("elicits by URLs alone", {"elicitation": {"url": {}}})]:
    case(f"confirm: a client that {name} is told", "a client that cannot ask is asked")(
        call(capabilities=capabilities, **UNCONFIRMED)
    )
case("confirm: a client of an earlier revision elicits by any form", "{} is no form")(
    call(capabilities={"elicitation": {}}, hears=asks())
)
case(
    "confirm: a client that cannot be asked while it waits is told", "a client of 2025-11-25 gets what is of 2026-07-28"
)(call(era="legacy", **UNCONFIRMED))
case("confirm: an answer without its question is none", "a client's word is a confirmation")(
    call(answer=YES, hears=asks())
)
for name, more, code in [
    ("for another user", {"who": "bob"}, "principal_mismatch"),
    ("for other arguments", {"arguments": {"id": 8}}, "unauthentic"),
    ("for none", {"arguments": {}}, "unauthentic"),
]:
    case(f"confirm: what was agreed to counts {name} nothing", "a confirmation is bound to nothing")(
        ASKED, answered_by(YES, **more, **refused(code))
    )
case("confirm: a question is answered for ten minutes", "a confirmation counts for ever")(
    ASKED, answered_by(YES, 601, **refused("expired"))
)
case("confirm: for as long as the author says", "the setting has no effect")(
    call(hears=asks(ttl=60)), answered_by(YES, 61, **refused("expired")), settings={**SETTINGS, "confirmTtl": 60}
)
case("confirm: with a ledger it counts once", "one yes runs it twice")(
    ASKED,
    answered_by(YES, commands=["admit"], **RAN),
    answered_by(YES, commands=["admit"], **refused("used")),
    settings={**SETTINGS, **LEDGER},
)
case("confirm: a session goes with it, and both are judged at once", "the one that was used is taken for the session")(
    create(payload="0"),
    call(session=S, hears=asks()),
    answered_by(YES, session=S, **{**RAN, "delivered": {"state": None, **seen(0)}}),
    answered_by(YES, session=S, **refused("used")),
    settings={**SETTINGS, **WITH_SESSIONS},
)
case(
    "confirm: a state that nobody confirmed runs nothing",
    "a state of a replica without this confirmation runs the handler",
)(call(state=state_token(payload='{"asked":1}'), **refused("unauthentic")))
#: A confirmed handler that asks back, and the round after.
GOES_ON = asks_back('{"asked":1}', resultType="input_required", requestState=confirmed_token('{"asked":1}', name="h"))
WENT_ON = call(state={"$token": "h"}, **reads('{"asked":1}'))
case("confirm: a confirmed handler may ask back, and goes on", "its second round is confirmed again, or nobody's")(
    ASKED, answered_by(YES, **GOES_ON), WENT_ON
)
case("confirm: the question's state is none of the handler's", "a handler sees what the guard sealed for itself")(
    call(state=asked_token(), answer=YES, **reads(None))
)
case("confirm: other words are asked anew", "the words change after the user read them")(
    call(state=asked_token(words="Delete note 8?"), answer=YES, hears=asks())
)
case("confirm: no arguments are one call, however they are sent", "a gateway that adds {} is asked for ever")(
    call(arguments=None, hears=asks("Empty it?", None)),
    answered_by(YES, arguments={}, **RAN),
    settings=confirms(message="Empty it?"),
)
EVIL = {"to": 'me"\n\u202eevil\u200b', "all": [1, None]}
case("confirm: arguments are shown as JSON, and nothing hides", "an argument passes for words of the server's")(
    call(arguments=EVIL, hears=asks('To "me\\"\\n\\u{202e}evil\\u{200b}" [1,null] (none)', EVIL, name=None)),
    settings=confirms(message="To {to} {all} {other}"),
)
HEBREW = {"from": "\u05e9\u05dc\u05d5\u05dd", "to": "me"}
case("confirm: what is written from right to left keeps its place", "two arguments change places")(
    call(arguments=HEBREW, hears=asks('From \u2068"\u05e9\u05dc\u05d5\u05dd"\u2069 to "me"?', HEBREW, name=None)),
    settings=confirms(message="From {from} to {to}?"),
)
LONG = "x" * 4096
SHOWN = f'Keep "{LONG}"?'
CUT = f"{SHOWN[:4000]}… (and {len(SHOWN) - 4000} characters more)"
case(
    "confirm: a long argument is shown as far as it goes, and what is left out is said",
    "the end of an argument is not bound",
)(
    call(arguments={"text": LONG}, hears=asks(CUT, {"text": LONG}, agrees="Yes, do it")),
    answered_by(YES, arguments={"text": LONG}, **RAN),
    answered_by(YES, arguments={"text": f"{LONG}x"}, **refused("unauthentic")),
    settings=confirms(message="Keep {text}?"),
)
UNBOUND = 'argument "id": expected numbers of magnitude below 2^53: pass a larger one as a string'
case("confirm: arguments that cannot be bound are named to the model", "two numbers are one to some languages")(
    call(
        arguments={"id": 9007199254740993},
        hears=told(f"Invalid arguments. {UNBOUND}"),
        reported=report("invalid_request", "request-state"),
    )
)
case("confirm: only what is bound has to stay", "`only` has no effect")(
    call(arguments={"id": 7, "trace": "a"}, hears=asks()),
    answered_by(YES, arguments={"id": 7, "trace": "b"}, **RAN),
    settings={**SETTINGS, "only": {"play": ["id"]}},
)
BY_FUNCTION = {"asked": ["principal", "confirm"]}
case("confirm: the author's function makes the words", "the function is not asked")(
    call(**BY_FUNCTION, hears=asks("Delete it?")),
    answered_by(YES, **BY_FUNCTION, **RAN),
    settings=confirms(words="Delete it?"),
)
BY_ITS_TYPE = dict.fromkeys(("go", "rust"), "its function returns a text by its type")
for name, words, reasons in [
    ("throws", None, None),
    ("makes no text", 7, BY_ITS_TYPE),
    ("makes an empty text", " ", None),
]:
    case(f"confirm: nothing runs if the author's function {name}", "it runs without a question")(
        call(**BY_FUNCTION, **refusal(INTERNAL, "invalid_argument", "request-state")),
        settings=confirms(words=words),
        not_=reasons,
    )
case("confirm: nobody is asked whom the server does not know", "a confirmation is nobody's")(
    call(who="nobody", **refusal(UNAUTHENTICATED, "unauthenticated", "request-state"))
)
case("confirm: an altered question is refused", "a client makes its own")(
    call(state=asked_token(change="flip"), answer=YES, **refused("unauthentic"))
)

# ---- on a connection of an earlier revision ----

ELICITS = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"elicitation": {}}}}
CONNECTED = line(
    ELICITS, asked=["principal"], delivered={}, hears={"protocolVersion": "2025-11-25", "sessionTimeout": 2592000}
)
for name, answer, after, outcome in [
    ("agrees", {"result": YES}, 0, RAN),
    ("declines", {"result": {"action": "decline"}}, 2, {"answered": {"result": DECLINED}}),
    ("closes it at once: nobody saw it", {"result": {"action": "cancel"}}, 0, UNCONFIRMED),
    ("cannot be asked after all", {"error": NO_METHOD}, 0, UNCONFIRMED),
]:
    case(f"confirm: on a connection the user {name}", "an older client is not asked")(
        CONNECTED,
        line(CALL, asked=["principal"], elicited=[form()], elicits={**answer, "after": after}, **outcome),
        settings={**SETTINGS, **SEP},
    )
