"""Confirmations in clients that do not elicit: by a page of the guard's, or by the model after a preview."""

from .builders import *
from .confirm import *

transcripts = Transcripts(SETTINGS)
case = transcripts.case

TOOL = "sealwax_confirm"
PAGE = "ui://sealwax/confirm/1/play"
APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
PREVIEW = confirms(message="Delete note {id}?", fallback="preview")
NOTHING: dict = {}
SPENT = told(
    "play was not run: this confirmation does not count. It may be used, expired, not yours, or for other arguments. Call "
    "play again to get a new one."
)


def consent(words: str = WORDS, arguments: object = ARGUMENTS, **more: object) -> dict:
    bound = {"request": request_of(arguments), "words": words}
    return {"$token": {"kind": "consent", "context": ["confirm", "play", bound], "as": "alice", **more}}


def previewed(words: str = WORDS) -> dict:
    """What a model hears that brings the answer itself."""
    before = (
        "play was not run: it needs the user's consent, and this client did not ask for it. Ask the user yourself, and wait "
        f"for the answer: {words}\nOnly if the user agrees, call {TOOL} with tool play, the same arguments, and confirmation "
    )
    return told({"$text": [before, consent(words, name="y"), ""]})


def carded(
    *parts: str,
    words: str | None = None,
    arguments: object = ARGUMENTS,
    agrees: str | None = None,
    name: str | None = "y",
) -> dict:
    """What the page gets, words in which each second part is an argument, and the model's part of it."""
    parts = parts or ("Delete note ", "7", "?")
    words = words or "".join(parts)
    token = consent(words, arguments, **({"name": name} if name else {}))
    yes = {
        "title": [agrees or words.removesuffix("?")],
        "said": "I answered the card with yes: play ran.",
        "failed": "The card was answered with yes, but it was not done.",
        "unknown": "The card was answered with yes; whether it was done is not known.",
        "call": {"name": TOOL, "arguments": {"tool": "play", "arguments": arguments, "confirmation": token}},
    }
    no = {"title": ["No, leave it"], "said": "I answered the card with no: play did not run."}
    text = (
        "[card] The user is asked on a card. play was not run: do not call it again, wait for the user's answer. If the user "
        "sees no card, say that this client cannot ask."
    )
    return {**told(text), "_meta": {QUESTION: {"words": list(parts), "yes": yes, "no": no}}}


CARDED = carded()
CARD = call(capabilities=APPS, hears=CARDED)


def by_tool(
    confirmation: object = None,
    *,
    arguments: object = ARGUMENTS,
    capabilities: object = APPS,
    state: object = None,
    **more: object,
) -> dict:
    """A call of the guard's tool, by a client that shows pages unless something else is said."""
    given: dict = {"tool": "play"}
    if arguments is not None:
        given["arguments"] = arguments
    if confirmation is not None:
        given["confirmation"] = confirmation
    params = {"name": TOOL, "arguments": given, "_meta": {CAPABILITIES: capabilities}}
    if state is not None:
        params["requestState"] = state
    return event("tools/call", params=params, **{"asked": ["principal"], **more})


def refused(code: str, **more: object) -> dict:
    return {"answered": {"result": SPENT}, "reported": report(code, "handle"), **more}


RUNS = {**runs(), "delivered": {"state": None, "arguments": ARGUMENTS}}
Y = {"$token": "y"}

