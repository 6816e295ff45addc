"""A guard with a ledger: the latest state of a session, writes, updates and renewals."""

from .builders import (
    INTERNAL,
    NOT_FOUND,
    SESSION,
    WITH_SESSIONS,
    Transcripts,
    ask_back,
    call,
    create,
    done,
    event,
    meta,
    params_of,
    passed,
    refused_session,
    report,
    revoke,
    session_out,
    stale,
    stale_error,
    state_token,
    written,
)

transcripts = Transcripts()
case = transcripts.case

FIRST = {"$session": "s", "version": 0}
LATEST = {"$session": "s"}
ADMIT, BOTH = {"commands": ["admit"]}, {"commands": ["admit", "commit"]}
#: What another request does while a handler runs.
MEANWHILE = [call(FIRST, **written(1, 0), **BOTH)]
READ = {"handler": [done()], "delivered": {"session": {"value": 0, "generation": 0}}}

case(
    "ledger: a session that is written is committed, and one that is read is not",
    create(payload="0"),
    call(LATEST, **passed(0), **ADMIT),
    call(LATEST, **written(1, 0), **BOTH),
    call(LATEST, **passed(1, 1), **ADMIT),
    settings=WITH_SESSIONS,
    fault="what is written is not remembered",
)
case(
    "ledger: a state that is stale is answered with the latest one, and nothing runs",
    create(payload="0"),
    call(FIRST, **written(1, 0)),
    call(FIRST, **stale(1), **ADMIT),
    call(LATEST, **written(2, 1, 1)),
    call(FIRST, **stale(2), **ADMIT),
    settings=WITH_SESSIONS,
    fault="an older state is accepted, or a client whose answer was lost is locked out",
)
for method in ("prompts/get", "resources/read", "demo/play", "tools/list"):
    case(
        f"ledger: {method}: a state that is stale is answered with an error that has the latest one",
        create(payload="0"),
        call(FIRST, **written(1, 0)),
        call(FIRST, method=method, **stale_error(1), **ADMIT),
        settings=WITH_SESSIONS,
        fault="a client is locked out of what is no tool",
    )
