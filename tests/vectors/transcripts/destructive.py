"""Confirmations of all tools that their server marks as destructive."""

from .builders import LEDGER, SEP, STATE_ERROR, Transcripts, ask_back, done, event, report, state_token
from .card import (
    APPS,
    NOTHING,
    OTHER,
    PAGE,
    PLAY,
    RUNS,
    Y,
    by_tool,
    carded,
    consent,
    listed,
    of_guard,
    previewed,
    refused,
    shown,
)
from .confirm import (
    CONNECTED,
    DECLINED,
    ON_CONNECTION,
    RAN,
    UNASKED,
    YES,
    answered_by,
    as_text,
    asked_token,
    asks,
    call,
    confirmed_token,
    form,
)
from .stdio import line

transcripts = Transcripts()
case = transcripts.case

WORDS = 'Run play with {"id":7}?'
AGREES = 'Run play with {"id":7}'
PARTS = ["Run ", "play", " with ", '{"id":7}', "?"]
#: Of a tool that no list has: its name is a client's.
QUOTED = 'Run "play" with {"id":7}?'
SAFE = {"annotations": {"readOnlyHint": True}}
MARKED = {**PLAY, "annotations": {"destructiveHint": True}}


def server(*tools: dict, **more: object) -> dict:
    """The settings of a server with these tools, on one page."""
    return {"confirmDestructive": True, "tools": {"": {"tools": list(tools)}}, **more}


def asks_for(words: str = WORDS, arguments: object = None, **more: object) -> dict:
    arguments = {"id": 7} if arguments is None else arguments
    question = {"words": words, "agrees": words.removesuffix("?"), **more}
    return {"answered": {"result": asks(asked_token(words, arguments, name="q"), **question)}}


DOUBT = {"reported": report("invalid_argument", "request-state")}
CARD = as_text(carded(PARTS, [AGREES], token=consent(WORDS, name="y")))

case(
    "destructive: the user is asked, and agrees",
    call(**asks_for()),
    answered_by(YES, **RAN),
    settings=server(MARKED),
    fault="it runs unasked",
)
case(
    "destructive: the user declines",
    call(**asks_for()),
    answered_by({"action": "decline"}, 1, answered={"result": as_text(DECLINED)}),
    settings=server(MARKED),
    fault="a no runs it",
)
for name, annotations in [
    ("that only reads", {"readOnlyHint": True}),
    ("that only reads, whatever else is marked", {"readOnlyHint": True, "destructiveHint": True}),
    ("that destroys nothing", {"destructiveHint": False}),
]:
    case(
        f"destructive: a tool {name} runs unasked",
        call(capabilities=NOTHING, **RAN),
        settings=server({**PLAY, "annotations": annotations}),
        fault="every tool is asked about",
    )
for name, more in [
    ("without annotations", {}),
    ("with none of the two", {"annotations": {"idempotentHint": True}}),
    ("that says that it does not only read", {"annotations": {"readOnlyHint": False}}),
]:
    case(
        f"destructive: a tool {name} is asked about",
        call(capabilities=APPS, answered={"result": CARD}),
        settings=server({**PLAY, **more}),
        fault="what is not marked is taken for harmless",
    )
