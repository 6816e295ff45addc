"""Data-layer sessions: forked, required, deleted, and named in a header."""

from .builders import *

transcripts = Transcripts(SESSIONS)
case = transcripts.case

ZERO = {"n": 0}

case("session: a fork begins with what came", "a fork is the same session")(
    create(),
    call(S, ["fork", "f"], did=[session_out("f", '{"n":0}', 0)], delivered=seen(ZERO), hears=meta()),
    call({"$session": "f"}, **passed(ZERO, name="f")),
)
case("session: a fork begins with what was written", "a fork begins with what came")(
    create(),
    call(
        S,
        ["write", {"n": 5}],
        ["fork", "f"],
        did=["ok", session_out("f", '{"n":5}', 0)],
        delivered=seen(ZERO),
        hears=meta("s", '{"n":5}', 1),
    ),
)
case("session: two at once have the same generation", "an older state is refused without a store")(
    create(), call(S, **written({"n": 1}, ZERO)), call(FIRST, **written({"n": 2}, ZERO))
)
case("session: where none is sent there is none", "a session is made up")(
    call(None, ["session"], did=[None], delivered={"session": None}, hears={"$absent": ["_meta"]}),
    not_={"rust": "rmcp writes an empty _meta"},
)
case("session: writing where there is none is the author's mistake", "a write is lost in silence")(
    call(None, ["write", 1], did=[{"error": "invalid_argument"}], delivered={"session": None}, hears={}),
    not_=dict.fromkeys(("typescript", "python", "rust", "java"), "there is no session to write to"),
)

# ---- required ----

REQUIRED = {"sessions": {"initial": 0, "required": True}}
NEEDS_ONE = refusal(REQUIRED_ERROR, "malformed")


def finishes(result: dict, *, asked: tuple = ("principal",)) -> dict:
    return {"asked": asked, "handler": [["return", result]], "delivered": {}, "answered": {"result": {}}}


NO_PING = {"rust": "rmcp answers ping by itself"}
for name, required, method, expected in [
    ("a tool by its name", {"tools": ["play"]}, "tools/call", NEEDS_ONE),
    ("another tool", {"tools": ["other"]}, "tools/call", finishes(DONE)),
    ("a prompt of a tool's name", {"tools": ["play"]}, "prompts/get", finishes({"messages": []})),
    ("a method by its name", {"methods": ["resources/read"]}, "resources/read", NEEDS_ONE),
    ("another method", {"methods": ["resources/read"]}, "tools/call", finishes(DONE)),
    ("everything", True, "tools/call", NEEDS_ONE),
    ("everything: a method of the author's own", True, "demo/play", NEEDS_ONE),
    ("everything but a list", True, "tools/list", finishes({"tools": []}, asked=())),
    # Revision 2026-07-28 has no ping.
    ("everything but ping", True, "ping", {"era": "legacy", **finishes({}, asked=())}),
]:
    case(f"session required: {name}", "what needs a session runs without")(
        event(method, **expected),
        settings={"sessions": {"initial": 0, "required": required}},
        not_=NO_PING if method == "ping" else None,
    )
case("session required: one that is good passes", "everything is refused")(
    create(payload="0"), call(S, **passed(0)), settings=REQUIRED
)
case("session required: everything but a notification", "a notification is lost, and its client cannot know why")(
    note(handler=[["session"]], did=[None], delivered={"session": None}), settings=REQUIRED
)
case("session delete: without a memory there is no such method", "a promise that nothing keeps")(
    create(), event("sessions/delete", params={}, session=S, answered={"error": NO_METHOD})
)
case("session delete: it needs one", "nothing is deleted, and it is said that it was")(
    event("sessions/delete", **NEEDS_ONE), settings={**LEDGER, **SESSIONS}
)

# ---- named in a header ----

MISMATCH = {"code": -32020, "message": "Header mismatch: Mcp-Session-Id is not the session of the body"}
ITS_ID = {"$session": "s", "member": "sessionId"}
READ = {**passed(ZERO), "answered": {"result": {}}}
DIFFERS = event("tools/call", session=S, **refusal(MISMATCH, "malformed"))
case("session header: one that agrees passes", "every header is refused")(
    create(), {**call(S, **READ), "header": ITS_ID}
)
case("session header: one that differs is refused before anybody is asked", "header and body name two sessions")(
    create(), {**DIFFERS, "header": "sess_other"}
)
case("session header: two are none that agrees", "the first of two is compared, and a proxy takes the other")(
    create(), {**DIFFERS, "header": [ITS_ID, "sess_other"]}, not_={"engine": "a guard makes one text of them"}
)
case("session header: in earlier revisions it is the transport's own", "systems 1 and 2 exclude each other")(
    create(era="legacy"), {**call(S, era="legacy", **READ), "header": "the transport's"}
)