case(
    "ledger: a state that is stale and altered is not found",
    create(payload="0"),
    call(FIRST, **written(1, 0)),
    refused_session({"$session": {"as": "alice", "changeState": "flip"}}, "unauthentic", commands=[]),
    settings=WITH_SESSIONS,
    fault="the ledger is asked before the seal is checked",
)
case(
    "ledger: of two writes at once one wins, and the other hears that it ran",
    create(payload="0"),
    call(
        FIRST,
        handler=[["write", 2], done()],
        during=MEANWHILE,
        did=["ok"],
        delivered=READ["delivered"],
        **stale(1, ran=True),
        **BOTH,
    ),
    call(LATEST, **passed(1, 1)),
    settings=WITH_SESSIONS,
    fault="a write is lost in silence",
)
case(
    "ledger: of two writes at once that are no tool's the other hears it by an error",
    create(payload="0"),
    call(
        FIRST,
        method="resources/read",
        handler=[["write", 2], ["return", {"contents": []}]],
        during=MEANWHILE,
        did=["ok"],
        delivered=READ["delivered"],
        **stale_error(1, ran=True),
    ),
    call(LATEST, **passed(1, 1)),
    settings=WITH_SESSIONS,
    fault="a write is lost in silence",
)
case(
    "ledger: who reads while another writes hears nothing of it",
    create(payload="0"),
    call(FIRST, **READ, during=MEANWHILE, answered={"result": meta(name="s")}, **ADMIT),
    settings=WITH_SESSIONS,
    fault="a read is refused",
)
case(
    "ledger: what asks back commits nothing, and its next round sends the same state",
    create(payload="0"),
    call(
        LATEST,
        handler=[["write", 50], ask_back('{"asked":1}')],
        did=["ok"],
        delivered=READ["delivered"],
        answered={
            "result": {
                "requestState": state_token(name="t"),
                "_meta": {SESSION: {"$session": "s", "$absent": ["state"]}},
            }
        },
        **ADMIT,
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": "t"}),
        session=FIRST,
        asked=["principal"],
        **{**written(1, 0), "delivered": {"state": '{"asked":1}', "session": {"value": 0, "generation": 0}}},
        **BOTH,
    ),
    settings=WITH_SESSIONS,
    fault="the next round is refused as stale",
)
case(
    "ledger: a JSON-RPC error commits nothing",
    create(payload="0"),
    call(
        LATEST,
        handler=[["write", 1], ["throw"]],
        did=["ok"],
        delivered=READ["delivered"],
        answered={"error": {"code": -32000, "message": "the handler's own"}},
        **ADMIT,
    ),
    call(FIRST, **passed(0)),
    settings=WITH_SESSIONS,
    fault="the client has a state that is stale, and was given no other",
)
case(
    "ledger: a commit whose answer was lost is tried again, and is no second write",
    create(payload="0"),
    call(LATEST, **written(1, 0), lost={"commit": 1}, commands=["admit", "commit", "commit"]),
    call(LATEST, **passed(1, 1)),
    settings=WITH_SESSIONS,
    fault="the second try is refused as stale",
)
case(
    "ledger: a commit without any answer is the server's failure, and the state can be had later",
    create(payload="0"),
    call(
        LATEST,
        **written(1, 0, answered={"error": INTERNAL}),
        lost={"commit": 2},
        commands=["admit", "commit", "commit"],
        reported=report("ledger_unavailable", "session"),
    ),
    call(
        LATEST,
        **{
            **stale(0),
            "answered": {"result": {"isError": True, **meta(name="s", payload="1", generation=1)}},
        },
    ),
    call(LATEST, **passed(1, 1)),
    settings=WITH_SESSIONS,
    fault="what was written is lost for good",
)
OLD = {"$session": {"name": "s", "payload": "0", "age": 43200, "as": "alice"}}
LONG = {**WITH_SESSIONS, "ledgerOptions": {"since": 86400}}
case(
    "ledger: a renewal is committed",
    call(OLD, **READ, answered={"result": meta(name="s", payload="0", generation=1)}, **BOTH),
    call(FIRST, **stale(1)),
    call(LATEST, **passed(0, 1)),
    settings=LONG,
    fault="two states are the latest",
)
case(
    "ledger: a renewal that loses leaves without a state",
    call(
        OLD,
        **READ,
        during=MEANWHILE,
        answered={"result": {"_meta": {SESSION: {"$session": "s", "$absent": ["state"]}}}},
        **BOTH,
    ),
    call(LATEST, **passed(1, 1)),
    settings=LONG,
    fault="a read is refused",
)
case(
    "ledger: a session is renewed if that is due when it comes, not when the result leaves",
    create(payload="0"),
    call(FIRST, **READ, during=[revoke("bob", after=43200)], answered={"result": meta(name="s")}, **ADMIT),
    settings=LONG,
    fault="a read that takes long fails where the ledger fails",
)
case(
    "ledger: a renewal without any answer leaves without a state",
    call(
        OLD,
        **READ,
        lost={"commit": 2},
        answered={"result": {"_meta": {SESSION: {"$session": "s", "$absent": ["state"]}}}},
        commands=["admit", "commit", "commit"],
        reported=report("ledger_unavailable", "session"),
    ),
    settings=LONG,
    fault="a read is refused",
)
case(
    "ledger: a fork is a session of its own",
    create(payload="0"),
    call(LATEST, **written(1, 0)),
    call(
        LATEST,
        handler=[["fork", "f"], done()],
        did=[session_out("f", "1", 0)],
        delivered={"session": {"value": 1, "generation": 1}},
        answered={"result": meta(name="s")},
        **ADMIT,
    ),
    call(LATEST, **written(2, 1, 1)),
    call(
        {"$session": "f"},
        handler=[["write", 7], done()],
        did=["ok"],
        delivered={"session": {"value": 1, "generation": 0}},
        answered={"result": meta(name="f", payload="7", generation=1)},
    ),
    call(LATEST, **passed(2, 2)),
    settings=WITH_SESSIONS,
    fault="a fork and its origin make each other stale",
)
case(
    "ledger: a session that the server holds has no latest state",
    event(
        "sessions/create",
        params={},
        asked=["principal"],
        delivered={},
        answered={"result": {"session": session_out()}},
    ),
    call(
        LATEST,
        handler=[["session"], done()],
        did=[{"value": None, "generation": 0}],
        delivered={},
        answered={"result": {}},
        **ADMIT,
    ),
    settings={"ledger": "memory", "sessions": {"heldByServer": True}},
    fault="it is refused as stale",
)
case(
    "ledger: a late write does not revive a session that ended",
    create(payload="0"),
    call(
        FIRST,
        **written(1, 0, answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}}),
        during=[
            event(
                "sessions/delete",
                params={},
                session={**FIRST, "without": ["state"]},
                asked=["principal"],
                delivered={},
                answered={"result": {}},
            )
        ],
        reported=report("ended", "session"),
    ),
    refused_session(FIRST, "ended"),
    settings=WITH_SESSIONS,
    fault="it goes on",
)
