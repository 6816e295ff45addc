"""Data-layer sessions: forked, required, deleted, and named in a header."""

from .builders import (
    LEDGER,
    NO_METHOD,
    REQUIRED_ERROR,
    SESSIONS,
    Transcripts,
    call,
    create,
    done,
    event,
    meta,
    params_of,
    report,
    session_out,
)

transcripts = Transcripts()
case = transcripts.case

case(
    "session: a fork begins with what came",
    create(),
    call(
        {"$session": "s"},
        handler=[["fork", "f"], done()],
        did=[session_out("f", '{"n":0}', 0)],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s")},
    ),
    call(
        {"$session": "f"},
        handler=[done()],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="f")},
    ),
    settings=SESSIONS,
    fault="a fork is the same session",
)
case(
    "session: a fork begins with what was written",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 5}], ["fork", "f"], done()],
        did=["ok", session_out("f", '{"n":5}', 0)],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":5}', generation=1)},
    ),
    settings=SESSIONS,
    fault="a fork begins with what came",
)
case(
    "session: two at once have the same generation",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], done()],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":1}', generation=1)},
    ),
    call(
        {"$session": "s", "version": 0},
        handler=[["write", {"n": 2}], done()],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":2}', generation=1)},
    ),
    settings=SESSIONS,
    fault="an older state is refused without a store",
)
case(
    "session: where none is sent there is none",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["session"], done()],
        did=[None],
        delivered={"session": None},
        answered={"result": {"$absent": ["_meta"]}},
    ),
    settings=SESSIONS,
    fault="a session is made up",
    not_={"rust": "rmcp writes an empty _meta"},
)
case(
    "session: writing where there is none is the author's mistake",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["write", 1], done()],
        did=[{"error": "invalid_argument"}],
        delivered={"session": None},
        answered={"result": {}},
    ),
    settings=SESSIONS,
    fault="a write is lost in silence",
    not_={sdk: "there is no session to write to" for sdk in ("typescript", "python", "rust", "java")},
)
# Revision 2026-07-28 has no ping.
PING = {"era": "legacy"}
NO_PING = {"rust": "rmcp answers ping by itself"}
for name, required, method, is_required in [
    ("a tool by its name", {"tools": ["play"]}, "tools/call", True),
    ("another tool", {"tools": ["other"]}, "tools/call", False),
    ("a prompt of a tool's name", {"tools": ["play"]}, "prompts/get", False),
    ("a method by its name", {"methods": ["resources/read"]}, "resources/read", True),
    ("another method", {"methods": ["resources/read"]}, "tools/call", False),
    ("everything", True, "tools/call", True),
    ("everything: a method of the author's own", True, "demo/play", True),
    ("everything but a list", True, "tools/list", False),
    ("everything but ping", True, "ping", False),
]:
    finish = {
        "tools/call": done(),
        "prompts/get": ["return", {"messages": []}],
        "tools/list": ["return", {"tools": []}],
        "ping": ["return", {}],
    }.get(method, ["return", {}])
    carries = method in ("tools/call", "prompts/get", "resources/read")
    expected: dict = (
        {"answered": {"error": REQUIRED_ERROR}, "reported": report("malformed", "session")}
        if is_required
        else {
            "asked": ["principal"] if carries else [],
            "handler": [finish],
            "delivered": {},
            "answered": {"result": {}},
        }
    )
    case(
        f"session required: {name}",
        event(method, params=params_of(method), **expected, **(PING if method == "ping" else {})),
        settings={"sessions": {"initial": 0, "required": required}},
        fault="what needs a session runs without",
        **({"not_": NO_PING} if method == "ping" else {}),
    )
case(
    "session required: one that is good passes",
    create(payload="0"),
    call(
        {"$session": "s"},
        handler=[done()],
        delivered={"session": {"value": 0, "generation": 0}},
        answered={"result": meta(name="s")},
    ),
    settings={"sessions": {"initial": 0, "required": True}},
    fault="everything is refused",
)
case(
    "session required: everything but a notification",
    event(
        "notifications/demo",
        params={},
        notification=True,
        handler=[["session"]],
        did=[None],
        delivered={"session": None},
    ),
    settings={"sessions": {"initial": 0, "required": True}},
    fault="a notification is lost, and its client cannot know why",
)
case(
    "session delete: without a memory there is no such method",
    create(),
    event("sessions/delete", params={}, session={"$session": "s"}, answered={"error": NO_METHOD}),
    settings=SESSIONS,
    fault="a promise that nothing keeps",
)
case(
    "session delete: it needs one",
    event(
        "sessions/delete",
        params={},
        answered={"error": REQUIRED_ERROR},
        reported=report("malformed", "session"),
    ),
    settings={**LEDGER, **SESSIONS},
    fault="nothing is deleted, and it is said that it was",
)
case(
    "session header: one that agrees passes",
    create(),
    {
        **call(
            {"$session": "s"},
            handler=[done()],
            delivered={"session": {"value": {"n": 0}, "generation": 0}},
            answered={"result": {}},
        ),
        "header": {"$session": "s", "member": "sessionId"},
    },
    settings=SESSIONS,
    fault="every header is refused",
)
case(
    "session header: one that differs is refused before anybody is asked",
    create(),
    {
        **event(
            "tools/call",
            session={"$session": "s"},
            answered={
                "error": {
                    "code": -32020,
                    "message": "Header mismatch: Mcp-Session-Id is not the session of the body",
                }
            },
            reported=report("malformed", "session"),
        ),
        "header": "sess_other",
    },
    settings=SESSIONS,
    fault="header and body name two sessions",
)
case(
    "session header: two are none that agrees",
    create(),
    {
        **event(
            "tools/call",
            session={"$session": "s"},
            answered={
                "error": {
                    "code": -32020,
                    "message": "Header mismatch: Mcp-Session-Id is not the session of the body",
                }
            },
            reported=report("malformed", "session"),
        ),
        "header": [{"$session": "s", "member": "sessionId"}, "sess_other"],
    },
    settings=SESSIONS,
    fault="the first of two is compared, and a proxy takes the other",
    not_={"engine": "a guard makes one text of them"},
)
case(
    "session header: in earlier revisions it is the transport's own",
    create(era="legacy"),
    {
        **call(
            {"$session": "s"},
            era="legacy",
            handler=[done()],
            delivered={"session": {"value": {"n": 0}, "generation": 0}},
            answered={"result": {}},
        ),
        "header": "the transport's",
    },
    settings=SESSIONS,
    fault="systems 1 and 2 exclude each other",
)
