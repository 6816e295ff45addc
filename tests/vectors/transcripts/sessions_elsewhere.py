"""Data-layer sessions: in the earlier revision, held by the server, in notifications, switched off."""

from .builders import *

transcripts = Transcripts(SESSIONS)
case = transcripts.case

HELD_BEGUN = create(asked=["principal"], hears={"session": ID_ALONE}, happened=["sealed session new"])
NO_STATE = {"value": None, "generation": 0}
MISTAKE = {"error": "invalid_argument"}

case("session: in the earlier revision", "one revision is left out")(
    create(era="legacy"), call(S, era="legacy", **written({"n": 1}, {"n": 0}))
)
case("session held by the server: an id alone", "a state is sealed for nothing")(
    HELD_BEGUN,
    call(S, ["session"], did=[NO_STATE], delivered=seen(None), hears={"_meta": {SESSION: ID_ALONE}}),
    settings=HELD,
)
case("session held by the server: cannot be written or forked here", "a write is lost in silence")(
    HELD_BEGUN,
    call(
        S,
        ["write", 1],
        ["session"],
        ["fork", "f"],
        did=[MISTAKE, NO_STATE, MISTAKE],
        delivered=seen(None),
        hears=meta(),
    ),
    settings=HELD,
)
case("session held by the server: another's is refused", "the id is not verified")(
    refused_session({"$session": {"as": "bob", "without": ["state"]}}, "principal_mismatch"), settings=HELD
)
NULL = {"_meta": {SESSION: None}}
case("session: metadata that is null is absent", "null is a session that is not good")(
    call(
        None, ["session"], params=params_of("tools/call", **NULL), did=[None], delivered={"session": None}, hears=DONE
    ),
    {**create(), "message": {"method": "sessions/create", "params": NULL}},
)
case("session: in a notification's handler", "a notification has no session, or writes one")(
    create(),
    note(
        S,
        asked=["principal"],
        handler=[["session"], ["write", 1]],
        did=[{"value": {"n": 0}, "generation": 0}, MISTAKE],
        delivered=seen({"n": 0}),
    ),
    not_={"typescript": "the SDK gives the handler of a notification no context"},
)
case("session: a notification with one that is not good is dropped", "it is delivered")(
    note({"$session": {"as": "bob"}}, asked=["principal"], reported=report("principal_mismatch", "session"))
)
case("session: what server/discover says has the capability", "nobody knows that there are sessions")(
    event("server/discover", delivered={}, hears={"capabilities": {"sessions": {}, "experimental": {"sessions": {}}}}),
    not_={"rust": "rmcp's capabilities have no place for sessions below guard.layer()"},
)
case("session: without sessions the metadata is nobody's business", "a server without sessions refuses")(
    call({"sessionId": "sess_x", "state": "x"}, handler=[done()], delivered={}, hears={}), settings={}
)
