"""A guard with a ledger: the latest state of a session, writes, updates and renewals."""

from .builders import *

transcripts = Transcripts(WITH_SESSIONS)
case = transcripts.case

BEGUN = create(payload="0")
ADMIT, BOTH = {"commands": ["admit"]}, {"commands": ["admit", "commit"]}
#: What another request does while a handler runs.
MEANWHILE = [call(FIRST, **written(1, 0), **BOTH)]

case(
    "ledger: a session that is written is committed, and one that is read is not", "what is written is not remembered"
)(BEGUN, call(S, **passed(0), **ADMIT), call(S, **written(1, 0), **BOTH), call(S, **passed(1, 1), **ADMIT))
case(
    "ledger: a state that is stale is answered with the latest one, and nothing runs",
    "an older state is accepted, or a client whose answer was lost is locked out",
)(
    BEGUN,
    call(FIRST, **written(1, 0)),
    call(FIRST, **stale(1), **ADMIT),
    call(S, **written(2, 1, 1)),
    call(FIRST, **stale(2), **ADMIT),
)
for method in ("prompts/get", "resources/read", "demo/play", "tools/list"):
    case(
        f"ledger: {method}: a state that is stale is answered with an error that has the latest one",
        "a client is locked out of what is no tool",
    )(BEGUN, call(FIRST, **written(1, 0)), call(FIRST, method=method, **stale_error(1), **ADMIT))
case("ledger: a state that is stale and altered is not found", "the ledger is asked before the seal is checked")(
    BEGUN,
    call(FIRST, **written(1, 0)),
    refused_session({"$session": {"as": "alice", "changeState": "flip"}}, "unauthentic", commands=[]),
)
LOSES = {"during": MEANWHILE, "did": ["ok"], "delivered": seen(0)}
case("ledger: of two writes at once one wins, and the other hears that it ran", "a write is lost in silence")(
    BEGUN, call(FIRST, ["write", 2], **LOSES, **stale(1, ran=True), **BOTH), call(S, **passed(1, 1))
)
case("ledger: of two writes at once that are no tool's the other hears it by an error", "a write is lost in silence")(
    BEGUN,
    call(
        FIRST,
        method="resources/read",
        handler=[["write", 2], ["return", {"contents": []}]],
        **LOSES,
        **stale_error(1, ran=True),
    ),
    call(S, **passed(1, 1)),
)
#: What is heard after a handler that only read.
UNCHANGED, STATELESS = {"answered": {"result": meta()}}, {"answered": {"result": {"_meta": {SESSION: ID_ALONE}}}}


def read(session: dict, **expected: object) -> dict:
    """A tool that only reads the session's first state."""
    return call(session, handler=passed(0)["handler"], delivered=seen(0), **expected)


case("ledger: who reads while another writes hears nothing of it", "a read is refused")(
    BEGUN, read(FIRST, during=MEANWHILE, **UNCHANGED, **ADMIT)
)
ASKED = {"requestState": state_token(name="t"), "_meta": {SESSION: ID_ALONE}}
case(
    "ledger: what asks back commits nothing, and its next round sends the same state",
    "the next round is refused as stale",
)(
    BEGUN,
    call(S, **written(50, 0, handler=[["write", 50], ask_back('{"asked":1}')], hears=ASKED), **ADMIT),
    again(T, session=FIRST, **written(1, 0, delivered={"state": '{"asked":1}', **seen(0)}), **BOTH),
)
case("ledger: a JSON-RPC error commits nothing", "the client has a state that is stale, and was given no other")(
    BEGUN,
    call(S, **written(1, 0, handler=[["write", 1], ["throw"]], answered=THREW), **ADMIT),
    call(FIRST, **passed(0)),
)
case(
    "ledger: a commit whose answer was lost is tried again, and is no second write",
    "the second try is refused as stale",
)(BEGUN, call(S, **written(1, 0), lost={"commit": 1}, commands=["admit", "commit", "commit"]), call(S, **passed(1, 1)))
UNSURE = {"commands": ["admit", "commit", "commit"], "reported": report("ledger_unavailable", "session")}
case(
    "ledger: a commit without any answer is the server's failure, and the state can be had later",
    "what was written is lost for good",
)(
    BEGUN,
    call(S, **written(1, 0, answered={"error": INTERNAL}), lost={"commit": 2}, **UNSURE),
    call(S, **{**stale(0), "answered": {"result": {"isError": True, **meta("s", "1", 1)}}}),
    call(S, **passed(1, 1)),
)
OLD = {"$session": {"name": "s", "payload": "0", "age": 43200, "as": "alice"}}
LONG = {**WITH_SESSIONS, "ledgerOptions": {"since": 86400}}
case("ledger: a renewal is committed", "two states are the latest")(
    call(OLD, **renewed(0), **BOTH), call(FIRST, **stale(1)), call(S, **passed(0, 1)), settings=LONG
)
case("ledger: a renewal that loses leaves without a state", "a read is refused")(
    read(OLD, during=MEANWHILE, **STATELESS, **BOTH), call(S, **passed(1, 1)), settings=LONG
)
case(
    "ledger: a session is renewed if that is due when it comes, not when the result leaves",
    "a read that takes long fails where the ledger fails",
)(BEGUN, read(FIRST, during=[revoke("bob", after=43200)], **UNCHANGED, **ADMIT), settings=LONG)
case("ledger: a renewal without any answer leaves without a state", "a read is refused")(
    read(OLD, lost={"commit": 2}, **STATELESS, **UNSURE), settings=LONG
)
case("ledger: a fork is a session of its own", "a fork and its origin make each other stale")(
    BEGUN,
    call(S, **written(1, 0)),
    call(S, ["fork", "f"], did=[session_out("f", "1", 0)], delivered=seen(1, 1), hears=meta(), **ADMIT),
    call(S, **written(2, 1, 1)),
    call({"$session": "f"}, **written(7, 1, name="f")),
    call(S, **passed(2, 2)),
)
case("ledger: a session that the server holds has no latest state", "it is refused as stale")(
    create(asked=["principal"], hears={"session": session_out()}),
    call(S, ["session"], did=[{"value": None, "generation": 0}], delivered={}, hears={}, **ADMIT),
    settings={**LEDGER, "sessions": {"heldByServer": True}},
)
case("ledger: a late write does not revive a session that ended", "it goes on")(
    BEGUN,
    call(
        FIRST,
        **written(1, 0, answered={"error": LOST}),
        during=[delete({**FIRST, "without": ["state"]})],
        reported=report("ended", "session"),
    ),
    refused_session(FIRST, "ended"),
)
