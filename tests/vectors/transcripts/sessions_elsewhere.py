"""Data-layer sessions: in the earlier revision, held by the server, in notifications, switched off."""

from .builders import (
    HELD,
    SESSION,
    SESSIONS,
    Transcripts,
    call,
    create,
    done,
    event,
    meta,
    params_of,
    refused_session,
    report,
    session_out,
)

transcripts = Transcripts()
case = transcripts.case

BEGUN = {
    "asked": ["principal", "begin"],
    "delivered": {},
    "answered": {"result": {"session": session_out("s", '{"n":0}')}},
}

case(
    "session: in the earlier revision",
    create(era="legacy"),
    call(
        {"$session": "s"},
        era="legacy",
        handler=[["write", {"n": 1}], done()],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":1}', generation=1)},
    ),
    settings=SESSIONS,
    fault="one revision is left out",
)
case(
    "session held by the server: an id alone",
    event(
        "sessions/create",
        params={},
        asked=["principal"],
        delivered={},
        answered={"result": {"session": {"$session": "s", "$absent": ["state"]}}},
    ),
    call(
        {"$session": "s"},
        handler=[["session"], done()],
        did=[{"value": None, "generation": 0}],
        delivered={"session": {"value": None, "generation": 0}},
        answered={"result": {"_meta": {SESSION: {"$session": "s", "$absent": ["state"]}}}},
    ),
    settings=HELD,
    fault="a state is sealed for nothing",
)
case(
    "session held by the server: cannot be written or forked here",
    event(
        "sessions/create",
        params={},
        asked=["principal"],
        delivered={},
        answered={"result": {"session": {"$session": "s", "$absent": ["state"]}}},
    ),
    call(
        {"$session": "s"},
        handler=[["write", 1], ["session"], ["fork", "f"], done()],
        did=[{"error": "invalid_argument"}, {"value": None, "generation": 0}, {"error": "invalid_argument"}],
        delivered={"session": {"value": None, "generation": 0}},
        answered={"result": meta(name="s")},
    ),
    settings=HELD,
    fault="a write is lost in silence",
)
case(
    "session held by the server: another's is refused",
    refused_session({"$session": {"as": "bob", "without": ["state"]}}, "principal_mismatch"),
    settings=HELD,
    fault="the id is not verified",
)
case(
    "session: metadata that is null is absent",
    event(
        "tools/call",
        params=params_of("tools/call", _meta={SESSION: None}),
        asked=["principal"],
        handler=[["session"], done()],
        did=[None],
        delivered={"session": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    event("sessions/create", params={"_meta": {SESSION: None}}, **BEGUN),
    settings=SESSIONS,
    fault="null is a session that is not good",
)
case(
    "session: in a notification's handler",
    create(),
    event(
        "notifications/demo",
        params={},
        session={"$session": "s"},
        notification=True,
        asked=["principal"],
        handler=[["session"], ["write", 1]],
        did=[{"value": {"n": 0}, "generation": 0}, {"error": "invalid_argument"}],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
    ),
    settings=SESSIONS,
    fault="a notification has no session, or writes one",
    not_={"typescript": "the SDK gives the handler of a notification no context"},
)
case(
    "session: a notification with one that is not good is dropped",
    event(
        "notifications/demo",
        params={},
        session={"$session": {"as": "bob"}},
        notification=True,
        asked=["principal"],
        reported=report("principal_mismatch", "session"),
    ),
    settings=SESSIONS,
    fault="it is delivered",
)
case(
    "session: what server/discover says has the capability",
    event(
        "server/discover",
        params={},
        delivered={},
        answered={"result": {"capabilities": {"sessions": {}, "experimental": {"sessions": {}}}}},
    ),
    settings=SESSIONS,
    fault="nobody knows that there are sessions",
    not_={"rust": "rmcp's capabilities have no place for sessions below guard.layer()"},
)
case(
    "session: without sessions the metadata is nobody's business",
    event(
        "tools/call",
        session={"sessionId": "sess_x", "state": "x"},
        asked=["principal"],
        handler=[done()],
        delivered={},
        answered={"result": {}},
    ),
    fault="a server without sessions refuses",
)
