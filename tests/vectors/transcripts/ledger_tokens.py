"""A guard with a ledger: single use, what is unknown to the ledger, and a ledger that fails."""

from .builders import (
    FAILING,
    INTERNAL,
    LEDGER,
    STATE_ERROR,
    WITH_SESSIONS,
    Transcripts,
    at_a_tool,
    call,
    create,
    cursor_token,
    done,
    event,
    params_of,
    passed,
    refused_session,
    report,
    stale,
    state_token,
    written,
)

transcripts = Transcripts()
case = transcripts.case


def named(name: str, **more: object) -> dict:
    """A state that later events present again."""
    return state_token(name=name, **more)


def second_round(token: object, *, who: str = "alice", **expected: object) -> dict:
    """A request with a state that passes, unless something else is expected."""
    usual = {
        "asked": ["principal"],
        "commands": ["admit"],
        "handler": [done()],
        "delivered": {"state": '{"asked":1}'},
        "answered": {"result": {}},
    }
    params = params_of("tools/call", requestState=token)
    return event("tools/call", params=params, who=who, **{**usual, **expected})


def refused(token: object, code: str, **more: object) -> dict:
    nothing = {"delivered": None, "answered": {"error": STATE_ERROR}, "reported": report(code, "request-state")}
    return second_round(token, **{**nothing, **more})


UNAVAILABLE = {
    "delivered": None,
    "answered": {"error": INTERNAL},
    "reported": report("ledger_unavailable", "request-state"),
}
case(
    "ledger: a requestState is used once",
    second_round(named("t")),
    refused({"$token": "t"}, "used"),
    refused({"$token": "t"}, "used", after=599),
    second_round(named("u")),
    settings=LEDGER,
    fault="it is used as often as anybody likes",
)
case(
    "ledger: where the author says so, a requestState may be used again",
    second_round(named("t")),
    second_round({"$token": "t"}),
    settings={**LEDGER, "ledgerOptions": {"reusableRequestState": True}},
    fault="the setting is not heard",
)
case(
    "ledger: a requestState of another user is refused and not used",
    refused(named("t", **{"as": "bob"}), "principal_mismatch", commands=[]),
    second_round({"$token": "t"}, who="bob"),
    settings=LEDGER,
    fault="the ledger is asked before the seal is checked",
)
case(
    "ledger: an answer that was lost is asked for again by the same attempt",
    second_round(named("t"), lost={"admit": 1}, commands=["admit", "admit"]),
    refused({"$token": "t"}, "used"),
    settings=LEDGER,
    fault="the second try is a second use",
)
case(
    "ledger: two answers that were lost are the server's failure",
    second_round(named("t"), lost={"admit": 2}, commands=["admit", "admit"], **UNAVAILABLE),
    refused({"$token": "t"}, "used"),
    settings=LEDGER,
    fault="no answer is taken for a yes",
)
case(
    "ledger: one that fails accepts nothing",
    second_round(state_token(), commands=["admit", "admit"], **UNAVAILABLE),
    settings=FAILING,
    fault="it fails open",
)
case(
    "ledger: one that fails accepts no cursor of a user",
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal"],
        commands=["admit", "admit"],
        answered={"error": INTERNAL},
        reported=report("ledger_unavailable", "cursor"),
    ),
    settings=FAILING,
    fault="it fails open",
)
case(
    "ledger: one that fails accepts no session",
    call(
        {"$session": {"as": "alice"}},
        commands=["admit", "admit"],
        answered={"error": INTERNAL},
        reported=report("ledger_unavailable", "session"),
    ),
    settings={**FAILING, "sessions": {"initial": 0}},
    fault="it fails open",
)
case(
    "ledger: one that fails accepts no handle",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["check", "basket", {"$handle": {"type": "basket", "as": "alice"}}], done()],
        did=[{"failed": True}],
        delivered={},
        answered={"result": {}},
        reported=report("ledger_unavailable", "handle"),
    ),
    settings=FAILING,
    fault="it fails open",
)
case(
    "ledger: what is not asked about passes though the ledger fails",
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        asked=["principal"],
        commands=[],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    settings=FAILING,
    fault="a public page needs the ledger",
)
case(
    "ledger: nothing is used unless everything of the request passes",
    create(payload="0"),
    call({"$session": "s"}, **written(1, 0)),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=named("t")),
        session={"$session": "s", "version": 0},
        asked=["principal"],
        commands=["admit"],
        **stale(1),
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": "t"}),
        session={"$session": "s"},
        asked=["principal"],
        commands=["admit"],
        handler=[done()],
        delivered={"state": '{"asked":1}', "session": {"value": 1, "generation": 1}},
        answered={"result": {}},
    ),
    settings=WITH_SESSIONS,
    fault="a spend before the session's check",
)
case(
    "ledger: a requestState that is older than its records is unknown",
    refused(state_token(age=60), "unknown"),
    second_round(state_token()),
    settings={**LEDGER, "ledgerOptions": {"since": 0}},
    fault="what may have been used is accepted",
)
case(
    "ledger: what was used before it forgot everything is unknown",
    second_round(named("t")),
    refused({"$token": "t"}, "unknown", after=60, forgets=True),
    second_round(state_token()),
    settings=LEDGER,
    fault="what was used can be used again",
)
case(
    "ledger: with a clock of its own, what was made within the clock tolerance is unknown",
    refused(named("t"), "unknown"),
    refused(state_token(), "unknown", after=4),
    second_round(state_token(), after=1),
    settings={**LEDGER, "ledgerOptions": {"since": 0, "local": False}},
    fault="clocks are taken for equal",
)
case(
    "ledger: the clock tolerance is the author's to set",
    refused(state_token(), "unknown", after=58),
    second_round(state_token(), after=2),
    settings={**LEDGER, "ledgerOptions": {"since": 0, "clockTolerance": 60}},
    fault="the setting is not heard",
)
case(
    "ledger: a token that was made later than the ledger's time is the server's failure",
    second_round(state_token(age=-6), **UNAVAILABLE),
    second_round(state_token(age=-5)),
    settings={**LEDGER, "ledgerOptions": {"clockTolerance": 5}},
    fault="a clock that is wrong goes unnoticed",
)
case(
    "ledger: a session that is older than its records is unknown",
    create(payload="0"),
    refused_session({"$session": "s"}, "unknown", after=60, forgets=True),
    settings=WITH_SESSIONS,
    fault="what may have ended is accepted",
)
case(
    "ledger: a session that is older than its records is accepted from a time on, if the author says so",
    call({"$session": {"name": "s", "payload": "7", "age": 300, "as": "alice"}}, **passed(7)),
    refused_session({"$session": {"payload": "7", "age": 900, "as": "alice"}}, "unknown"),
    settings={**WITH_SESSIONS, "ledgerOptions": {"since": 0, "acceptIssuedSince": 600}},
    fault="the setting is not heard",
)
case(
    "ledger: a requestState that is older than its records is not accepted by that",
    refused(state_token(age=300), "unknown"),
    settings={**LEDGER, "ledgerOptions": {"since": 0, "acceptIssuedSince": 600}},
    fault="what may have been used is accepted",
)


