"""Data-layer sessions: in the earlier revision, held by the server, in notifications, switched off."""

from .builders import *

transcripts = Transcripts(SESSIONS)
case = transcripts.case

HELD_BEGUN = create(asked=["principal"], answered={"result": {"session": ID_ALONE}})
NO_STATE = {"value": None, "generation": 0}
MISTAKE = {"error": "invalid_argument"}

case(
    "session: in the earlier revision",
    create(era="legacy"),
    call(S, era="legacy", **written({"n": 1}, {"n": 0})),
    fault="one revision is left out",
)
case(
    "session held by the server: an id alone",
    HELD_BEGUN,
    call(S, ["session"], did=[NO_STATE], delivered=seen(None), answered={"result": {"_meta": {SESSION: ID_ALONE}}}),
    settings=HELD,
    fault="a state is sealed for nothing",
)
case(
    "session held by the server: cannot be written or forked here",
    HELD_BEGUN,
    call(
        S,
        ["write", 1],
        ["session"],
        ["fork", "f"],
        did=[MISTAKE, NO_STATE, MISTAKE],
        delivered=seen(None),
        answered={"result": meta()},
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
NULL = {"_meta": {SESSION: None}}
case(
    "session: metadata that is null is absent",
    call(
        None,
        ["session"],
        params=params_of("tools/call", **NULL),
        did=[None],
        delivered={"session": None},
        answered={"result": DONE},
    ),
    {**create(), "message": {"method": "sessions/create", "params": NULL}},
    fault="null is a session that is not good",
)
case(
    "session: in a notification's handler",
    create(),
    note(
        S,
        asked=["principal"],
        handler=[["session"], ["write", 1]],
        did=[{"value": {"n": 0}, "generation": 0}, MISTAKE],
        delivered=seen({"n": 0}),
    ),
    fault="a notification has no session, or writes one",
    not_={"typescript": "the SDK gives the handler of a notification no context"},
)
case(
    "session: a notification with one that is not good is dropped",
    note({"$session": {"as": "bob"}}, asked=["principal"], reported=report("principal_mismatch", "session")),
    fault="it is delivered",
)
case(
    "session: what server/discover says has the capability",
    event(
        "server/discover",
        delivered={},
        answered={"result": {"capabilities": {"sessions": {}, "experimental": {"sessions": {}}}}},
    ),
    fault="nobody knows that there are sessions",
    not_={"rust": "rmcp's capabilities have no place for sessions below guard.layer()"},
)
case(
    "session: without sessions the metadata is nobody's business",
    call({"sessionId": "sess_x", "state": "x"}, handler=[done()], delivered={}, answered={"result": {}}),
    settings={},
    fault="a server without sessions refuses",
)
