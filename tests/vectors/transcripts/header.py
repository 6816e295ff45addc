"""Sessions of the transport: Mcp-Session-Id."""

import json

from .builders import (
    CALL,
    INITIALIZE,
    INTERNAL,
    LEDGER,
    NEGOTIATED,
    PASSED,
    UNAUTHENTICATED,
    Transcripts,
    bad_request,
    begin,
    done,
    http,
    report,
    session_token,
)

transcripts = Transcripts()
case = transcripts.case

ONE = "Mcp-Session-Id"
case(
    "header: initialize begins a session, which later requests bring back",
    begin(),
    http(CALL, token={"$token": "t"}, **PASSED),
    fault="no session begins",
)
case(
    "header: a missing version is what was negotiated",
    http(CALL, token=session_token(), version=None, **PASSED),
    fault="a missing version header is left missing",
)
case(
    "header: another version than what was negotiated is refused before the ledger is asked",
    http(
        CALL,
        token=session_token(),
        version="2025-06-18",
        asked=["principal"],
        commands=[],
        **bad_request("MCP-Protocol-Version to be what was negotiated"),
    ),
    settings=LEDGER,
    fault="the version is not compared",
)
case("header: without one, a request is refused", http(CALL, **bad_request(ONE)), fault="it passes")
case(
    "header: without one, a request passes where none is required",
    http(CALL, **PASSED),
    settings={"transport": {"required": False}},
    fault="it is refused all the same",
)
case(
    "header: without one, GET is refused",
    http(None, verb="GET", **bad_request(ONE)),
    fault="it passes",
    not_={"fastmcp": "FastMCP has no route for GET where it is stateless"},
)
for verb in ("OPTIONS", "PUT"):
    case(
        f"header: {verb} is the server's own business",
        http(None, verb=verb, version=None, answered={"status": 405}),
        http(None, verb=verb, version=None, token="x", answered={"status": 405}),
        fault="a browser that asks first is refused",
        not_={"java": "HttpServlet answers it by itself"} if verb == "OPTIONS" else None,
    )
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("expired", "expired", {"age": 30 * 86400 + 1}),
    ("too old, whatever its own lifetime", "expired", {"age": 31 * 86400, "ttl": 60 * 86400}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("that holds something else", "malformed", {"payload": "{}"}),
    ("that holds no JSON", "malformed", {"payload": "x"}),
]:
    case(
        f"header: {name} is not found",
        http(
            CALL,
            token=session_token(**change),
            asked=["principal"],
            answered={"status": 404},
            reported=report(code, "session"),
        ),
        fault="a check of the seal is left out",
    )
SERVES = {"transport": {"onLost": "serve"}}
for name, code, change in [
    ("has expired", "expired", {"age": 30 * 86400 + 1}),
    ("is of a retired key", "unknown_key", {"key": "unknown"}),
    ("is of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"header: one that {name} is served without its values, where the author says so",
        http(
            CALL,
            token=session_token(**change),
            **{**PASSED, "handler": [["sessionId"], done()], "did": [None]},
            reported=report(code, "session"),
        ),
        settings=SERVES,
        fault="a client that begins no session is locked out",
    )
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another user, that has expired too", "principal_mismatch", {"as": "bob", "age": 30 * 86400 + 1}),
    ("that holds something else", "malformed", {"payload": "{}"}),
    ("that has not begun", "not_yet_valid", {"age": -3600}),
]:
    case(
        f"header: one {name} is not found, even where lost ones are served",
        http(
            CALL,
            token=session_token(**change),
            asked=["principal"],
            answered={"status": 404},
            reported=report(code, "session"),
        ),
        settings=SERVES,
        fault="it is served",
    )