case(
    "destructive: a list that fails leaves all in doubt",
    call(answered={"result": asks(asked_token(QUOTED), words=QUOTED, agrees=QUOTED.removesuffix("?"))}, **DOUBT),
    settings={"confirmDestructive": True, "tools": {}},
    fault="a tool runs unasked while the list is not there",
)
case(
    "destructive: without a list no client runs it that cannot ask",
    call(
        capabilities=NOTHING,
        answered={"result": UNASKED},
        reported=[*DOUBT["reported"], *report("unconfirmed", "request-state")],
    ),
    settings={"confirmDestructive": True, "tools": {}},
    fault="a tool runs unasked while the list is not there",
)
case(
    "destructive: a tool that the list has not is in doubt",
    call(
        capabilities=APPS,
        answered={
            "result": carded(
                ["Run ", '"play"', " with ", '{"id":7}', "?"], [QUOTED.removesuffix("?")], token=consent(QUOTED)
            )
        },
        reported=report("unconfirmed", "request-state"),
    ),
    settings=server({**OTHER, **SAFE}),
    fault="a hidden tool runs unasked",
)
case(
    "destructive: a list goes over pages",
    call(capabilities=NOTHING, **RAN),
    settings={
        "confirmDestructive": True,
        "tools": {"": {"tools": [OTHER], "nextCursor": "2"}, "2": {"tools": [{**PLAY, **SAFE}]}},
    },
    fault="a tool of a later page is not found",
)
case(
    "destructive: a page that fails leaves all in doubt",
    call(
        capabilities=APPS,
        answered={"result": as_text(carded(PARTS, [AGREES], token=consent(WORDS)))},
        **DOUBT,
    ),
    settings={"confirmDestructive": True, "tools": {"": {"tools": [{**PLAY, **SAFE}], "nextCursor": "2"}}},
    fault="half of a list is taken for the whole",
)
case(
    "destructive: a tool with a question of its own keeps it",
    call(answered={"result": asks()}),
    answered_by(YES, **RAN),
    # The list would be in doubt, and told.
    settings={"confirmDestructive": True, "tools": {}, "confirm": {"play": {"message": "Delete note {id}?"}}},
    fault="the author's words are replaced",
)
case(
    "destructive: the user reads the title",
    call(**asks_for('Run Delete "a" note with {"id":7}?')),
    settings=server({**MARKED, "title": 'Delete "a" note'}),
    fault="the user reads a name of the program's",
)
case(
    "destructive: no arguments are not shown",
    call(
        arguments=None,
        answered={"result": asks(asked_token("Run play?", None, name="q"), words="Run play?", agrees="Run play")},
    ),
    answered_by(YES, arguments={}, **RAN),
    settings=server(MARKED),
    fault="the words depend on how no arguments are sent",
)
case(
    "destructive: only what is bound is shown",
    call(
        arguments={"id": 7, "page": 2},
        answered={"result": asks(asked_token(WORDS, {"id": 7}, name="q"), words=WORDS, agrees=AGREES)},
    ),
    answered_by(YES, arguments={"id": 7, "page": 3}, **RAN),
    settings=server(MARKED, only={"play": ["id"]}),
    fault="the user agrees to what may change",
)
case(
    "destructive: with a ledger a yes counts once",
    call(capabilities=APPS, answered={"result": CARD}),
    by_tool(Y, **RUNS),
    by_tool(Y, **refused("used")),
    settings=server(MARKED, **LEDGER),
    fault="one yes runs it twice",
)
case(
    "destructive: a card runs the tool with its arguments",
    call(capabilities=APPS, answered={"result": CARD}),
    by_tool(Y, **RUNS),
    by_tool(Y, **refused("unauthentic", arguments={"id": 8})),
    settings=server(MARKED),
    fault="a client with pages runs nothing",
)
case(
    "destructive: a preview has the model ask",
    call(capabilities=NOTHING, answered={"result": as_text(previewed(WORDS))}),
    by_tool(Y, capabilities=NOTHING, **RUNS),
    settings={**server(MARKED), "confirmDestructive": {"fallback": "preview"}},
    fault="the option has no effect",
)
case(
    "destructive: the guard's tool runs none without a yes",
    by_tool(answered={"result": carded(PARTS, [AGREES], token=consent(WORDS))}),
    settings=server({**PLAY, **SAFE}),
    fault="a tool runs by another name than a gateway allows",
)
case(
    "destructive: a handler may ask back, and goes on",
    call(**asks_for()),
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
    settings=server(MARKED),
    fault="its second round is confirmed again, or nobody's",
)
case(
    "destructive: a harmless handler may ask back too",
    call(
        handler=[ask_back('{"asked":1}')],
        delivered={"state": None},
        answered={
            "result": {"resultType": "input_required", "requestState": state_token(payload='{"asked":1}', name="h")}
        },
    ),
    call(
        state={"$token": "h"},
        handler=[["state"], done()],
        did=['{"asked":1}'],
        delivered={"state": '{"asked":1}'},
        answered=RAN["answered"],
    ),
    settings=server({**PLAY, **SAFE}),
    fault="its state is taken for that of a confirmation",
)
case(
    "destructive: a state that nobody confirmed runs nothing",
    call(
        state=state_token(payload='{"asked":1}'),
        answered={"error": STATE_ERROR},
        reported=report("unauthentic", "request-state"),
    ),
    settings=server(MARKED),
    fault="a state of a replica without this setting runs the handler",
)
case(
    "destructive: on a connection the user agrees",
    CONNECTED,
    line(
        ON_CONNECTION,
        asked=["principal"],
        elicited=[form(WORDS, AGREES)],
        elicits={"result": YES, "after": 0},
        **RAN,
    ),
    settings=server(MARKED, **SEP),
    fault="an older client is not asked",
)
case(
    "destructive: the list names the page of each that is marked",
    listed(
        [PLAY, {**OTHER, **SAFE}],
        [shown(), {**OTHER, "$absent": ["_meta"]}, of_guard("app")],
        APPS,
    ),
    settings=server(),
    fault="no host shows the card",
)
case(
    "destructive: other clients see the list as it is",
    listed([PLAY, {**OTHER, **SAFE}], [{**PLAY, "$absent": ["_meta"]}, {**OTHER, "$absent": ["_meta"]}], NOTHING),
    settings=server(),
    fault="a model sees a tool that is none of its own",
)
case(
    "destructive: a preview's list has the guard's tool for the model",
    listed([PLAY], [{**PLAY, "$absent": ["_meta"]}, of_guard("app", "model")], NOTHING),
    settings={**server(), "confirmDestructive": {"fallback": "preview"}},
    fault="a client that checks names cannot call it",
)
case(
    "destructive: a page of any name is the guard's own",
    event(
        "resources/read",
        params={"uri": PAGE},
        asked=[],
        answered={
            "result": {
                "contents": [{"uri": PAGE, "text": {"$text": ["<!doctype html>", None, '"play"</script>\n']}}],
            }
        },
    ),
    settings=server(),
    fault="nobody serves the page",
)
case(
    "destructive: a prompt is not confirmed",
    event(
        "prompts/get",
        asked=["principal"],
        handler=[["return", {"messages": []}]],
        delivered={"state": None},
        answered={"result": {"messages": []}},
    ),
    settings=server(MARKED),
    fault="a prompt of the tool's name is confirmed",
)