for kind, settings, capabilities, answered in [
    ("card", SETTINGS, APPS, CARDED),
    ("preview", PREVIEW, NOTHING, previewed()),
]:
    both = Transcripts(settings)
    of = {"capabilities": capabilities}
    elicits = {"capabilities": {**capabilities, "elicitation": {}}}
    first = call(**of, hears=answered)
    both.case(f"{kind}: a yes runs the tool with its arguments", "no yes counts")(first, by_tool(Y, **of, **RUNS))
    for name, more, code in [
        ("for another user", {"who": "bob"}, "unauthentic"),
        ("for other arguments", {"arguments": {"id": 8}}, "unauthentic"),
        ("for none", {"arguments": None}, "unauthentic"),
        ("after ten minutes", {"after": 601}, "expired"),
    ]:
        both.case(f"{kind}: a yes counts nothing {name}", "a yes is bound to nothing")(
            first, by_tool(Y, **of, **refused(code, **more))
        )
    once = [first, by_tool(Y, **of, **RUNS), by_tool(Y, **of, **refused("used"))]
    both.case(f"{kind}: with a ledger it counts once", "one yes runs it twice")(*once, settings={**settings, **LEDGER})
    both.case(
        f"{kind}: it counts once where other states count again", "a setting of requestState makes a yes count again"
    )(*once, settings={**settings, **LEDGER, "ledgerOptions": {"reusableRequestState": True}})
    unavailable = {"delivered": None, **refusal(INTERNAL, "ledger_unavailable", "handle")}
    both.case(
        f"{kind}: without the ledger's answer it is the server's failure", "a model hears of a handle that it never had"
    )(
        first,
        by_tool(Y, **of, lost={"admit": 2}, commands=["admit", "admit"], **unavailable),
        settings={**settings, **LEDGER},
    )
    for name, given in [("what a client fills in", ""), ("a model's own yes", "yes"), ("no text", True)]:
        both.case(f"{kind}: {name} is no yes", "a word of the model's runs it")(by_tool(given, **of, hears=answered))
    for name, token in [
        ("altered", consent(change="flip")),
        ("of other words", consent("Delete note 8?")),
        ("of a key that nobody has", consent(key="unknown")),
        ("of another service", consent(audience="https://other.example.com")),
    ]:
        both.case(f"{kind}: a yes {name} counts nothing", "a check of the seal is left out")(
            by_tool(token, **of, **refused("unauthentic"))
        )
    both.case(
        f"{kind}: a client that elicits is asked by the tool's own call alone",
        "a page is drawn beside the question, and two yeses run it twice",
    )(
        by_tool(**elicits, hears=told("play was not run by this call: its user is asked where play itself is called.")),
        not_=dict.fromkeys(
            ("mcp 1", "sdk", "@modelcontextprotocol/sdk"), "a stateless server before 2026-07-28 cannot ask"
        ),
    )
    both.case(
        f"{kind}: it comes next if a client did not show the question",
        "a client that says it elicits runs nothing for ever",
    )(
        call(**elicits, hears=asks()),
        call(
            **elicits,
            answer={"action": "cancel"},
            state={"$token": "q"},
            hears=answered,
            reported=report("unconfirmed", "request-state"),
        ),
        by_tool(Y, **elicits, **RUNS),
    )
    both.case(
        f"{kind}: a confirmed handler may ask back, and goes on", "its second round is confirmed again, or nobody's"
    )(first, by_tool(Y, **of, **GOES_ON), by_tool(Y, **of, state={"$token": "h"}, **reads('{"asked":1}')))
    both.case(f"{kind}: what is no yes by its form counts nothing", "a misspelt yes is none, and asks again")(
        by_tool("yes_x", **of, **refused("malformed"))
    )
    transcripts.extend(both)
