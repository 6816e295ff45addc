"""Confirmations in clients that do not elicit: by a page of the guard's, or by the model after a preview."""

import json

from .builders import INTERNAL, LEDGER, NEGOTIATED, Transcripts, done, event, http, report, session_token
from .confirm import (
    CAPABILITIES,
    QUESTION,
    RAN,
    SETTINGS,
    UNASKED,
    UNCONFIRMED,
    WORDS,
    as_text,
    ask_back,
    asks,
    call,
    confirmed_token,
    request_of,
    told,
)

transcripts = Transcripts()
case = transcripts.case

TOOL = "sealwax_confirm"
PAGE = "ui://sealwax/confirm/1/play"
APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
PREVIEW = {"confirm": {"play": {"message": "Delete note {id}?", "fallback": "preview"}}}
NOTHING: dict = {}
ARGUMENTS = {"id": 7}
SPENT = told(
    "play was not run: this confirmation does not count. It may be used, expired, not yours, or for other arguments. Call "
    "play again to get a new one."
)


def consent(words: str = WORDS, arguments: object = ARGUMENTS, **more: object) -> dict:
    bound = {"request": request_of(arguments), "words": words}
    return {"$token": {"kind": "consent", "context": ["confirm", "play", bound], "as": "alice", **more}}


def previewed(words: str = WORDS, **more: object) -> dict:
    """What a model hears that brings the answer itself."""
    before = (
        "play was not run: it needs the user's consent, and this client did not ask for it. Ask the user yourself, and wait "
        f"for the answer: {words}\nOnly if the user agrees, call {TOOL} with tool play, the same arguments, and confirmation "
    )
    return told({"$text": [before, consent(words, name="y", **more), ""]})


def carded(words: list | None = None, title: list | None = None, arguments: object = ARGUMENTS, **more: object) -> dict:
    """What the page gets, and the model's part of it."""
    yes = {
        "title": title or ["Delete note 7"],
        "said": "I answered the card with yes: play ran.",
        "failed": "The card was answered with yes, but it was not done.",
        "unknown": "The card was answered with yes; whether it was done is not known.",
        "call": {"name": TOOL, "arguments": {"tool": "play", "arguments": arguments, "confirmation": more["token"]}},
    }
    no = {"title": ["No, leave it"], "said": "I answered the card with no: play did not run."}
    card = {"words": words or ["Delete note ", "7", "?"], "yes": yes, "no": no}
    text = (
        "[card] The user is asked on a card. play was not run: do not call it again, wait for the user's answer. If the user "
        "sees no card, say that this client cannot ask."
    )
    return {**told(text), "_meta": {QUESTION: card}}


CARDED = carded(token=consent(name="y"))


def by_tool(
    confirmation: object = None, *, arguments: object = ARGUMENTS, capabilities: object = APPS, **more: object
) -> dict:
    """A call of the guard's tool."""
    given: dict = {"tool": "play"}
    if arguments is not None:
        given["arguments"] = arguments
    if confirmation is not None:
        given["confirmation"] = confirmation
    params = {"name": TOOL, "arguments": given, "_meta": {CAPABILITIES: capabilities}, **more.pop("params", {})}
    return event("tools/call", params=params, **{"asked": ["principal"], **more})


def refused(code: str, **more: object) -> dict:
    return {"answered": {"result": SPENT}, "reported": report(code, "handle"), **more}


UNAVAILABLE = {
    "delivered": None,
    "answered": {"error": INTERNAL},
    "reported": report("ledger_unavailable", "handle"),
}
RUNS = {**RAN, "delivered": {"state": None, "arguments": ARGUMENTS}}
Y = {"$token": "y"}

