"""Confirmations: a tool that runs only for a call that its user agreed to."""

import hashlib
import json

from .builders import (
    ARGUMENTS,
    INITIALIZE,
    LEDGER,
    SEP,
    STATE_ERROR,
    WITH_SESSIONS,
    Transcripts,
    ask_back,
    create,
    done,
    event,
    params_of,
    refused_state,
    report,
    state_token,
)
from .stdio import line

transcripts = Transcripts()
case = transcripts.case

QUESTION = "io.github.sealwax/confirm"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
WORDS = "Delete note 7?"
#: In milliseconds: the driver's clock begins at it.
NOW = 1_800_000_000_000
SETTINGS = {"confirm": {"play": {"message": "Delete note {id}?"}}}
BY_FUNCTION = {"confirm": {"play": {"words": "Delete it?"}}}
BY_CHOICE = {"choice": "yes"}
YES = {"action": "accept", "content": BY_CHOICE}


def context_of(method: str, target: str, arguments: object) -> str:
    """SPEC.md, "Request context"."""
    canonical = json.dumps(arguments, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    parts = [part.encode() for part in (method, target, "" if arguments is None else canonical)]
    encoded = [len(parts).to_bytes(8, "little")]
    for part in parts:
        encoded += [len(part).to_bytes(8, "little"), part]
    return hashlib.sha256(b"".join(encoded)).hexdigest()


def request_of(arguments: object = ARGUMENTS) -> str:
    return context_of("tools/call", "play", arguments)


def asked_token(words: str = WORDS, arguments: object = ARGUMENTS, at: int = NOW, **more: object) -> dict:
    """The state of a question."""
    bound = {"request": request_of(arguments), "words": None}
    payload = f"{at} {context_of('confirm', 'play', {**bound, 'words': words})}"
    token = {"kind": "request-state", "context": ["confirm", "play", bound], "as": "alice", "payload": payload}
    return {"$token": {**token, **more}}


def confirmed_token(payload: str, **more: object) -> dict:
    """The state of a confirmed call's handler."""
    context = ["confirmed", "play", {"request": request_of(), "words": None}]
    return {"$token": {"kind": "request-state", "context": context, "as": "alice", "payload": payload, **more}}


def form(words: str = WORDS, agrees: str = "Delete note 7") -> dict:
    choice = {"type": "string", "title": "Your choice", "enum": ["yes", "no"], "enumNames": [agrees, "No, leave it"]}
    schema = {"type": "object", "properties": {"choice": choice}, "required": ["choice"]}
    return {"message": words, "requestedSchema": schema}


def asks(token: object = None, **more: object) -> dict:
    """What a call hears that is not confirmed yet."""
    question = {"method": "elicitation/create", "params": form(**more)}
    state = asked_token(name="q") if token is None else token
    return {
        "resultType": "input_required",
        "inputRequests": {QUESTION: question},
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
RAN = {
    "handler": [done()],
    "delivered": {"state": None},
    "answered": {"result": {"content": [{"type": "text", "text": "done"}]}},
}


def call(*, answer: object = None, state: object = None, capabilities: object = None, **more: object) -> dict:
    """A call of the tool; with an answer to the question, and its state."""
    params: dict = {}
    if state is not None:
        params["requestState"] = state
    if answer is not None:
        params["inputResponses"] = {QUESTION: answer}
    if capabilities is not None:
        params["_meta"] = {CAPABILITIES: capabilities}
    arguments = more.pop("arguments", ARGUMENTS)
    given = {"name": "play", **({} if arguments is None else {"arguments": arguments}), **params}
    return event("tools/call", params=given, **{"asked": ["principal"], **more})


def answered_by(answer: object, after: int = 0, **more: object) -> dict:
    return call(answer=answer, state={"$token": "q"}, after=after, **more)


ASKED = call(answered={"result": asks()})


case(
    "confirm: the user is asked, and agrees", ASKED, answered_by(YES, **RAN), settings=SETTINGS, fault="it runs unasked"
)
case(
    "confirm: other tools and methods run unasked",
    event(
        "prompts/get",
        asked=["principal"],
        handler=[["return", {"messages": []}]],
        delivered={"state": None},
        answered={"result": {"messages": []}},
    ),
    settings=SETTINGS,
    fault="a prompt of the tool's name is confirmed",
)
for name, answer, after, result, reported in [
    ("chooses no", {"action": "accept", "content": {"choice": "no"}}, 0, DECLINED, []),
    ("declines", {"action": "decline"}, 1, DECLINED, []),
    ("closes it", {"action": "cancel"}, 1, CLOSED, []),
    ("declines at once: nobody saw it", {"action": "decline"}, 0, UNASKED, report("unconfirmed", "request-state")),
    ("closes it at once: nobody saw it", {"action": "cancel"}, 0, UNASKED, report("unconfirmed", "request-state")),
    ("accepts without a choice", {"action": "accept"}, 9, UNASKED, report("unconfirmed", "request-state")),
    ("accepts an empty form", {"action": "accept", "content": {}}, 9, UNASKED, report("unconfirmed", "request-state")),
    (
        "accepts another choice",
        {"action": "accept", "content": {"choice": "always"}},
        9,
        UNASKED,
        report("unconfirmed", "request-state"),
    ),
    ("does nothing", None, 9, UNASKED, report("unconfirmed", "request-state")),
    (
        "does what no client does",
        {"action": "yes", "content": BY_CHOICE},
        9,
        UNASKED,
        report("unconfirmed", "request-state"),
    ),
]:
    case(
        f"confirm: the user {name}",
        ASKED,
        answered_by(answer, after, answered={"result": result}, reported=reported),
        settings=SETTINGS,
        fault="it runs without a yes",
    )
case(
    "confirm: a no at a replica whose clock is behind is a no",
    call(answer={"action": "decline"}, state=asked_token(at=NOW + 5_000), answered={"result": DECLINED}),
    settings={"confirm": {"play": {"message": "Delete note {id}?", "fallback": "preview"}}},
    fault="the model gets a consent after a no",
)
case(
    "confirm: a yes counts once where other states count again",
    ASKED,
    answered_by(YES, **RAN),
    answered_by(YES, **refused_state(reported=report("used", "request-state"))),
    settings={**SETTINGS, **LEDGER, "ledgerOptions": {"reusableRequestState": True}},
    fault="a setting of requestState makes a yes count again",
)
UNCONFIRMED = {"answered": {"result": UNASKED}, "reported": report("unconfirmed", "request-state")}
case(
    "confirm: a client that did not show the question is not asked for ten minutes",
    ASKED,
    answered_by({"action": "cancel"}, **UNCONFIRMED),
    call(**UNCONFIRMED),
    call(capabilities={"elicitation": {"form": {}, "url": {}}}, answered={"result": asks(asked_token())}),
    call(after=599, **UNCONFIRMED),
    call(after=1, answered={"result": asks(asked_token(at=NOW + 600_000))}),
    settings=SETTINGS,
    fault="each call is asked about in vain, or no call ever again, or a user's other client is not asked",
)
case(
    "confirm: a user who declined is asked again",
    ASKED,
    answered_by({"action": "decline"}, 1, answered={"result": DECLINED}),
    call(answered={"result": asks(asked_token(at=NOW + 1_000))}),
    settings=SETTINGS,
    fault="a no counts as a client that shows nothing",
)
for name, capabilities in [
    ("says nothing of eliciting", {}),
    ("elicits by URLs alone", {"elicitation": {"url": {}}}),
]:
    case(
        f"confirm: a client that {name} is told",
        call(
            capabilities=capabilities,
            answered={"result": UNASKED},
            reported=report("unconfirmed", "request-state"),
        ),
        settings=SETTINGS,
        fault="a client that cannot ask is asked",
    )
case(
    "confirm: a client of an earlier revision elicits by any form",
    call(capabilities={"elicitation": {}}, answered={"result": asks()}),
    settings=SETTINGS,
    fault="{} is no form",
)
case(
    "confirm: a client that cannot be asked while it waits is told",
    call(era="legacy", answered={"result": UNASKED}, reported=report("unconfirmed", "request-state")),
    settings=SETTINGS,
    fault="a client of 2025-11-25 gets what is of 2026-07-28",
)
case(
    "confirm: an answer without its question is none",
    call(answer=YES, answered={"result": asks()}),
    settings=SETTINGS,
    fault="a client's word is a confirmation",
)
for name, more in [
    ("for another user", {"who": "bob"}),
    ("for other arguments", {"arguments": {"id": 8}}),
    ("for none", {"arguments": {}}),
]:
    code = "principal_mismatch" if "who" in more else "unauthentic"
    case(
        f"confirm: what was agreed to counts {name} nothing",
        ASKED,
        answered_by(YES, **more, **refused_state(reported=report(code, "request-state"))),
        settings=SETTINGS,
        fault="a confirmation is bound to nothing",
    )
case(
    "confirm: a question is answered for ten minutes",
    ASKED,
    answered_by(YES, 601, **refused_state(reported=report("expired", "request-state"))),
    settings=SETTINGS,
    fault="a confirmation counts for ever",
)
case(
    "confirm: for as long as the author says",
    call(answered={"result": asks(asked_token(name="q", ttl=60))}),
    answered_by(YES, 61, **refused_state(reported=report("expired", "request-state"))),
    settings={**SETTINGS, "confirmTtl": 60},
    fault="the setting has no effect",
)
case(
    "confirm: with a ledger it counts once",
    ASKED,
    answered_by(YES, commands=["admit"], **RAN),
    answered_by(YES, commands=["admit"], **refused_state(reported=report("used", "request-state"))),
    settings={**SETTINGS, **LEDGER},
    fault="one yes runs it twice",
)
SESSION = {"$session": "s"}
case(
    "confirm: a session goes with it, and both are judged at once",
    create(payload="0"),
    call(session=SESSION, answered={"result": asks()}),
    answered_by(
        YES, session=SESSION, **{**RAN, "delivered": {"state": None, "session": {"value": 0, "generation": 0}}}
    ),
    answered_by(YES, session=SESSION, **refused_state(reported=report("used", "request-state"))),
    settings={**SETTINGS, **WITH_SESSIONS},
    fault="the one that was used is taken for the session",
)
case(
    "confirm: a state that nobody confirmed runs nothing",
    call(state=state_token(payload='{"asked":1}'), **refused_state(reported=report("unauthentic", "request-state"))),
    settings=SETTINGS,
    fault="a state of a replica without this confirmation runs the handler",
)
case(
    "confirm: a confirmed handler may ask back, and goes on",
    ASKED,
    answered_by(
        YES,
        handler=[ask_back('{"asked":1}')],
        delivered={"state": None},
        answered={"result": {"resultType": "input_required", "requestState": confirmed_token('{"asked":1}', name="h")}},
    ),
    call(
        state={"$token": "h"},
        handler=[["state"], done()],
        did=['{"asked":1}'],
        delivered={"state": '{"asked":1}'},
        answered=RAN["answered"],
    ),
    settings=SETTINGS,
    fault="its second round is confirmed again, or nobody's",
)
case(
    "confirm: the question's state is none of the handler's",
    call(
        state=asked_token(),
        answer=YES,
        handler=[["state"], done()],
        did=[None],
        delivered={"state": None},
        answered=RAN["answered"],
    ),
    settings=SETTINGS,
    fault="a handler sees what the guard sealed for itself",
)
case(
    "confirm: other words are asked anew",
    call(
        state=asked_token(words="Delete note 8?"),
        answer=YES,
        answered={"result": asks()},
    ),
    settings=SETTINGS,
    fault="the words change after the user read them",
)
case(
    "confirm: no arguments are one call, however they are sent",
    call(
        arguments=None,
        answered={"result": asks(asked_token("Empty it?", None, name="q"), words="Empty it?", agrees="Empty it")},
    ),
    answered_by(YES, arguments={}, **RAN),
    settings={"confirm": {"play": {"message": "Empty it?"}}},
    fault="a gateway that adds {} is asked for ever",
)
case(
    "confirm: arguments are shown as JSON, and nothing hides",
    call(
        arguments={"to": 'me"\n\u202eevil\u200b', "all": [1, None]},
        answered={
            "result": asks(
                asked_token(
                    'To "me\\"\\n\\u{202e}evil\\u{200b}" [1,null] (none)',
                    {"to": 'me"\n\u202eevil\u200b', "all": [1, None]},
                ),
                words='To "me\\"\\n\\u{202e}evil\\u{200b}" [1,null] (none)',
                agrees='To "me\\"\\n\\u{202e}evil\\u{200b}" [1,null] (none)',
            )
        },
    ),
    settings={"confirm": {"play": {"message": "To {to} {all} {other}"}}},
    fault="an argument passes for words of the server's",
)
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
case(
    "confirm: what is written from right to left keeps its place",
    call(
        arguments={"from": HEBREW, "to": "me"},
        answered={
            "result": asks(
                asked_token(f'From \u2068"{HEBREW}"\u2069 to "me"?', {"from": HEBREW, "to": "me"}),
                words=f'From \u2068"{HEBREW}"\u2069 to "me"?',
                agrees=f'From \u2068"{HEBREW}"\u2069 to "me"',
            )
        },
    ),
    settings={"confirm": {"play": {"message": "From {from} to {to}?"}}},
    fault="two arguments change places",
)
LONG = "x" * 4096
SHOWN = f'Keep "{LONG}"?'
CUT = f"{SHOWN[:4000]}… (and {len(SHOWN) - 4000} characters more)"
case(
    "confirm: a long argument is shown as far as it goes, and what is left out is said",
    call(
        arguments={"text": LONG},
        answered={"result": asks(asked_token(CUT, {"text": LONG}, name="q"), words=CUT, agrees="Yes, do it")},
    ),
    answered_by(YES, arguments={"text": LONG}, **RAN),
    answered_by(YES, arguments={"text": f"{LONG}x"}, **refused_state(reported=report("unauthentic", "request-state"))),
    settings={"confirm": {"play": {"message": "Keep {text}?"}}},
    fault="the end of an argument is not bound",
)
case(
    "confirm: arguments that cannot be bound are named to the model",
    call(
        arguments={"id": 9007199254740993},
        answered={
            "result": told(
                'Invalid arguments. argument "id": expected numbers of magnitude below 2^53: pass a larger one as a string'
            )
        },
        reported=report("invalid_request", "request-state"),
    ),
    settings=SETTINGS,
    fault="two numbers are one to some languages",
)
case(
    "confirm: only what is bound has to stay",
    call(arguments={"id": 7, "trace": "a"}, answered={"result": asks(asked_token(arguments={"id": 7}, name="q"))}),
    answered_by(YES, arguments={"id": 7, "trace": "b"}, **RAN),
    settings={**SETTINGS, "only": {"play": ["id"]}},
    fault="`only` has no effect",
)
case(
    "confirm: the author's function makes the words",
    call(
        asked=["principal", "confirm"],
        answered={"result": asks(asked_token("Delete it?", name="q"), words="Delete it?", agrees="Delete it")},
    ),
    answered_by(YES, asked=["principal", "confirm"], **RAN),
    settings=BY_FUNCTION,
    fault="the function is not asked",
)
for name, words in [("throws", None), ("makes no text", 7), ("makes an empty text", " ")]:
    case(
        f"confirm: nothing runs if the author's function {name}",
        call(
            asked=["principal", "confirm"],
            answered={"error": {"code": -32603, "message": "Internal error"}},
            reported=report("invalid_argument", "request-state"),
        ),
        settings={"confirm": {"play": {"words": words}}},
        not_={language: "its function returns a text by its type" for language in ("go", "rust")}
        if words == 7
        else None,
        fault="it runs without a question",
    )
case(
    "confirm: nobody is asked whom the server does not know",
    call(
        who="nobody",
        asked=["principal"],
        answered={"error": {"code": -32602, "message": "Authentication required"}},
        reported=report("unauthenticated", "request-state"),
    ),
    settings=SETTINGS,
    fault="a confirmation is nobody's",
)
case(
    "confirm: an altered question is refused",
    call(
        state=asked_token(change="flip"),
        answer=YES,
        answered={"error": STATE_ERROR},
        reported=report("unauthentic", "request-state"),
    ),
    settings=SETTINGS,
    fault="a client makes its own",
)

# ---- on a connection of an earlier revision ----

ELICITS = {**INITIALIZE, "params": {**INITIALIZE["params"], "capabilities": {"elicitation": {}}}}
CONNECTED = line(
    ELICITS,
    asked=["principal"],
    delivered={},
    answered={"result": {"protocolVersion": "2025-11-25", "sessionTimeout": 2592000}},
)
ON_CONNECTION = {"method": "tools/call", "params": params_of("tools/call")}
for name, answer, after, outcome in [
    ("agrees", {"result": YES}, 0, {**RAN, "asked": ["principal"]}),
    ("declines", {"result": {"action": "decline"}}, 2, {"answered": {"result": DECLINED}}),
    (
        "closes it at once: nobody saw it",
        {"result": {"action": "cancel"}},
        0,
        {"answered": {"result": UNASKED}, "reported": report("unconfirmed", "request-state")},
    ),
    (
        "cannot be asked after all",
        {"error": {"code": -32601, "message": "Method not found"}},
        0,
        {"answered": {"result": UNASKED}, "reported": report("unconfirmed", "request-state")},
    ),
]:
    case(
        f"confirm: on a connection the user {name}",
        CONNECTED,
        line(
            ON_CONNECTION,
            **{"asked": ["principal"], "elicited": [form()], "elicits": {**answer, "after": after}, **outcome},
        ),
        settings={**SETTINGS, **SEP},
        fault="an older client is not asked",
    )