TO = {"to": "\u05d0", "at": 7}
case("card: arguments stand apart from the words", "an argument passes for words of the server's")(
    call(
        arguments=TO,
        capabilities=APPS,
        hears=carded("To ", '"\u05d0"', "", "7", "", words='To \u2068"\u05d0"\u20697', arguments=TO, name=None),
    ),
    settings=confirms(message="To {to}{at}"),
)
KEYED = {**RUNS, "handler": [["idempotencyKey"], done()]}
case("card: the key for another service is of the consent", "two yeses are one payment")(
    CARD,
    by_tool(Y, **KEYED, did=[{"$key": "of y"}]),
    by_tool(Y, **KEYED, did=[{"$key": "of y"}]),
    call(capabilities=APPS, hears=carded(name="z")),
    by_tool({"$token": "z"}, **KEYED, did=[{"$key": "of z"}]),
)
SETTLED = session_token(payload=compact({**NEGOTIATED, "clientCapabilities": APPS}))
CONFIRMED = {"tool": "play", "arguments": ARGUMENTS, "confirmation": Y}
case(
    "card: what Mcp-Session-Id holds tells that a client shows pages",
    "a stateless server has no card for clients of 2025-11-25",
)(
    http(CALL, token=SETTLED, asked=["principal"], answered={"status": 200, "message": {"result": CARDED}}),
    http(
        {"method": "tools/call", "params": {"name": TOOL, "arguments": CONFIRMED}},
        token=SETTLED,
        asked=["principal"],
        handler=[done()],
        delivered={"arguments": ARGUMENTS},
        answered={"status": 200, "message": {"result": DONE}},
    ),
)
case("card: a long argument is cut for the user, and bound whole", "the end of an argument is not bound")(
    call(arguments={"text": LONG}, capabilities=APPS, hears=carded(CUT, arguments={"text": LONG}, agrees="Yes, do it")),
    by_tool(Y, arguments={"text": LONG}, **runs()),
    by_tool(Y, arguments={"text": f"{LONG}x"}, **refused("unauthentic")),
    settings=confirms(message="Keep {text}?"),
)
case("card: the author's function makes the words", "the function is asked about the guard's tool")(
    call(**BY_FUNCTION, capabilities=APPS, hears=carded("Delete it?")),
    by_tool(Y, **BY_FUNCTION, **RUNS),
    settings=confirms(words="Delete it?"),
)
case("card: arguments may come as a text", "a model that writes JSON in a text is refused")(
    CARD, by_tool(Y, arguments='{"id":7}', **RUNS)
)
for name, pages in [
    ("of other types", {"mimeTypes": ["text/html"]}),
    ("of no types", {}),
    ("of types that are no list", {"mimeTypes": "text/html;profile=mcp-app"}),
]:
    case(f"card: a client with pages {name} has none", "a client that shows nothing gets a card")(
        call(capabilities={"extensions": {"io.modelcontextprotocol/ui": pages}}, **UNCONFIRMED)
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
SHOWN = {**PLAY, "_meta": {"ui": {"resourceUri": PAGE}}}
MINE = {**PLAY, "_meta": {"ui": {"resourceUri": "ui://mine"}}}


def of_guard(*visibility: str) -> dict:
    return {"name": TOOL, "inputSchema": SCHEMA, "_meta": {"ui": {"visibility": list(visibility)}}}


def bare(tool: dict) -> dict:
    """A tool without a page."""
    return {**tool, "$absent": ["_meta"]}


def listed(
    tools: list,
    sent: list,
    capabilities: object,
    *,
    cursor: dict | None = None,
    page: dict | None = None,
    sent_page: dict | None = None,
    **more: object,
) -> dict:
    """A list of tools, and what a client hears that has these capabilities; with more members of the page."""
    params = {"_meta": {CAPABILITIES: capabilities}}
    return event(
        "tools/list",
        params={**params, "cursor": cursor} if cursor else params,
        handler=[["return", {"tools": tools, **(page or {})}]],
        delivered={},
        hears={"tools": sent, **(sent_page or {})},
        **more,
    )


case("card: the list names the page, and the guard's tool for it alone", "no host shows the card")(
    listed([PLAY, OTHER], [SHOWN, bare(OTHER), of_guard("app")], APPS)
)
case("card: other clients see the list as it is", "a model sees a tool that is none of its own")(
    listed([PLAY], [bare(PLAY)], NOTHING)
)
PUBLIC, PRIVATE = {"cacheScope": "public"}, {"cacheScope": "private"}
case("card: no cache hands its list to others, or theirs to it", "a client without pages gets the list of one with")(
    listed([PLAY], [SHOWN, of_guard("app")], APPS, page=PUBLIC, sent_page=PRIVATE),
    listed([PLAY], [PLAY], NOTHING, page=PUBLIC, sent_page=PRIVATE),
)
NOT_ASKED = {**UNCONFIRMED, "answered": {"result": as_text(UNASKED)}}
case("card: a tool with a page of its own keeps it", "the author's page is replaced, or gets a yes that no card shows")(
    listed([MINE], [MINE, of_guard("app")], APPS),
    call(capabilities=APPS, **NOT_ASKED),
    listed([PLAY], [SHOWN, of_guard("app")], APPS),
    call(capabilities=APPS, hears=as_text(CARDED)),
    not_=LISTS_ITSELF,
)
case("preview: a tool with a page of its own is confirmed by the model", "it waits for a card that nobody sees")(
    listed([MINE], [MINE, of_guard("app", "model")], APPS),
    call(capabilities=APPS, hears=as_text(previewed())),
    settings=PREVIEW,
    not_=LISTS_ITSELF,
)
case(
    "confirm: of a tool with an output schema what is no result is an error, and of no other",
    "clients throw: of a text without what the schema says, or of an error",
)(
    call(capabilities=NOTHING, **UNCONFIRMED),
    listed([PLAY], [PLAY], NOTHING),
    call(capabilities=NOTHING, **NOT_ASKED),
    listed([WITH_SCHEMA], [WITH_SCHEMA], NOTHING),
    call(capabilities=NOTHING, **UNCONFIRMED),
    not_=LISTS_ITSELF,
)
case("card: the guard's tool is on the first page", "a client sees it on each")(
    listed([PLAY], [SHOWN], APPS, cursor=cursor_token(payload="2"), asked=["principal"])
)
case("preview: the list has the guard's tool for the model", "a client that checks names cannot call it")(
    listed([PLAY], [bare(PLAY), of_guard("app", "model")], NOTHING), settings=PREVIEW
)
case("confirm: a tool that no list has is told once", "a misspelt tool protects nothing, and nobody hears of it")(
    listed([OTHER], [OTHER], NOTHING, reported=report("invalid_argument", "request-state")),
    listed([OTHER], [OTHER], NOTHING),
)
case("confirm: a page of a list tells nothing of a tool", "a tool of a later page is taken for a misspelt one")(
    listed(
        [OTHER],
        [OTHER],
        NOTHING,
        page={"nextCursor": "2"},
        sent_page={"nextCursor": cursor_token(payload="2")},
        asked=["principal"],
    )
)
HTML = {"$text": ["<!doctype html>", None, '<script>const TOOL = "play"</script>\n']}
CONTENTS = {"uri": PAGE, "mimeType": "text/html;profile=mcp-app", "text": HTML}
case("card: its page is the guard's own", "nobody serves the page")(
    event(
        "resources/read",
        params={"uri": PAGE},
        asked=[],
        hears={"contents": [CONTENTS], "resultType": "complete", "ttlMs": 3600000, **PUBLIC},
    )
)
case("card: another page is the server's", "the guard answers for the server")(
    event(
        "resources/read", params={"uri": "ui://sealwax/confirm/1/other"}, asked=["principal"], **gives({"contents": []})
    ),
    not_={"go": "the SDK reads no resource that it does not know"},
)