for name, settings, capabilities, answered in [
    ("card", SETTINGS, APPS, CARDED),
    ("preview", PREVIEW, NOTHING, previewed()),
]:
    first = call(capabilities=capabilities, answered={"result": answered})
    of = {"capabilities": capabilities}
    case(
        f"{name}: a yes runs the tool with its arguments",
        first,
        by_tool(Y, **of, **RUNS),
        settings=settings,
        fault="no yes counts",
    )
    for what, more, code in [
        ("for another user", {"who": "bob"}, "unauthentic"),
        ("for other arguments", {"arguments": {"id": 8}}, "unauthentic"),
        ("for none", {"arguments": None}, "unauthentic"),
        ("after ten minutes", {"after": 601}, "expired"),
    ]:
        case(
            f"{name}: a yes counts nothing {what}",
            first,
            by_tool(Y, **of, **refused(code, **more)),
            settings=settings,
            fault="a yes is bound to nothing",
        )
    case(
        f"{name}: with a ledger it counts once",
        first,
        by_tool(Y, **of, **RUNS),
        by_tool(Y, **of, **refused("used")),
        settings={**settings, **LEDGER},
        fault="one yes runs it twice",
    )
    case(
        f"{name}: it counts once where other states count again",
        first,
        by_tool(Y, **of, **RUNS),
        by_tool(Y, **of, **refused("used")),
        settings={**settings, **LEDGER, "ledgerOptions": {"reusableRequestState": True}},
        fault="a setting of requestState makes a yes count again",
    )
    case(
        f"{name}: without the ledger's answer it is the server's failure",
        first,
        by_tool(Y, **of, lost={"admit": 2}, commands=["admit", "admit"], **UNAVAILABLE),
        settings={**settings, **LEDGER},
        fault="a model hears of a handle that it never had",
    )
    for what, given in [("what a client fills in", ""), ("a model's own yes", "yes"), ("no text", True)]:
        case(
            f"{name}: {what} is no yes",
            by_tool(given, **of, answered={"result": answered}),
            settings=settings,
            fault="a word of the model's runs it",
        )
    for what, token in [
        ("altered", consent(change="flip")),
        ("of other words", consent("Delete note 8?")),
        ("of a key that nobody has", consent(key="unknown")),
        ("of another service", consent(audience="https://other.example.com")),
    ]:
        case(
            f"{name}: a yes {what} counts nothing",
            by_tool(token, **of, **refused("unauthentic")),
            settings=settings,
            fault="a check of the seal is left out",
        )
    case(
        f"{name}: a client that elicits is asked by the tool's own call alone",
        by_tool(
            capabilities={**capabilities, "elicitation": {}},
            answered={"result": told("play was not run by this call: its user is asked where play itself is called.")},
        ),
        settings=settings,
        not_=dict.fromkeys(
            ("mcp 1", "sdk", "@modelcontextprotocol/sdk"), "a stateless server before 2026-07-28 cannot ask"
        ),
        fault="a page is drawn beside the question, and two yeses run it twice",
    )
    case(
        f"{name}: it comes next if a client did not show the question",
        call(capabilities={**capabilities, "elicitation": {}}, answered={"result": asks()}),
        call(
            capabilities={**capabilities, "elicitation": {}},
            answer={"action": "cancel"},
            state={"$token": "q"},
            answered={"result": answered},
            reported=report("unconfirmed", "request-state"),
        ),
        by_tool(Y, capabilities={**capabilities, "elicitation": {}}, **RUNS),
        settings=settings,
        fault="a client that says it elicits runs nothing for ever",
    )
    case(
        f"{name}: a confirmed handler may ask back, and goes on",
        first,
        by_tool(
            Y,
            **of,
            handler=[ask_back('{"asked":1}')],
            delivered={"state": None},
            answered={
                "result": {"resultType": "input_required", "requestState": confirmed_token('{"asked":1}', name="h")}
            },
        ),
        by_tool(
            Y,
            **of,
            params={"requestState": {"$token": "h"}},
            handler=[["state"], done()],
            did=['{"asked":1}'],
            delivered={"state": '{"asked":1}'},
            answered=RAN["answered"],
        ),
        settings=settings,
        fault="its second round is confirmed again, or nobody's",
    )
    case(
        f"{name}: what is no yes by its form counts nothing",
        by_tool("yes_x", **of, **refused("malformed")),
        settings=settings,
        fault="a misspelt yes is none, and asks again",
    )
