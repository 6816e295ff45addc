"""Sessions of the transport: Mcp-Session-Id."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case

NEEDS_ONE = bad_request("Mcp-Session-Id")
OTHER_VERSION = bad_request("MCP-Protocol-Version to be what was negotiated")
OPTIONAL = {"transport": {"required": False}}

case("header: initialize begins a session, which later requests bring back", "no session begins")(
    begin(), http(CALL, token=T, **PASSED)
)
case("header: a missing version is what was negotiated", "a missing version header is left missing")(
    http(CALL, token=session_token(), version=None, **PASSED)
)
case(
    "header: another version than what was negotiated is refused before the ledger is asked",
    "the version is not compared",
)(
    http(CALL, token=session_token(), version="2025-06-18", asked=["principal"], commands=[], **OTHER_VERSION),
    settings=LEDGER,
)
case("header: without one, a request is refused", "it passes")(http(CALL, **NEEDS_ONE))
case("header: without one, a request passes where none is required", "it is refused all the same")(
    http(CALL, **PASSED), settings=OPTIONAL
)
case("header: without one, GET is refused", "it passes")(
    http(None, verb="GET", **NEEDS_ONE), not_={"fastmcp": "FastMCP has no route for GET where it is stateless"}
)
for verb in ("OPTIONS", "PUT"):
    case(f"header: {verb} is the server's own business", "a browser that asks first is refused")(
        http(None, verb=verb, version=None, answered={"status": 405}),
        http(None, verb=verb, version=None, token="x", answered={"status": 405}),
        not_={"java": "HttpServlet answers it by itself"} if verb == "OPTIONS" else None,
    )

# ---- what is not found ----

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
    case(f"header: {name} is not found", "a check of the seal is left out")(not_found(session_token(**change), code))
NAMES_IT = {**PASSED, "handler": [["sessionId"], done()]}
SERVES = {"transport": {"onLost": "serve"}}
for name, code, change in [
    ("has expired", "expired", {"age": 30 * 86400 + 1}),
    ("is of a retired key", "unknown_key", {"key": "unknown"}),
    ("is of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"header: one that {name} is served without its values, where the author says so",
        "a client that begins no session is locked out",
    )(
        http(CALL, token=session_token(**change), **NAMES_IT, did=[None], reported=report(code, "session")),
        settings=SERVES,
    )
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another user, that has expired too", "principal_mismatch", {"as": "bob", "age": 30 * 86400 + 1}),
    ("that holds something else", "malformed", {"payload": "{}"}),
    ("that has not begun", "not_yet_valid", {"age": -3600}),
]:
    case(f"header: one {name} is not found, even where lost ones are served", "it is served")(
        not_found(session_token(**change), code), settings=SERVES
    )
case("header: one that was ended is not found, even where lost ones are served", "it is served")(
    begin(), ends(), not_found(T, "ended"), settings={**SERVES, **LEDGER}
)
case("header: a lost one is not ended", "DELETE is served")(
    not_found(session_token(age=30 * 86400 + 1), "expired", verb="DELETE"), settings={**SERVES, **LEDGER}
)
case(
    "header: a handler knows its session by an id",
    "the id is another one for each request, or the same for two sessions",
)(
    begin(),
    http(CALL, token=T, **NAMES_IT, did=[{"$id": "one"}]),
    http(CALL, token=T, **NAMES_IT, did=[{"$id": "one"}]),
    http(CALL, token=session_token(), **NAMES_IT, did=[{"$id": "another"}]),
)
case("header: what is no token is not found", "any text is a session")(not_found("1234", "malformed"))
case("header: one that is too long is not found", "the limit is not held")(not_found(TOO_LONG, "too_large"))

# ---- where none begins ----

CAPABLE = {**INITIALIZE["params"], "capabilities": {"experimental": {"x": {"y": "z" * 3200}}}}
LARGE = {"message": {**INITIALIZE, "params": CAPABLE}}
case("header: what was negotiated may be too large for one", "a header that proxies refuse")(
    {**begin(**failed(500, INTERNAL, "too_large")), **LARGE}
)
SERVED = answers(result={"protocolVersion": "2025-11-25"})
case(
    "header: where none is required, a client that declares too much for one is served without",
    "a client that would be served hears an error",
)({**begin(**SERVED, reported=report("too_large", "session")), **LARGE}, http(CALL, **PASSED), settings=OPTIONAL)
NOBODY = {"who": "nobody", **failed(400, UNAUTHENTICATED, "unauthenticated")}
case("header: for nobody none begins", "whoever is nobody has a session")(begin(**NOBODY))
case("header: where the caller cannot be found out none begins", "the server's fault is the caller's")(
    begin(who="thrower", **failed(500, INTERNAL, "invalid_argument"))
)
case("header: nobody has no session", "whoever is nobody has a session")(
    http(CALL, token=session_token(), asked=["principal"], **NOBODY)
)

# ---- where one ends ----

case("header: DELETE without a memory is not offered", "a promise that nothing keeps")(
    http(None, verb="DELETE", token=session_token(), answered={"status": 405, "headers": {"allow": "GET, POST"}})
)
case("header: DELETE with another version ends nothing", "the version is compared after an end")(
    begin(), ends(version="2025-06-18", **OTHER_VERSION), http(CALL, token=T, **PASSED), settings=LEDGER
)
case("header: DELETE needs one", "nothing is ended, and it is said that it was")(
    http(None, verb="DELETE", **NEEDS_ONE), settings={**LEDGER, **OPTIONAL}
)
case("header: DELETE of another's is not found, and ends nothing", "anybody can end a session")(
    not_found(session_token(), "principal_mismatch", verb="DELETE", who="bob"), settings=LEDGER
)
case("header: revision 2026-07-28 passes as it is", "a revision without sessions needs one")(
    http(CALL, version="2026-07-28", era="modern", **PASSED),
    not_={"java": "the SDK speaks no revision without this session"},
)
case("header: the principal is asked once for wrapper and handler", "it is asked twice")(
    http(CALL, token=session_token(), **PASSED)
)
