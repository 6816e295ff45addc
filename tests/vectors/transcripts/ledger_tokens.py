"""A guard with a ledger: single use, what is unknown to the ledger, and a ledger that fails."""

from .builders import *

transcripts = Transcripts(LEDGER)
case = transcripts.case

TOKEN = state_token(name="t")


def second_round(token: object, **expected: object) -> dict:
    """A request with a state that passes, unless something else is expected."""
    usual = {"commands": ["admit"], **runs('{"asked":1}', {})}
    return again(token, **{**usual, **expected})


def refused(token: object, code: str, **more: object) -> dict:
    return second_round(token, **{"delivered": None, **refusal(STATE_ERROR, code, "request-state"), **more})


def failed(token: object, **more: object) -> dict:
    return second_round(token, **more, delivered=None, **refusal(INTERNAL, "ledger_unavailable", "request-state"))


def remembers(since: int, **options: object) -> dict:
    """A ledger that began so many seconds ago."""
    return {**LEDGER, "ledgerOptions": {"since": since, **options}}


case("ledger: a requestState is used once", "it is used as often as anybody likes")(
    second_round(TOKEN), refused(T, "used"), refused(T, "used", after=599), second_round(state_token(name="u"))
)
case("ledger: where the author says so, a requestState may be used again", "the setting is not heard")(
    second_round(TOKEN), second_round(T), settings={**LEDGER, "ledgerOptions": {"reusableRequestState": True}}
)
case(
    "ledger: a requestState of another user is refused and not used", "the ledger is asked before the seal is checked"
)(refused(state_token(name="t", **{"as": "bob"}), "principal_mismatch", commands=[]), second_round(T, who="bob"))
case("ledger: an answer that was lost is asked for again by the same attempt", "the second try is a second use")(
    second_round(TOKEN, lost={"admit": 1}, commands=["admit", "admit"]), refused(T, "used")
)
case("ledger: two answers that were lost are the server's failure", "no answer is taken for a yes")(
    failed(TOKEN, lost={"admit": 2}, commands=["admit", "admit"]), refused(T, "used")
)

# ---- a ledger that fails ----


def closed(what: str, request: dict, **settings: object) -> None:
    case(f"ledger: one that fails accepts {what}", "it fails open")(request, settings={**FAILING, **settings})


TWICE = {"commands": ["admit", "admit"]}
closed("nothing", failed(state_token(), **TWICE))
closed("no cursor of a user", listing(cursor_token(), **TWICE, **refusal(INTERNAL, "ledger_unavailable", "cursor")))
closed(
    "no session",
    call({"$session": {"as": "alice"}}, **TWICE, **refusal(INTERNAL, "ledger_unavailable")),
    sessions={"initial": 0},
)
closed(
    "no handle",
    call(
        None,
        ["check", "basket", handle()],
        did=[FAILED],
        delivered={},
        hears={},
        reported=report("ledger_unavailable", "handle"),
    ),
)
case("ledger: what is not asked about passes though the ledger fails", "a public page needs the ledger")(
    listing(cursor_token(**{"as": "anonymous"}), commands=[], **returns({"tools": []}, given="page 2"), hears={}),
    settings=FAILING,
)

# ---- what it remembers ----