case(
    "card: arguments stand apart from the words",
    call(
        arguments={"to": "\u05d0", "at": 7},
        capabilities=APPS,
        answered={
            "result": carded(
                ["To ", '"\u05d0"', "", "7", ""],
                ['To \u2068"\u05d0"\u20697'],
                {"to": "\u05d0", "at": 7},
                token=consent('To \u2068"\u05d0"\u20697', {"to": "\u05d0", "at": 7}),
            )
        },
    ),
    settings={"confirm": {"play": {"message": "To {to}{at}"}}},
    fault="an argument passes for words of the server's",
)
case(
    "card: the key for another service is of the consent",
    call(capabilities=APPS, answered={"result": CARDED}),
    *[by_tool(Y, **{**RUNS, "handler": [["idempotencyKey"], done()]}, did=[{"$key": "of y"}]) for _ in range(2)],
    call(capabilities=APPS, answered={"result": carded(token=consent(name="z"))}),
    by_tool({"$token": "z"}, **{**RUNS, "handler": [["idempotencyKey"], done()]}, did=[{"$key": "of z"}]),
    settings=SETTINGS,
    fault="two yeses are one payment",
)
SETTLED = json.dumps({**NEGOTIATED, "clientCapabilities": APPS}, separators=(",", ":"))
case(
    "card: what Mcp-Session-Id holds tells that a client shows pages",
    http(
        {"method": "tools/call", "params": {"name": "play", "arguments": ARGUMENTS}},
        token=session_token(payload=SETTLED),
        asked=["principal"],
        answered={"status": 200, "message": {"result": CARDED}},
    ),
    http(
        {
            "method": "tools/call",
            "params": {"name": TOOL, "arguments": {"tool": "play", "arguments": ARGUMENTS, "confirmation": Y}},
        },
        token=session_token(payload=SETTLED),
        asked=["principal"],
        handler=[done()],
        delivered={"arguments": ARGUMENTS},
        answered={"status": 200, "message": RAN["answered"]},
    ),
    settings=SETTINGS,
    fault="a stateless server has no card for clients of 2025-11-25",
)
LONG = "x" * 4096
SHOWN = f'Keep "{LONG}"?'
CUT = f"{SHOWN[:4000]}… (and {len(SHOWN) - 4000} characters more)"
case(
    "card: a long argument is cut for the user, and bound whole",
    call(
        arguments={"text": LONG},
        capabilities=APPS,
        answered={
            "result": carded([CUT], ["Yes, do it"], {"text": LONG}, token=consent(CUT, {"text": LONG}, name="y"))
        },
    ),
    by_tool(Y, arguments={"text": LONG}, **RAN),
    by_tool(Y, arguments={"text": f"{LONG}x"}, **refused("unauthentic")),
    settings={"confirm": {"play": {"message": "Keep {text}?"}}},
    fault="the end of an argument is not bound",
)
case(
    "card: the author's function makes the words",
    call(
        asked=["principal", "confirm"],
        capabilities=APPS,
        answered={"result": carded(["Delete it?"], ["Delete it"], token=consent("Delete it?", name="y"))},
    ),
    by_tool(Y, asked=["principal", "confirm"], **RUNS),
    settings={"confirm": {"play": {"words": "Delete it?"}}},
    fault="the function is asked about the guard's tool",
)
case(
    "card: arguments may come as a text",
    call(capabilities=APPS, answered={"result": CARDED}),
    by_tool(Y, arguments='{"id":7}', **RUNS),
    settings=SETTINGS,
    fault="a model that writes JSON in a text is refused",
)
for name, capabilities in [
    ("of other types", {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html"]}}}),
    ("of no types", {"extensions": {"io.modelcontextprotocol/ui": {}}}),
    (
        "of types that are no list",
        {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": "text/html;profile=mcp-app"}}},
    ),
]:
    case(
        f"card: a client with pages {name} has none",
        call(capabilities=capabilities, answered={"result": UNASKED}, reported=report("unconfirmed", "request-state")),
        settings=SETTINGS,
        fault="a client that shows nothing gets a card",
    )

SCHEMA = {
    "type": "object",
    "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}, "confirmation": {"type": "string"}},
    "required": ["tool", "arguments"],
}
PLAY = {"name": "play", "inputSchema": {"type": "object"}}
OTHER = {"name": "other", "inputSchema": {"type": "object"}}


WITH_SCHEMA = {**PLAY, "outputSchema": {"type": "object"}}
#: Before each call over HTTP, and what it hears is no part of a transcript.
LISTS_ITSELF = dict.fromkeys(("lowlevel", "fastmcp"), "the SDK lists the tools by itself")
MINE = {**PLAY, "_meta": {"ui": {"resourceUri": "ui://mine"}}}


def of_guard(*visibility: str) -> dict:
    return {"name": TOOL, "inputSchema": SCHEMA, "_meta": {"ui": {"visibility": list(visibility)}}}


def shown(**more: object) -> dict:
    return {**PLAY, "_meta": {"ui": {"resourceUri": PAGE}}, **more}


def listed(tools: list, answered: list, capabilities: object, *, params: dict | None = None, **more: object) -> dict:
    given = more.pop("result", {})
    meta = {"_meta": {CAPABILITIES: capabilities}}
    result = {"tools": answered, **more.pop("also", {})}
    return event(
        "tools/list",
        params={**meta, **(params or {})},
        handler=[["return", {"tools": tools, **given}]],
        delivered={},
        answered={"result": result},
        **more,
    )


case(
    "card: the list names the page, and the guard's tool for it alone",
    listed([PLAY, OTHER], [shown(), {**OTHER, "$absent": ["_meta"]}, of_guard("app")], APPS),
    settings=SETTINGS,
    fault="no host shows the card",
)
case(
    "card: other clients see the list as it is",
    listed([PLAY], [{**PLAY, "$absent": ["_meta"]}], NOTHING),
    settings=SETTINGS,
    fault="a model sees a tool that is none of its own",
)
case(
    "card: no cache hands its list to others, or theirs to it",
    listed([PLAY], [shown(), of_guard("app")], APPS, result={"cacheScope": "public"}, also={"cacheScope": "private"}),
    listed([PLAY], [PLAY], NOTHING, result={"cacheScope": "public"}, also={"cacheScope": "private"}),
    settings=SETTINGS,
    fault="a client without pages gets the list of one with",
)
case(
    "card: a tool with a page of its own keeps it",
    listed([MINE], [MINE, of_guard("app")], APPS),
    call(capabilities=APPS, answered={"result": as_text(UNASKED)}, reported=report("unconfirmed", "request-state")),
    listed([PLAY], [shown(), of_guard("app")], APPS),
    call(capabilities=APPS, answered={"result": as_text(CARDED)}),
    settings=SETTINGS,
    not_=LISTS_ITSELF,
    fault="the author's page is replaced, or gets a yes that no card shows",
)
case(
    "preview: a tool with a page of its own is confirmed by the model",
    listed([MINE], [MINE, of_guard("app", "model")], APPS),
    call(capabilities=APPS, answered={"result": as_text(previewed())}),
    settings=PREVIEW,
    not_=LISTS_ITSELF,
    fault="it waits for a card that nobody sees",
)
case(
    "confirm: of a tool with an output schema what is no result is an error, and of no other",
    call(capabilities=NOTHING, **UNCONFIRMED),
    listed([PLAY], [PLAY], NOTHING),
    call(capabilities=NOTHING, **{**UNCONFIRMED, "answered": {"result": as_text(UNASKED)}}),
    listed([WITH_SCHEMA], [WITH_SCHEMA], NOTHING),
    call(capabilities=NOTHING, **UNCONFIRMED),
    settings=SETTINGS,
    not_=LISTS_ITSELF,
    fault="clients throw: of a text without what the schema says, or of an error",
)
case(
    "card: the guard's tool is on the first page",
    listed(
        [PLAY],
        [shown()],
        APPS,
        params={"cursor": {"$token": {"kind": "cursor", "label": "tools/list", "as": "alice", "payload": "2"}}},
        asked=["principal"],
    ),
    settings=SETTINGS,
    fault="a client sees it on each",
)
case(
    "preview: the list has the guard's tool for the model",
    listed([PLAY], [{**PLAY, "$absent": ["_meta"]}, of_guard("app", "model")], NOTHING),
    settings=PREVIEW,
    fault="a client that checks names cannot call it",
)
case(
    "confirm: a tool that no list has is told once",
    listed([OTHER], [OTHER], NOTHING, reported=report("invalid_argument", "request-state")),
    listed([OTHER], [OTHER], NOTHING),
    settings=SETTINGS,
    fault="a misspelt tool protects nothing, and nobody hears of it",
)
case(
    "confirm: a page of a list tells nothing of a tool",
    listed(
        [OTHER],
        [OTHER],
        NOTHING,
        result={"nextCursor": "2"},
        also={"nextCursor": {"$token": {"kind": "cursor", "label": "tools/list", "as": "alice", "payload": "2"}}},
        asked=["principal"],
    ),
    settings=SETTINGS,
    fault="a tool of a later page is taken for a misspelt one",
)
case(
    "card: its page is the guard's own",
    event(
        "resources/read",
        params={"uri": PAGE},
        asked=[],
        answered={
            "result": {
                "contents": [
                    {
                        "uri": PAGE,
                        "mimeType": "text/html;profile=mcp-app",
                        "text": {"$text": ["<!doctype html>", None, '<script>const TOOL = "play"</script>\n']},
                    }
                ],
                "resultType": "complete",
                "ttlMs": 3600000,
                "cacheScope": "public",
            }
        },
    ),
    settings=SETTINGS,
    fault="nobody serves the page",
)
case(
    "card: another page is the server's",
    event(
        "resources/read",
        params={"uri": "ui://sealwax/confirm/1/other"},
        asked=["principal"],
        handler=[["return", {"contents": []}]],
        delivered={},
        answered={"result": {"contents": []}},
    ),
    settings=SETTINGS,
    not_={"go": "the SDK reads no resource that it does not know"},
    fault="the guard answers for the server",
)
