"""Confirmations of all tools that their server marks as destructive."""

from .card import *
from .stdio import line

WORDS = 'Run play with {"id":7}?'
PARTS = ["Run ", "play", " with ", '{"id":7}', "?"]
#: Of a tool that no list has: its name is a client's.
QUOTED = ["Run ", '"play"', " with ", '{"id":7}', "?"]
SAFE = {"annotations": {"readOnlyHint": True}}
MARKED = {**PLAY, "annotations": {"destructiveHint": True}}


def server(*tools: dict, **more: object) -> dict:
    """The settings of a server with these tools, on one page."""
    return {"confirmDestructive": True, "tools": {"": {"tools": list(tools)}}, **more}


UNLISTED = {"confirmDestructive": True, "tools": {}}
HARMLESS = server({**PLAY, **SAFE})

transcripts = Transcripts(server(MARKED))
case = transcripts.case


def asked(*words: str, **more: object) -> dict:
    return call(**more, hears=asks(*(words or [WORDS])))


DOUBT = report("invalid_argument", "request-state")
CARD = call(capabilities=APPS, hears=as_text(carded(*PARTS)))

case("destructive: the user is asked, and agrees", "it runs unasked")(asked(), answered_by(YES, **RAN))
case("destructive: the user declines", "a no runs it")(
    asked(), answered_by({"action": "decline"}, 1, hears=as_text(DECLINED))
)
for name, annotations in [
    ("that only reads", {"readOnlyHint": True}),
    ("that only reads, whatever else is marked", {"readOnlyHint": True, "destructiveHint": True}),
    ("that destroys nothing", {"destructiveHint": False}),
]:
    case(f"destructive: a tool {name} runs unasked", "every tool is asked about")(
        call(capabilities=NOTHING, **RAN), settings=server({**PLAY, "annotations": annotations})
    )
for name, more in [
    ("without annotations", {}),
    ("with none of the two", {"annotations": {"idempotentHint": True}}),
    ("that says that it does not only read", {"annotations": {"readOnlyHint": False}}),
]:
    case(f"destructive: a tool {name} is asked about", "what is not marked is taken for harmless")(
        CARD, settings=server({**PLAY, **more})
    )
case("destructive: a list that fails leaves all in doubt", "a tool runs unasked while the list is not there")(
    call(hears=asks("".join(QUOTED), name=None), reported=DOUBT), settings=UNLISTED
)
case(
    "destructive: without a list no client runs it that cannot ask", "a tool runs unasked while the list is not there"
)(call(capabilities=NOTHING, hears=UNASKED, reported=DOUBT + UNCONFIRMED["reported"]), settings=UNLISTED)
case("destructive: a tool that the list has not is in doubt", "a hidden tool runs unasked")(
    call(capabilities=APPS, **{**UNCONFIRMED, "answered": {"result": carded(*QUOTED, name=None)}}),
    settings=server({**OTHER, **SAFE}),
)
case("destructive: a list goes over pages", "a tool of a later page is not found")(
    call(capabilities=NOTHING, **RAN),
    settings={
        "confirmDestructive": True,
        "tools": {"": {"tools": [OTHER], "nextCursor": "2"}, "2": {"tools": [{**PLAY, **SAFE}]}},
    },
)
case("destructive: a page that fails leaves all in doubt", "half of a list is taken for the whole")(
    call(capabilities=APPS, hears=as_text(carded(*PARTS, name=None)), reported=DOUBT),
    settings={"confirmDestructive": True, "tools": {"": {"tools": [{**PLAY, **SAFE}], "nextCursor": "2"}}},
)
case("destructive: a tool with a question of its own keeps it", "the author's words are replaced")(
    # The list would be in doubt, and told.
    asked("Delete note 7?"),
    answered_by(YES, **RAN),
    settings={**UNLISTED, **SETTINGS},
)
case("destructive: the user reads the title", "the user reads a name of the program's")(
    asked('Run Delete "a" note with {"id":7}?'), settings=server({**MARKED, "title": 'Delete "a" note'})
)
case("destructive: no arguments are not shown", "the words depend on how no arguments are sent")(
    call(arguments=None, hears=asks("Run play?", None)), answered_by(YES, arguments={}, **RAN)
)
case("destructive: only what is bound is shown", "the user agrees to what may change")(
    asked(arguments={"id": 7, "page": 2}),
    answered_by(YES, arguments={"id": 7, "page": 3}, **RAN),
    settings=server(MARKED, only={"play": ["id"]}),
)
case("destructive: with a ledger a yes counts once", "one yes runs it twice")(
    CARD, by_tool(Y, **RUNS), by_tool(Y, **refused("used")), settings=server(MARKED, **LEDGER)
)
case("destructive: a card runs the tool with its arguments", "a client with pages runs nothing")(
    CARD, by_tool(Y, **RUNS), by_tool(Y, **refused("unauthentic", arguments={"id": 8}))
)
case("destructive: a preview has the model ask", "the option has no effect")(
    call(capabilities=NOTHING, hears=as_text(previewed(WORDS))),
    by_tool(Y, capabilities=NOTHING, **RUNS),
    settings={**server(MARKED), "confirmDestructive": {"fallback": "preview"}},
)
case("destructive: the guard's tool runs none without a yes", "a tool runs by another name than a gateway allows")(
    by_tool(hears=carded(*PARTS, name=None)), settings=HARMLESS
)
case("destructive: a handler may ask back, and goes on", "its second round is confirmed again, or nobody's")(
    asked(), answered_by(YES, **GOES_ON), WENT_ON
)
case("destructive: a harmless handler may ask back too", "its state is taken for that of a confirmation")(
    call(**asks_back('{"asked":1}', resultType="input_required", requestState=state_token(name="h"))),
    WENT_ON,
    settings=HARMLESS,
)
case(
    "destructive: a state that nobody confirmed runs nothing",
    "a state of a replica without this setting runs the handler",
)(call(state=state_token(), **refusal(STATE_ERROR, "unauthentic", "request-state")))
case("destructive: on a connection the user agrees", "an older client is not asked")(
    CONNECTED,
    line(CALL, asked=["principal"], elicited=[form(WORDS)], elicits={"result": YES, "after": 0}, **RAN),
    settings=server(MARKED, **SEP),
)
BOTH = [PLAY, {**OTHER, **SAFE}]
case("destructive: the list names the page of each that is marked", "no host shows the card")(
    listed(BOTH, [SHOWN, bare(OTHER), of_guard("app")], APPS), settings=server()
)
case("destructive: other clients see the list as it is", "a model sees a tool that is none of its own")(
    listed(BOTH, [bare(PLAY), bare(OTHER)], NOTHING), settings=server()
)
case("destructive: a preview's list has the guard's tool for the model", "a client that checks names cannot call it")(
    listed([PLAY], [bare(PLAY), of_guard("app", "model")], NOTHING),
    settings={**server(), "confirmDestructive": {"fallback": "preview"}},
)
HTML = {"$text": ["<!doctype html>", None, '"play"</script>\n']}
case("destructive: a page of any name is the guard's own", "nobody serves the page")(
    event("resources/read", params={"uri": PAGE}, asked=[], hears={"contents": [{"uri": PAGE, "text": HTML}]}),
    settings=server(),
)
case("destructive: a prompt is not confirmed", "a prompt of the tool's name is confirmed")(PROMPT)