case("ledger: nothing is used unless everything of the request passes", "a spend before the session's check")(
    create(payload="0"),
    call(S, **written(1, 0)),
    again(TOKEN, session=FIRST, commands=["admit"], **stale(1)),
    second_round(T, session=S, delivered={"state": '{"asked":1}', **seen(1, 1)}),
    settings=WITH_SESSIONS,
)
case("ledger: a requestState that is older than its records is unknown", "what may have been used is accepted")(
    refused(state_token(age=60), "unknown"), second_round(state_token()), settings=remembers(0)
)
case("ledger: what was used before it forgot everything is unknown", "what was used can be used again")(
    second_round(TOKEN), refused(T, "unknown", after=60, forgets=True), second_round(state_token())
)
case(
    "ledger: with a clock of its own, what was made within the clock tolerance is unknown", "clocks are taken for equal"
)(
    refused(TOKEN, "unknown"),
    refused(state_token(), "unknown", after=4),
    second_round(state_token(), after=1),
    settings=remembers(0, local=False),
)
case("ledger: the clock tolerance is the author's to set", "the setting is not heard")(
    refused(state_token(), "unknown", after=58),
    second_round(state_token(), after=2),
    settings=remembers(0, clockTolerance=60),
)
case(
    "ledger: a token that was made later than the ledger's time is the server's failure",
    "a clock that is wrong goes unnoticed",
)(
    failed(state_token(age=-6)),
    second_round(state_token(age=-5)),
    settings={**LEDGER, "ledgerOptions": {"clockTolerance": 5}},
)
case("ledger: a session that is older than its records is unknown", "what may have ended is accepted")(
    create(payload="0"), refused_session(S, "unknown", after=60, forgets=True), settings=WITH_SESSIONS
)
case(
    "ledger: a session that is older than its records is accepted from a time on, if the author says so",
    "the setting is not heard",
)(
    call({"$session": {"name": "s", "payload": "7", "age": 300, "as": "alice"}}, **passed(7)),
    refused_session({"$session": {"payload": "7", "age": 900, "as": "alice"}}, "unknown"),
    settings={**WITH_SESSIONS, **remembers(0, acceptIssuedSince=600)},
)
case(
    "ledger: a requestState that is older than its records is not accepted by that",
    "what may have been used is accepted",
)(refused(state_token(age=300), "unknown"), settings=remembers(0, acceptIssuedSince=600))

# ---- handles ----

NEXT, ONCE = {"$handle": "i"}, {"once": True}
case(
    "ledger: a self-contained handle for single use is used up by its renewal",
    "it is used as often as anybody likes, or by opening it",
)(
    at_a_tool(
        ["seal", "basket", 1, {"as": "h", **ONCE}],
        ["open", "basket", H, ONCE],
        ["open", "basket", H, ONCE],
        ["renew", "basket", H, 2, {"as": "i", **ONCE}],
        did=[H, {"value": 1}, {"value": 1}, NEXT],
        happened=["sealed handle-state new", *["opened handle-state new 0"] * 3, "sealed handle-state new"],
    ),
    at_a_tool(
        ["open", "basket", H, ONCE],
        ["renew", "basket", H, 3, ONCE],
        ["open", "basket", NEXT, ONCE],
        did=[REFUSED, REFUSED, {"value": 2, "generation": 1}],
        reported=report("used", "handle-state", "handle-state"),
    ),
)
case("ledger: the renewal of a handle whose answer was lost is tried again", "the second try is a second use")(
    at_a_tool(["seal", "basket", 1, {"as": "h", **ONCE}], did=[H]),
    at_a_tool(["renew", "basket", H, 2, {"as": "i", **ONCE}], lost={"admit": 1}, did=[NEXT]),
    at_a_tool(["open", "basket", NEXT, ONCE], did=[{"value": 2}]),
)
case(
    "ledger: a self-contained handle may be renewed again unless it is for single use", "every handle is for single use"
)(
    at_a_tool(
        ["seal", "basket", 1, {"as": "h"}],
        ["renew", "basket", H, 2, {"as": "i"}],
        ["renew", "basket", H, 3, {"as": "j"}],
        did=[H, NEXT, {"$handle": "j"}],
    )
)
case("ledger: a handle that is older than its records is unknown", "what may have ended is accepted")(
    at_a_tool(
        ["check", "basket", handle(age=60)],
        ["open", "basket", handle(age=60, payload="1")],
        did=[REFUSED, REFUSED],
        reported=report("unknown", "handle", "handle-state"),
    ),
    settings=remembers(0),
)