ONCE = {"once": True}
case(
    "ledger: a self-contained handle for single use is used up by its renewal",
    at_a_tool(
        ["seal", "basket", 1, {"as": "h", **ONCE}],
        ["open", "basket", {"$handle": "h"}, ONCE],
        ["open", "basket", {"$handle": "h"}, ONCE],
        ["renew", "basket", {"$handle": "h"}, 2, {"as": "i", **ONCE}],
        did=[{"$handle": "h"}, {"value": 1}, {"value": 1}, {"$handle": "i"}],
    ),
    at_a_tool(
        ["open", "basket", {"$handle": "h"}, ONCE],
        ["renew", "basket", {"$handle": "h"}, 3, ONCE],
        ["open", "basket", {"$handle": "i"}, ONCE],
        did=[{"refused": True}, {"refused": True}, {"value": 2, "generation": 1}],
        reported=[*report("used", "handle-state"), *report("used", "handle-state")],
    ),
    settings=LEDGER,
    fault="it is used as often as anybody likes, or by opening it",
)
case(
    "ledger: the renewal of a handle whose answer was lost is tried again",
    at_a_tool(["seal", "basket", 1, {"as": "h", **ONCE}], did=[{"$handle": "h"}]),
    at_a_tool(
        ["renew", "basket", {"$handle": "h"}, 2, {"as": "i", **ONCE}],
        lost={"admit": 1},
        did=[{"$handle": "i"}],
    ),
    at_a_tool(["open", "basket", {"$handle": "i"}, ONCE], did=[{"value": 2}]),
    settings=LEDGER,
    fault="the second try is a second use",
)
case(
    "ledger: a self-contained handle may be renewed again unless it is for single use",
    at_a_tool(
        ["seal", "basket", 1, {"as": "h"}],
        ["renew", "basket", {"$handle": "h"}, 2, {"as": "i"}],
        ["renew", "basket", {"$handle": "h"}, 3, {"as": "j"}],
        did=[{"$handle": "h"}, {"$handle": "i"}, {"$handle": "j"}],
    ),
    settings=LEDGER,
    fault="every handle is for single use",
)
case(
    "ledger: a handle that is older than its records is unknown",
    at_a_tool(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 60}}],
        ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 60, "payload": "1"}}],
        did=[{"refused": True}, {"refused": True}],
        reported=[*report("unknown", "handle"), *report("unknown", "handle-state")],
    ),
    settings={**LEDGER, "ledgerOptions": {"since": 0}},
    fault="what may have ended is accepted",
)