case(
    "header: one that was ended is not found, even where lost ones are served",
    begin(),
    http(None, verb="DELETE", token={"$token": "t"}, asked=["principal"], answered={"status": 204}),
    http(
        CALL,
        token={"$token": "t"},
        asked=["principal"],
        answered={"status": 404},
        reported=report("ended", "session"),
    ),
    settings={**SERVES, **LEDGER},
    fault="it is served",
)
case(
    "header: a lost one is not ended",
    http(
        None,
        verb="DELETE",
        token=session_token(age=30 * 86400 + 1),
        asked=["principal"],
        answered={"status": 404},
        reported=report("expired", "session"),
    ),
    settings={**SERVES, **LEDGER},
    fault="DELETE is served",
)
NAMES_IT = {**PASSED, "handler": [["sessionId"], done()]}
case(
    "header: a handler knows its session by an id",
    begin(),
    http(CALL, token={"$token": "t"}, **NAMES_IT, did=[{"$id": "one"}]),
    http(CALL, token={"$token": "t"}, **NAMES_IT, did=[{"$id": "one"}]),
    http(CALL, token=session_token(), **NAMES_IT, did=[{"$id": "another"}]),
    fault="the id is another one for each request, or the same for two sessions",
)
case(
    "header: what is no token is not found",
    http(CALL, token="1234", asked=["principal"], answered={"status": 404}, reported=report("malformed", "session")),
    fault="any text is a session",
)
case(
    "header: one that is too long is not found",
    http(
        CALL,
        token=session_token(payload=json.dumps({**NEGOTIATED, "x": "y" * 3200})),
        asked=["principal"],
        answered={"status": 404},
        reported=report("too_large", "session"),
    ),
    fault="the limit is not held",
)
case(
    "header: what was negotiated may be too large for one",
    {
        **begin(
            answered={"status": 500, "message": {"error": INTERNAL}},
            reported=report("too_large", "session"),
        ),
        "message": {
            **INITIALIZE,
            "params": {**INITIALIZE["params"], "capabilities": {"experimental": {"x": {"y": "z" * 3200}}}},
        },
    },
    fault="a header that proxies refuse",
)
case(
    "header: where none is required, a client that declares too much for one is served without",
    {
        **begin(
            answered={"status": 200, "message": {"result": {"protocolVersion": "2025-11-25"}}},
            reported=report("too_large", "session"),
        ),
        "message": {
            **INITIALIZE,
            "params": {**INITIALIZE["params"], "capabilities": {"experimental": {"x": {"y": "z" * 3200}}}},
        },
    },
    http(CALL, **PASSED),
    settings={"transport": {"required": False}},
    fault="a client that would be served hears an error",
)
case(
    "header: for nobody none begins",
    begin(
        who="nobody",
        answered={"status": 400, "message": {"error": UNAUTHENTICATED}},
        reported=report("unauthenticated", "session"),
    ),
    fault="whoever is nobody has a session",
)
case(
    "header: where the caller cannot be found out none begins",
    begin(
        who="thrower",
        answered={"status": 500, "message": {"error": INTERNAL}},
        reported=report("invalid_argument", "session"),
    ),
    fault="the server's fault is the caller's",
)
case(
    "header: nobody has no session",
    http(
        CALL,
        token=session_token(),
        who="nobody",
        asked=["principal"],
        answered={"status": 400, "message": {"error": UNAUTHENTICATED}},
        reported=report("unauthenticated", "session"),
    ),
    fault="whoever is nobody has a session",
)
case(
    "header: DELETE without a memory is not offered",
    http(None, verb="DELETE", token=session_token(), answered={"status": 405, "headers": {"allow": "GET, POST"}}),
    fault="a promise that nothing keeps",
)
case(
    "header: DELETE with another version ends nothing",
    begin(),
    http(
        None,
        verb="DELETE",
        token={"$token": "t"},
        version="2025-06-18",
        asked=["principal"],
        **bad_request("MCP-Protocol-Version to be what was negotiated"),
    ),
    http(CALL, token={"$token": "t"}, **PASSED),
    settings=LEDGER,
    fault="the version is compared after an end",
)
case(
    "header: DELETE needs one",
    http(None, verb="DELETE", **bad_request(ONE)),
    settings={**LEDGER, "transport": {"required": False}},
    fault="nothing is ended, and it is said that it was",
)
case(
    "header: DELETE of another's is not found, and ends nothing",
    http(
        None,
        verb="DELETE",
        who="bob",
        token=session_token(),
        asked=["principal"],
        answered={"status": 404},
        reported=report("principal_mismatch", "session"),
    ),
    settings=LEDGER,
    fault="anybody can end a session",
)
case(
    "header: revision 2026-07-28 passes as it is",
    http(CALL, version="2026-07-28", era="modern", **PASSED),
    fault="a revision without sessions needs one",
    not_={"java": "the SDK speaks no revision without this session"},
)
case(
    "header: the principal is asked once for wrapper and handler",
    http(CALL, token=session_token(), **PASSED),
    fault="it is asked twice",
)
