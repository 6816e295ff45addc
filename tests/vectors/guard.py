"""Writes tests/vectors/guard.json: what happens at a guard, as data.

    python3 tests/vectors/guard.py          writes it
    python3 tests/vectors/guard.py --check  fails where it differs

Four readers hold themselves to it: the engine alone (tests/guard.rs), and the guards of TypeScript, Python and Rust on real
servers of their SDKs. A transcript has a name, settings, and events in order; `fault` says which slip it is there to catch, and `not` names an SDK that cannot have the case, and why.

The server has a tool, a prompt and a resource named `play`, a list of each, and a method of its own, `demo/play`. What handles a
request runs the event's `handler`: each operation in turn, whose outcome is in `did`, and then returns a result.

settings   requestStateTtl, only                        as in every language
           sessions: {initial} or {heldByServer}        and ttl, noExpiry, required
           accept: yes | no | fails | once              what accept says; `once`: each token once; none: there is no accept
           transport: {required, ttl, sep1359}              of the wrapper around HTTP or stdio
event      via       request: at the SDK's handlers; http, stdio: through the wrapper too
           era       modern (2026-07-28) or legacy (2025-11-25)
           as        whom the principal function names: alice, bob, anonymous, nobody (it gives none), thrower (it throws)
           message   the JSON-RPC message; a request without an id here gets one, unless its event is a notification
           http, headers                                of a request over HTTP
           header    Mcp-Session-Id of a `request`
           handler   [["write", value], ["fork"], ["state"], ["session"], ["mint", type, options], ["check", type, handle, options],
                     ["seal", type, value, options], ["open", type, handle, options], ["renew", type, handle, value], ["end", type, handle, options],
                     ["return", result], ["throw"]]
           during    events that happen while the handler runs
           again     false: the SDK cannot begin again what the session negotiated
expected   asked     principal, begin, accept KIND, end KIND, in order
           anybodys  of each `accept`, where it matters: whether it is nobody's in particular
           delivered whether a handler ran, and `state`, `cursor`, `session` as it saw them
           did       what came of each operation: a value, or {"error": code} for the author's mistake, or {"refused": true} or
                     {"failed": true} for a handle
           answered  {"result"} or {"error"}, or over HTTP {"status", "headers", "message"}; null: nothing. A result is at least what is here;
                     `$absent` names members that it has not; an error is just so
           reported  code and kind of each refusal, in order
values     {"$token": {…}}    on the way in: such a token; on the way out: one that opens so and holds `payload`
           {"$session": name} the metadata of a session, remembered from the answer that it stood in; with `payload` and `generation` on the way
                              out: with a state that holds them; `version` is an earlier one, `without` leaves members out
           {"$session": {…}}  on the way in: such a session, made
           {"$handle": name}  what an operation `as` that name made; {"$handle": {…}} such a handle, made
of a token kind, label, context ([method, target, arguments]), as, payload, key (new, old, unknown), audience, age and ttl in seconds,
           change: flip a character, pad with `=`, cut the last, double it
Times are ages: a token of age 60 was made 60 seconds ago.
"""

import json
import pathlib
import sys

FILE = pathlib.Path(__file__).with_name("guard.json")
SESSION = "io.modelcontextprotocol/session"
ARGUMENTS = {"id": 7}
STATE_ERROR = {
    "code": -32602,
    "message": "Invalid or expired requestState",
    "data": {"reason": "invalid_request_state"},
}
CURSOR_ERROR = {"code": -32602, "message": "Invalid cursor"}
INTERNAL = {"code": -32603, "message": "Internal error"}
REQUIRED_ERROR = {
    "code": -32043,
    "message": "Session required",
    "data": {"reason": "session_required"},
}
NOT_FOUND = {"code": -32043, "message": "Session not found"}
NO_METHOD = {"code": -32601, "message": "Method not found"}
LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
MEMBER = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
NEGOTIATED = {
    "protocolVersion": "2025-11-25",
    "clientCapabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
    "serverCapabilities": {},
}

transcripts: list[dict] = []


def case(name: str, *events: dict, fault: str = "", settings: dict | None = None, **more: object) -> None:
    transcript = {"name": name, "fault": fault, "settings": settings or {}, "events": list(events)}
    if "not_" in more:
        transcript["not"] = more["not_"]
    if any(other["name"] == name for other in transcripts):
        sys.exit(f"two transcripts are named {name}")
    transcripts.append(transcript)


# ---- what comes in ----


def params_of(method: str, **more: object) -> dict:
    target = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(method)
    params: dict = {}
    if target == "name":
        params = {"name": "play"}
    if target == "uri":
        params = {"uri": "demo://play"}
    if method == "tools/call":
        params["arguments"] = ARGUMENTS
    return {**params, **more}


def target_of(method: str) -> str:
    return "demo://play" if method == "resources/read" else "play"


def state_token(method: str = "tools/call", payload: str = '{"asked":1}', **more: object) -> dict:
    arguments = ARGUMENTS if method == "tools/call" else None
    context = [method, target_of(method), arguments]
    return {"$token": {"kind": "request-state", "context": context, "as": "alice", "payload": payload, **more}}


def cursor_token(method: str = "tools/list", payload: str = "page 2", **more: object) -> dict:
    return {"$token": {"kind": "cursor", "label": method, "as": "alice", "payload": payload, **more}}


def event(
    method: str,
    *,
    params: dict | None = None,
    era: str = "modern",
    who: str = "alice",
    session: object = None,
    notification: bool = False,
    **expected: object,
) -> dict:
    message: dict = {"method": method}
    params = dict(params_of(method) if params is None else params)
    if session is not None:
        params["_meta"] = {SESSION: session}
    if params:
        message["params"] = params
    found = {"via": "request", "era": era, "as": who, "message": message}
    if notification:
        found["notification"] = True
    expected.setdefault("asked", [])
    expected.setdefault("delivered", None)
    expected.setdefault("answered", None)
    expected.setdefault("reported", [])
    return {**found, **expected}


def ask_back(state: object, **more: object) -> list:
    """What a handler returns that asks the client something."""
    return [
        "return",
        {"resultType": "input_required", "requestState": state, **more},
    ]


def done(text: str = "done", **more: object) -> list:
    return ["return", {"content": [{"type": "text", "text": text}], **more}]


def complete(method: str) -> tuple[list, dict]:
    """A complete result of a method, and what of it is compared."""
    result = {
        "tools/call": {"content": [{"type": "text", "text": "done"}]},
        "prompts/get": {"messages": []},
        "resources/read": {"contents": []},
    }[method]
    return ["return", result], {"result": {**result, "$absent": ["requestState"]}}


def refused_state(**more: object) -> dict:
    return {"answered": {"error": STATE_ERROR}, "asked": ["principal"], **more}


def report(code: str, kind: str) -> list:
    return [{"code": code, "kind": kind}]


# ---- requestState ----

for method in ("tools/call", "prompts/get", "resources/read"):
    finish, answer = complete(method)
    case(
        f"requestState: {method}: what is asked back leaves sealed",
        event(
            method,
            asked=["principal"],
            handler=[ask_back('{"asked":1}')],
            delivered={"state": None},
            answered={"result": {"resultType": "input_required", "requestState": state_token(method)}},
        ),
        fault="a state leaves as it is",
    )
    case(
        f"requestState: {method}: what comes back is opened for the handler",
        event(
            method,
            params=params_of(method, requestState=state_token(method)),
            asked=["principal"],
            handler=[["state"], finish],
            did=['{"asked":1}'],
            delivered={"state": '{"asked":1}'},
            answered=answer,
        ),
        fault="a handler sees no state",
    )
    for name, code, change in [
        ("of another user", "principal_mismatch", {"as": "bob"}),
        ("of nobody", "principal_mismatch", {"as": "anonymous"}),
        ("of another target", "unauthentic", {"context": [method, "other", None]}),
        ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
        ("expired", "expired", {"age": 601}),
        ("from the future", "not_yet_valid", {"age": -400}),
        ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
        ("altered", "unauthentic", {"change": "flip"}),
        ("spelled otherwise", "malformed", {"change": "pad"}),
    ]:
        case(
            f"requestState: {method}: {name} is refused",
            event(
                method,
                params=params_of(method, requestState=state_token(method, **change)),
                **refused_state(reported=report(code, "request-state")),
            ),
            fault="a check of the seal is left out",
        )

case(
    "requestState: of other arguments is refused",
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 8}, "requestState": state_token()},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="the arguments are not bound",
)
case(
    "requestState: of other arguments, that are absent, is refused",
    event(
        "tools/call",
        params={"name": "play", "requestState": state_token()},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="absent arguments are the same as any",
)
case(
    "requestState: of another method is refused",
    event(
        "prompts/get",
        params={"name": "play", "requestState": state_token("tools/call", context=["tools/call", "play", None])},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="the method is not bound",
)
case(
    "requestState: a cursor is none",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=cursor_token()),
        **refused_state(reported=report("wrong_purpose", "request-state")),
    ),
    fault="the kind is not compared",
)
for name, value in [("a number", 7), ("true", True), ("a list", ["x"]), ("an object", {"x": 1})]:
    case(
        f"requestState: {name} is refused",
        event(
            "tools/call",
            params=params_of("tools/call", requestState=value),
            **refused_state(reported=report("malformed", "request-state")),
        ),
        fault="what is no text passes",
    )
case(
    "requestState: an empty text is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=""),
        **refused_state(reported=report("malformed", "request-state")),
    ),
    fault="an empty state is none",
)
case(
    "requestState: what is too large is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(change="double", payload="x" * 4000)),
        **refused_state(reported=report("too_large", "request-state")),
    ),
    fault="the limit is not held",
)
case(
    "requestState: plain JSON, as a forger writes it, is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState='{"asked":1}'),
        **refused_state(reported=report("malformed", "request-state")),
    ),
    fault="what a client wrote reaches the handler",
)
case(
    "requestState: null is absent",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=None),
        asked=["principal"],
        handler=[["state"], done()],
        did=[None],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    fault="null is refused",
)
case(
    "requestState: the name of the member in another language's manner is none",
    event(
        "tools/call",
        params=params_of("tools/call", request_state='{"asked":1}'),
        asked=["principal"],
        handler=[["state"], done()],
        did=[None],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    fault="an alias reaches the handler",
    not_={"python": "the SDK knows it by that name, so it is refused there: test_hooks.py"},
)
case(
    "requestState: of an older key opens, and what leaves has the newest",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(key="old")),
        asked=["principal"],
        handler=[["state"], ask_back('{"asked":2}')],
        did=['{"asked":1}'],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"requestState": state_token(payload='{"asked":2}', key="new")}},
    ),
    fault="the ring is not tried",
)
case(
    "requestState: lives as long as the settings say",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(age=700, ttl=900)),
        asked=["principal"],
        handler=[ask_back('{"asked":2}')],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"requestState": state_token(payload='{"asked":2}', ttl=900)}},
    ),
    settings={"requestStateTtl": 900},
    fault="the lifetime is not given to what leaves",
)
case(
    "requestState: only the named arguments count",
    event(
        "tools/call",
        params={
            "name": "play",
            "arguments": {"id": 7, "trace": "b"},
            "requestState": state_token(context=["tools/call", "play", {"id": 7}]),
        },
        asked=["principal"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    settings={"only": {"play": ["id"]}},
    fault="all arguments count",
)
case(
    "requestState: a named argument that differs is refused",
    event(
        "tools/call",
        params={
            "name": "play",
            "arguments": {"id": 8, "trace": "a"},
            "requestState": state_token(context=["tools/call", "play", {"id": 7}]),
        },
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    settings={"only": {"play": ["id"]}},
    fault="no argument counts",
)
case(
    "requestState: without any named argument nothing can be bound",
    event(
        "tools/call",
        params={"name": "play", "arguments": {"other": 1}},
        asked=["principal"],
        handler=[ask_back("x")],
        delivered={"state": None},
        answered={"error": INTERNAL},
        reported=report("invalid_argument", "request-state"),
    ),
    settings={"only": {"play": ["id"]}},
    fault="a misspelt name binds to nothing",
)
case(
    "requestState: arguments that languages read differently matter only where something is bound",
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 2**60}},
        asked=["principal"],
        handler=[done()],
        delivered={"state": None},
        answered={"result": {}},
    ),
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 2**60}},
        asked=["principal"],
        handler=[ask_back("x")],
        delivered={"state": None},
        answered={"error": INTERNAL},
        reported=report("invalid_argument", "request-state"),
    ),
    fault="a large number is rounded and bound",
    not_={"typescript": "JSON.parse has rounded it before anybody sees it: it is bound as it was read"},
)
case(
    "requestState: arguments of a resource are not bound",
    event(
        "resources/read",
        params={"uri": "demo://play", "arguments": {"id": 9}, "requestState": state_token("resources/read")},
        asked=["principal"],
        handler=[["return", {"contents": []}]],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"contents": []}},
    ),
    fault="extra arguments of resources/read are bound",
)
case(
    "requestState: a complete result keeps a member of that name",
    event(
        "tools/call",
        asked=["principal"],
        handler=[done(requestState="the tool's own")],
        delivered={"state": None},
        answered={"result": {"requestState": "the tool's own"}},
    ),
    fault="the tool's own member is sealed",
    not_={
        "rust": "rmcp's complete results have no such member",
        "python": "the SDK's complete results have none; what a middleware answers has: test_servers.py",
    },
)
case(
    "requestState: what is too large to seal is the server's trouble",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back("x" * 4097)],
        delivered={"state": None},
        answered={"error": INTERNAL},
        reported=report("too_large", "request-state"),
    ),
    fault="it is answered as a refusal",
)
case(
    "requestState: a state that is empty is one",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back("")],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(payload="")}},
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(payload="")),
        asked=["principal"],
        handler=[["state"], done()],
        did=[""],
        delivered={"state": ""},
        answered={"result": {}},
    ),
    fault="an empty state is taken for none",
    not_={"rust": "State is JSON of a type, and an empty text is none: request_state.rs"},
)
case(
    "requestState: asking back without a state leaves none",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["return", {"resultType": "input_required", "inputRequests": {}}]],
        delivered={"state": None},
        answered={"result": {"resultType": "input_required", "$absent": ["requestState"]}},
    ),
    fault="a state is made up",
    not_={"typescript": "the SDK refuses a handler's result that asks for nothing and has no state"},
)
for who in ("nobody", "thrower"):
    case(
        f"principal: {who}: the handler does not run",
        event(
            "tools/call",
            who=who,
            asked=["principal"],
            answered={"error": INTERNAL},
            reported=report("invalid_argument", "request-state"),
        ),
        fault="whoever is nobody is anonymous",
    )
case(
    "principal: nobody, with a state that is good: the handler does not run",
    event(
        "tools/call",
        who="nobody",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal"],
        answered={"error": INTERNAL},
        reported=report("invalid_argument", "request-state"),
    ),
    fault="whoever is nobody is anonymous",
)
case(
    "principal: anonymous by name has tokens of its own",
    event(
        "tools/call",
        who="anonymous",
        asked=["principal"],
        handler=[ask_back("x")],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(payload="x", **{"as": "anonymous"})}},
    ),
    event(
        "tools/call",
        who="anonymous",
        params=params_of("tools/call", requestState=state_token()),
        **refused_state(reported=report("principal_mismatch", "request-state")),
    ),
    fault="anonymous opens everybody's",
)
case(
    "principal: a list without a cursor asks nobody",
    event(
        "tools/list",
        params={},
        who="nobody",
        handler=[["return", {"tools": []}]],
        delivered={"cursor": None},
        answered={"result": {"tools": [], "$absent": ["nextCursor"]}},
    ),
    fault="the principal is asked of everything",
)
case(
    "principal: a method that carries nothing asks nobody",
    event(
        "demo/play",
        params={},
        who="nobody",
        handler=[["return", {"ok": True}]],
        delivered={},
        answered={"result": {"ok": True}},
    ),
    fault="the principal is asked of everything",
)

# ---- cursors ----

for method in LISTS:
    finish = ["return", {MEMBER[method]: []}]
    case(
        f"cursor: {method}: leaves sealed and comes back",
        event(
            method,
            params={},
            asked=["principal"],
            handler=[["return", {MEMBER[method]: [], "nextCursor": "page 2"}]],
            delivered={"cursor": None},
            answered={"result": {"nextCursor": cursor_token(method)}},
        ),
        event(
            method,
            params={"cursor": cursor_token(method)},
            asked=["principal"],
            handler=[finish],
            delivered={"cursor": "page 2"},
            answered={"result": {MEMBER[method]: [], "$absent": ["nextCursor"]}},
        ),
        fault="a cursor leaves as it is",
    )
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another list", "unauthentic", {"label": "prompts/list"}),
    ("expired", "expired", {"age": 86401}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("spelled otherwise", "malformed", {"change": "pad"}),
]:
    case(
        f"cursor: {name} is refused",
        event(
            "tools/list",
            params={"cursor": cursor_token(**change)},
            asked=["principal"],
            answered={"error": CURSOR_ERROR},
            reported=report(code, "cursor"),
        ),
        fault="a check of the seal is left out",
    )
for name, value, reason in [
    ("a plain text", "page 2", None),
    ("a number", 2, "rmcp drops a cursor that is no text"),
    ("an object", {}, "rmcp drops a cursor that is no text"),
]:
    case(
        f"cursor: {name} is refused",
        event(
            "tools/list",
            params={"cursor": value},
            asked=["principal"],
            answered={"error": CURSOR_ERROR},
            reported=report("malformed", "cursor"),
        ),
        fault="what a client wrote reaches the handler",
        **({"not_": {"rust": reason}} if reason else {}),
    )
case(
    "cursor: null is absent",
    event(
        "tools/list",
        params={"cursor": None},
        handler=[["return", {"tools": []}]],
        delivered={"cursor": None},
        answered={"result": {"tools": []}},
    ),
    fault="null is refused",
)
case(
    "cursor: in the earlier revision too",
    event(
        "tools/list",
        params={},
        era="legacy",
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token()}},
    ),
    fault="one revision is left out",
)
case(
    "cursor: of a public page is anybody's",
    event(
        "tools/list",
        params={},
        handler=[["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "public", "ttlMs": 5}]],
        delivered={"cursor": None},
        answered={
            "result": {
                "nextCursor": cursor_token(**{"as": "anonymous"}),
                "cacheScope": "public",
                "ttlMs": 5,
            }
        },
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        who="bob",
        asked=["principal"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {"tools": []}},
    ),
    fault="a cursor of a public page is one user's",
)
case(
    "cursor: of a public page is of its list all the same",
    event(
        "tools/list",
        params={"cursor": cursor_token("prompts/list", **{"as": "anonymous"})},
        asked=["principal"],
        answered={"error": CURSOR_ERROR},
        reported=report("unauthentic", "cursor"),
    ),
    fault="a public cursor is not bound",
)
case(
    "cursor: of a private page is the user's",
    event(
        "tools/list",
        params={},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "private", "ttlMs": 5}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token(), "cacheScope": "private", "ttlMs": 5}},
    ),
    fault="every cursor is anybody's",
)
case(
    "cursor: nobody cannot have one of a private page",
    event(
        "tools/list",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"error": INTERNAL},
        reported=report("invalid_argument", "cursor"),
    ),
    fault="a page of nobody's leaves",
)
case(
    "cursor: what is too large to seal is the server's trouble",
    event(
        "tools/list",
        params={},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "x" * 4097}]],
        delivered={"cursor": None},
        answered={"error": INTERNAL},
        reported=report("too_large", "cursor"),
    ),
    fault="it is answered as a refusal",
)

# ---- accept ----

case(
    "accept: is asked before the handler runs",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    settings={"accept": "yes"},
    fault="accept is not asked",
)
case(
    "accept: no refuses in the fixed words",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        answered={"error": STATE_ERROR},
        reported=report("not_accepted", "request-state"),
    ),
    settings={"accept": "no"},
    fault="no is not heard",
)
case(
    "accept: what fails is the server's trouble",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        answered={"error": INTERNAL},
        reported=report("accept_unavailable", "request-state"),
    ),
    settings={"accept": "fails"},
    fault="it fails open",
)
case(
    "accept: is not asked of what is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(**{"as": "bob"})),
        **refused_state(reported=report("principal_mismatch", "request-state")),
    ),
    settings={"accept": "yes"},
    fault="it is asked of everything",
)
case(
    "accept: is not asked where nothing came",
    event(
        "tools/call",
        asked=["principal"],
        handler=[done()],
        delivered={"state": None},
        answered={"result": {}},
    ),
    settings={"accept": "no"},
    fault="it is asked of everything",
)
case(
    "accept: a cursor is asked for too",
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal", "accept cursor"],
        answered={"error": CURSOR_ERROR},
        reported=report("not_accepted", "cursor"),
    ),
    settings={"accept": "no"},
    fault="cursors pass",
)
case(
    "accept: a cursor of a public page is anybody's, and one of a private page is not",
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        asked=["principal", "accept cursor"],
        anybodys=[True],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal", "accept cursor"],
        anybodys=[False],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    settings={"accept": "yes"},
    fault="what is anybody's is counted as of who asks",
)
case(
    "accept: a state is used once, a cursor as often as anybody likes",
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": {**state_token()["$token"], "name": "t"}}),
        asked=["principal", "accept request-state"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": "t"}),
        asked=["principal", "accept request-state"],
        answered={"error": STATE_ERROR},
        reported=report("not_accepted", "request-state"),
    ),
    event(
        "tools/list",
        params={"cursor": {"$token": {**cursor_token()["$token"], "name": "c"}}},
        asked=["principal", "accept cursor"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    event(
        "tools/list",
        params={"cursor": {"$token": "c"}},
        asked=["principal", "accept cursor"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    settings={"accept": "once"},
    fault="single use forgets",
)

# ---- methods of the author's own ----

case(
    "own method: what the client sent is not the guard's, and reading it is a mistake",
    event(
        "demo/play",
        params={"requestState": '{"asked":1}'},
        handler=[["state"], ["return", {"ok": True}]],
        did=[{"error": "invalid_argument"}],
        delivered={},
        answered={"result": {"ok": True}},
    ),
    fault="the raw state reaches the author",
)
case(
    "own method: a list of the author's own carries a cursor",
    event(
        "demo/things/list",
        params={},
        asked=["principal"],
        handler=[["return", {"things": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token("demo/things/list")}},
    ),
    fault="only the known lists are sealed",
)

# ---- data-layer sessions ----

SESSIONS = {"sessions": {"initial": {"n": 0}}}
HELD = {"sessions": {"heldByServer": True}}


def session_out(name: str = "s", payload: str | None = None, generation: int | None = None) -> dict:
    found: dict = {"$session": name}
    if payload is not None:
        found |= {"payload": payload, "generation": generation or 0}
    return found


def create(name: str = "s", payload: str = '{"n":0}', **more: object) -> dict:
    expected = {
        "asked": ["principal", "begin"],
        "delivered": {},
        "answered": {"result": {"session": session_out(name, payload)}},
    }
    return event("sessions/create", params={}, **{**expected, **more})


def meta(**members: object) -> dict:
    return {"_meta": {SESSION: session_out(**members)}}


def call(session: object, *, method: str = "tools/call", **expected: object) -> dict:
    return event(method, session=session, **{"asked": ["principal"], **expected})


def refused_session(session: object, code: str, *, method: str = "tools/call", **more: object) -> dict:
    expected = {
        "answered": {"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        "reported": report(code, "session"),
    }
    return call(session, method=method, **{**expected, **more})


case("session: begins with what the author gives", create(), settings=SESSIONS, fault="nothing is sealed")
case(
    "session: is read, written, and read again",
    create(),
    call(
        {"$session": "s"},
        handler=[["session"], ["write", {"n": 1}], done()],
        did=[{"value": {"n": 0}, "generation": 0}, "ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":1}', generation=1)},
    ),
    call(
        {"$session": "s"},
        handler=[["session"], done()],
        did=[{"value": {"n": 1}, "generation": 1}],
        delivered={"session": {"value": {"n": 1}, "generation": 1}},
        answered={"result": meta(name="s")},
    ),
    settings=SESSIONS,
    fault="what was written is lost",
)
case(
    "session: what was written is read within the request",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], ["session"], ["write", {"n": 2}], done()],
        did=["ok", {"value": {"n": 1}, "generation": 0}, "ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":2}', generation=1)},
    ),
    settings=SESSIONS,
    fault="the first write stays",
)
case(
    "session: nothing written, the id alone goes back",
    create(),
    call(
        {"$session": "s"},
        handler=[done()],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {"_meta": {SESSION: {"$session": "s", "$absent": ["state"]}}}},
    ),
    settings=SESSIONS,
    fault="every answer has a new state",
)
case(
    "session: a JSON-RPC error discards the write",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], ["throw"]],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"error": {"code": -32000, "message": "the handler's own"}},
    ),
    settings=SESSIONS,
    fault="a write leaves with an error",
)
case(
    "session: a tool's own error keeps the write",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], done(isError=True)],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {"isError": True, **meta(name="s", payload='{"n":1}', generation=1)}},
    ),
    settings=SESSIONS,
    fault="a write is lost",
)
case(
    "session: half of its life over, it is renewed though nothing was written",
    call(
        {"$session": {"name": "s", "payload": '{"n":3}', "age": 43200, "as": "alice"}},
        handler=[done()],
        delivered={"session": {"value": {"n": 3}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":3}', generation=1)},
    ),
    settings=SESSIONS,
    fault="it ends while it is used",
)
case(
    "session: of an older key is sealed anew",
    call(
        {"$session": {"name": "s", "payload": '{"n":3}', "key": "old", "as": "alice"}},
        handler=[done()],
        delivered={"session": {"value": {"n": 3}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":3}', generation=1)},
    ),
    settings=SESSIONS,
    fault="it ends with its key",
)
case(
    "session: a lifetime of its own",
    call(
        {"$session": {"name": "s", "payload": "1", "age": 50, "ttl": 60, "as": "alice"}},
        handler=[["write", 2], done()],
        did=["ok"],
        delivered={"session": {"value": 1, "generation": 0}},
        answered={"result": meta(name="s", payload="2", generation=1)},
    ),
    call(
        {"$session": {"payload": "1", "age": 61, "ttl": 60, "as": "alice"}},
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("expired", "session"),
    ),
    settings={"sessions": {"initial": 1, "ttl": 60}},
    fault="the lifetime is the kind's",
)
case(
    "session: a result that is public becomes private",
    create(),
    event(
        "resources/read",
        session={"$session": "s"},
        asked=["principal"],
        handler=[["write", {"n": 1}], ["return", {"contents": [], "cacheScope": "public", "ttlMs": 5}]],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={
            "result": {
                "contents": [],
                "cacheScope": "private",
                "ttlMs": 0,
                **meta(name="s", payload='{"n":1}', generation=1),
            }
        },
    ),
    settings=SESSIONS,
    fault="scope left public",
)
case(
    "session: a list is verified, does not show it, and its page is private",
    create(),
    event(
        "tools/list",
        params={},
        session={"$session": "s"},
        asked=["principal"],
        handler=[
            ["session"],
            ["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "public", "ttlMs": 5}],
        ],
        did=[None],
        delivered={"session": None, "cursor": None},
        answered={
            "result": {
                "nextCursor": cursor_token(),
                "cacheScope": "private",
                "ttlMs": 0,
                **meta(name="s"),
            }
        },
    ),
    settings=SESSIONS,
    fault="a list depends on a session",
)
case(
    "session: a list refuses one that is not good",
    refused_session({"$session": {"as": "bob"}}, "principal_mismatch", method="tools/list"),
    settings=SESSIONS,
    fault="a list does not look at it",
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("idle for too long", "expired", {"age": 86401}),
    ("too old", "expired", {"idAge": 30 * 86400 + 1, "age": 60}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("whose id is altered", "unauthentic", {"changeId": "flip"}),
    ("whose state is altered", "unauthentic", {"changeState": "flip"}),
    ("whose state is another session's", "unauthentic", {"stateOf": "another"}),
    ("without its state", "malformed", {"without": ["state"]}),
    ("whose state is no text", "malformed", {"state": 7}),
]:
    case(
        f"session: {name} is refused",
        refused_session({"$session": {"as": "alice", **made}}, code),
        settings=SESSIONS,
        fault="a check of the seal is left out",
    )
for name, value in [
    ("a text", "x"),
    ("a number", 7),
    ("an empty object", {}),
    ("an id that is no text", {"sessionId": 7}),
]:
    case(
        f"session: {name} is refused",
        call(
            value,
            answered={"error": NOT_FOUND},
            reported=report("malformed", "session"),
        ),
        settings=SESSIONS,
        fault="what is no session is none",
    )
case(
    "session: it is refused before anything of the request is looked at",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(change="flip")),
        session={"$session": {"as": "bob"}},
        asked=["principal"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("principal_mismatch", "session"),
    ),
    settings=SESSIONS,
    fault="the order of checks",
)
case(
    "session: nothing is used up unless all pass",
    create(asked=["principal", "begin"]),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(age=700)),
        session={"$session": "s"},
        asked=["principal"],
        answered={"error": STATE_ERROR},
        reported=report("expired", "request-state"),
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        session={"$session": "s"},
        asked=["principal", "accept session", "accept request-state"],
        handler=[done()],
        delivered={"state": '{"asked":1}', "session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {}},
    ),
    settings={**SESSIONS, "accept": "once"},
    fault="a spend before the session's check",
)
case(
    "session: where accept refuses the session, the state is not used up",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        session={"$session": {"as": "alice", "payload": "1"}},
        asked=["principal", "accept session"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("not_accepted", "session"),
    ),
    settings={**SESSIONS, "accept": "no"},
    fault="all are asked though one was refused",
)
case(
    "session: both at once, a state and a write",
    create(),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        session={"$session": "s"},
        asked=["principal"],
        handler=[["write", {"n": 1}], ask_back('{"asked":2}')],
        did=["ok"],
        delivered={"state": '{"asked":1}', "session": {"value": {"n": 0}, "generation": 0}},
        answered={
            "result": {
                "requestState": state_token(payload='{"asked":2}'),
                **meta(name="s", payload='{"n":1}', generation=1),
            }
        },
    ),
    settings=SESSIONS,
    fault="one of the two is left out",
)
case(
    "session: sessions/create takes none",
    create(),
    event(
        "sessions/create",
        params={},
        session={"$session": "s"},
        answered={"error": {"code": -32602, "message": "Invalid params: sessions/create takes no session"}},
        reported=report("malformed", "session"),
    ),
    settings=SESSIONS,
    fault="a session begins in a session",
)
case(
    "session: for nobody none begins",
    create(
        who="nobody",
        asked=["principal"],
        delivered=None,
        answered={"error": INTERNAL},
        reported=report("invalid_argument", "session"),
    ),
    settings=SESSIONS,
    fault="whoever is nobody has a session",
)
case(
    "session: too large a first value is the author's mistake",
    create(delivered=None, answered={"error": INTERNAL}, reported=report("too_large", "session")),
    settings={"sessions": {"initial": "x" * 4095}},
    fault="it is answered as a refusal",
)
case(
    "session: too large a write is the author's mistake, and discards the result",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", "x" * 4095], done()],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"error": INTERNAL},
        reported=report("too_large", "session"),
    ),
    settings=SESSIONS,
    fault="a write is lost in silence",
)
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
    not_={sdk: "there is no session to write to" for sdk in ("typescript", "python", "rust")},
)
NO_PING = {
    "rust": "rmcp answers ping by itself",
    "typescript": "the SDK serves none in this revision: sessions.test.mjs has it in the earlier one",
}
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
        event(method, params=params_of(method), **expected),
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
    "session delete: it ends, and is refused from then on",
    create(),
    event(
        "sessions/delete",
        params={},
        session={"$session": "s", "without": ["state"]},
        asked=["principal", "accept session", "end session"],
        delivered={},
        answered={"result": {}},
    ),
    event(
        "tools/call",
        session={"$session": "s"},
        asked=["principal", "accept session"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("not_accepted", "session"),
    ),
    event(
        "sessions/delete",
        params={},
        session={"$session": "s"},
        asked=["principal", "accept session"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("not_accepted", "session"),
    ),
    settings={**SESSIONS, "accept": "once"},
    fault="the end is forgotten",
)
case(
    "session delete: another's is refused and goes on",
    create(),
    event(
        "sessions/delete",
        params={},
        who="bob",
        session={"$session": "s"},
        asked=["principal"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("principal_mismatch", "session"),
    ),
    event(
        "tools/call",
        session={"$session": "s"},
        asked=["principal", "accept session"],
        handler=[done()],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {}},
    ),
    settings={**SESSIONS, "accept": "once"},
    fault="anybody can end a session",
)
case(
    "session delete: it needs one",
    event(
        "sessions/delete",
        params={},
        answered={"error": REQUIRED_ERROR},
        reported=report("malformed", "session"),
    ),
    settings={**SESSIONS, "accept": "yes"},
    fault="nothing is deleted, and it is said that it was",
)
case(
    "session delete: where the end is not remembered it is the server's trouble",
    create(),
    event(
        "sessions/delete",
        params={},
        session={"$session": "s"},
        asked=["principal", "accept session"],
        answered={"error": INTERNAL},
        reported=report("accept_unavailable", "session"),
    ),
    settings={**SESSIONS, "accept": "fails"},
    fault="an end that is lost",
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
        handler=[["write", 1], ["fork", "f"], done()],
        did=[{"error": "invalid_argument"}, {"error": "invalid_argument"}],
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

# ---- handles ----

HANDLER = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}


def act(*operations: list, did: list, **more: object) -> dict:
    return event("tools/call", handler=[*operations, done()], did=did, **{**HANDLER, **more})


case(
    "handle: one that was minted is good",
    act(
        ["mint", "basket", {"as": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"$handle": "h"}],
    ),
    act(["check", "basket", {"$handle": "h"}], did=[{"$handle": "h"}]),
    fault="no handle is good",
)
for name, code, made in [
    ("of another user", "unauthentic", {"as": "bob"}),
    ("of another type", "wrong_purpose", {"type": "order"}),
    ("of a key that nobody has", "unauthentic", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"handle: {name} is refused",
        act(
            ["check", "basket", {"$handle": {"type": "basket", "as": "alice", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle"),
        ),
        fault="a check of the seal is left out",
    )
for name, value in [
    ("a number", 7),
    ("nothing", None),
    ("a guess", "basket_1"),
    ("the word of a prompt", "production"),
]:
    case(
        f"handle: {name} is refused",
        act(
            ["check", "basket", value],
            did=[{"refused": True}],
            reported=report("malformed", "handle"),
        ),
        fault="a misremembered handle hits a row",
        **({"not_": {"rust": "the argument is a text by its type"}} if not isinstance(value, str) else {}),
    )
case(
    "handle: too old is refused",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 61}}, {"maxAge": 60}],
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 59}}, {"maxAge": 600}],
        did=[{"refused": True}, {"$handle": "_"}],
        reported=report("expired", "handle"),
    ),
    fault="the age is not compared",
)
case(
    "handle: where nobody asks, none is made",
    event(
        "demo/play",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["mint", "basket", {"as": "h"}], ["return", {"ok": True}]],
        did=[{"failed": True}],
        delivered={},
        answered={"result": {"ok": True}},
        reported=report("invalid_argument", "handle"),
    ),
    fault="whoever is nobody has handles",
)
case(
    "handle: accept is asked, and refuses",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"refused": True}],
        asked=["principal", "accept handle"],
        reported=report("not_accepted", "handle"),
    ),
    settings={"accept": "no"},
    fault="accept is not asked",
)
case(
    "handle: one that ended is refused",
    act(
        ["mint", "basket", {"as": "h"}],
        ["end", "basket", {"$handle": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, "ok", {"refused": True}],
        asked=["principal", "end handle", "accept handle"],
        reported=report("not_accepted", "handle"),
    ),
    settings={"accept": "once"},
    fault="the end is forgotten",
)
case(
    "handle: ending without a memory is the author's mistake",
    act(
        ["end", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"failed": True}],
        reported=report("invalid_argument", "handle"),
    ),
    fault="an end that nothing remembers",
)
case(
    "handle: another's cannot be ended",
    act(
        ["end", "basket", {"$handle": {"type": "basket", "as": "bob"}}],
        did=[{"refused": True}],
        reported=report("unauthentic", "handle"),
    ),
    settings={"accept": "yes"},
    fault="anybody can end a handle",
)
case(
    "handle: accept that fails is the server's trouble",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"failed": True}],
        asked=["principal", "accept handle"],
        reported=report("accept_unavailable", "handle"),
    ),
    settings={"accept": "fails"},
    fault="it fails open",
)
case(
    "held handle: holds its value",
    act(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["open", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"value": ["apple"]}],
    ),
    fault="a value is lost",
)
case(
    "held handle: the next one of a chain, and the one before",
    act(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["renew", "basket", {"$handle": "h"}, ["apple", "pear"], {"as": "i"}],
        ["open", "basket", {"$handle": "i"}],
        ["open", "basket", {"$handle": "h"}],
        did=[
            {"$handle": "h"},
            {"$handle": "i"},
            {"value": ["apple", "pear"], "generation": 1},
            {"value": ["apple"], "generation": 0},
        ],
    ),
    fault="a chain forgets where it began",
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another type", "unauthentic", {"type": "order"}),
    ("expired", "expired", {"age": 86401}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
]:
    case(
        f"held handle: {name} is refused",
        act(
            ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "held": "1", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle-state"),
        ),
        fault="a check of the seal is left out",
    )
case(
    "held handle: what holds no JSON is refused before accept is asked",
    act(
        ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "held": "not json"}}],
        did=[{"refused": True}],
        reported=report("malformed", "handle-state"),
    ),
    settings={"accept": "yes"},
    fault="the payload is read after accept was asked",
)
case(
    "held handle: too large is the author's mistake",
    act(
        ["seal", "basket", "x" * 4095, {"as": "h"}],
        did=[{"failed": True}],
        reported=report("too_large", "handle-state"),
    ),
    fault="it is a refusal",
)
case(
    "held handle: one that ended is refused",
    act(
        ["seal", "basket", 1, {"as": "h"}],
        ["end", "basket", {"$handle": "h"}, {"held": True}],
        ["open", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, "ok", {"refused": True}],
        asked=["principal", "end handle-state", "accept handle-state"],
        reported=report("not_accepted", "handle-state"),
    ),
    settings={"accept": "once"},
    fault="the end is forgotten",
)

# ---- Mcp-Session-Id ----


def session_token(**more: object) -> dict:
    payload = json.dumps(NEGOTIATED, separators=(",", ":"))
    return {"$token": {"kind": "session", "as": "alice", "payload": payload, **more}}


INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"roots": {}},
        "clientInfo": {"name": "client", "version": "1"},
    },
}


def http(
    message: dict | None,
    *,
    verb: str = "POST",
    token: object = None,
    version: str | None = "2025-11-25",
    who: str = "alice",
    era: str = "legacy",
    **expected: object,
) -> dict:
    headers: dict = {}
    if token is not None:
        headers["mcp-session-id"] = token
    if version is not None:
        headers["mcp-protocol-version"] = version
    found = {"via": "http", "era": era, "as": who, "http": verb, "headers": headers, "message": message}
    expected.setdefault("asked", [])
    expected.setdefault("delivered", None)
    expected.setdefault("reported", [])
    return {**found, **expected}


def begin(**more: object) -> dict:
    expected = {
        "asked": ["principal"],
        "delivered": {},
        "answered": {
            "status": 200,
            "headers": {
                "mcp-session-id": {
                    "$token": {
                        "kind": "session",
                        "as": "alice",
                        "name": "t",
                        "json": {"protocolVersion": "2025-11-25", "clientCapabilities": {"roots": {}}},
                    }
                }
            },
            "message": {"result": {"protocolVersion": "2025-11-25"}},
        },
    }
    return http(INITIALIZE, version=None, **{**expected, **more})


CALL = {"method": "tools/call", "params": params_of("tools/call")}
PASSED = {
    "asked": ["principal"],
    "handler": [done()],
    "delivered": {},
    "answered": {"status": 200, "message": {"result": {"content": [{"type": "text", "text": "done"}]}}},
}


def bad_request(told: str) -> dict:
    return {
        "answered": {"status": 400, "message": {"error": {"code": -32600, "message": f"Bad Request: expected {told}"}}},
        "reported": report("malformed", "session"),
    }


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
    "header: another version than what was negotiated is refused before accept is asked",
    http(
        CALL,
        token=session_token(),
        version="2025-06-18",
        asked=["principal"],
        **bad_request("MCP-Protocol-Version to be what was negotiated"),
    ),
    settings={"accept": "yes"},
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
    "header: for nobody none begins",
    begin(
        who="nobody",
        answered={"status": 500, "message": {"error": INTERNAL}},
        reported=report("invalid_argument", "session"),
    ),
    fault="whoever is nobody has a session",
)
case(
    "header: accept refuses",
    http(
        CALL,
        token=session_token(),
        asked=["principal", "accept session"],
        answered={"status": 404},
        reported=report("not_accepted", "session"),
    ),
    settings={"accept": "no"},
    fault="accept is not asked",
)
case(
    "header: accept that fails is the server's trouble",
    http(
        CALL,
        token=session_token(),
        asked=["principal", "accept session"],
        answered={"status": 500},
        reported=report("accept_unavailable", "session"),
    ),
    settings={"accept": "fails"},
    fault="it fails open",
)
case(
    "header: DELETE without a memory is not offered",
    http(None, verb="DELETE", token=session_token(), answered={"status": 405}),
    fault="a promise that nothing keeps",
)
case(
    "header: DELETE ends it",
    begin(),
    http(
        None,
        verb="DELETE",
        token={"$token": "t"},
        asked=["principal", "accept session", "end session"],
        answered={"status": 204},
    ),
    http(
        CALL,
        token={"$token": "t"},
        asked=["principal", "accept session"],
        answered={"status": 404},
        reported=report("not_accepted", "session"),
    ),
    settings={"accept": "once"},
    fault="the end is forgotten",
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
    http(CALL, token={"$token": "t"}, **{**PASSED, "asked": ["principal", "accept session"]}),
    settings={"accept": "once"},
    fault="the version is compared after an end",
)
case(
    "header: DELETE needs one",
    http(None, verb="DELETE", **bad_request(ONE)),
    settings={"accept": "yes", "transport": {"required": False}},
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
    settings={"accept": "yes"},
    fault="anybody can end a session",
)
case(
    "header: revision 2026-07-28 passes as it is",
    http(CALL, version="2026-07-28", era="modern", **PASSED),
    fault="a revision without sessions needs one",
)
case(
    "header: the principal is asked once for wrapper and handler",
    http(CALL, token=session_token(), **PASSED),
    fault="it is asked twice",
)

# ---- SEP-1359 over HTTP ----

SEP = {"transport": {"sep1359": True}}
SEP_ERROR = {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": "$echo"}}


def sep(message: dict, inside: object, **more: object) -> dict:
    return http({**message, "sessionId": inside}, **more)


case(
    "sep1359: initialize begins a session in the message too",
    begin(
        answered={
            "status": 200,
            "headers": {"mcp-session-id": {"$token": {"kind": "session", "as": "alice", "name": "t", "json": {}}}},
            "message": {"result": {"sessionId": {"$token": "t"}, "sessionTimeout": 2592000}},
        }
    ),
    settings=SEP,
    fault="the message has none",
)
case(
    "sep1359: messages carry it both ways",
    sep(
        CALL,
        session_token(name="t"),
        **{**PASSED, "answered": {"status": 200, "message": {"result": {"sessionId": {"$token": "t"}}}}},
    ),
    settings=SEP,
    fault="the answer has none",
)
case(
    "sep1359: a peer that uses the header alone gets none in messages",
    http(
        CALL,
        token=session_token(),
        **{**PASSED, "answered": {"status": 200, "message": {"result": {"$absent": ["sessionId"]}}}},
    ),
    settings=SEP,
    fault="everybody gets it",
)
case(
    "sep1359: a lifetime of its own is told",
    begin(
        answered={
            "status": 200,
            "message": {"result": {"sessionTimeout": 60}},
        }
    ),
    settings={"transport": {"sep1359": True, "ttl": 60}},
    fault="the timeout is the kind's",
)
case(
    "sep1359: header and message that differ are refused before anybody is asked",
    sep(CALL, session_token(), token="1234", **bad_request("Mcp-Session-Id and sessionId to be one")),
    settings=SEP,
    fault="one of the two is taken",
)
for name, code, change in [
    ("expired", "expired", {"age": 30 * 86400 + 1}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
]:
    case(
        f"sep1359: {name} is answered in the message",
        sep(
            CALL,
            session_token(**change),
            asked=["principal"],
            answered={"status": 200, "message": {"error": SEP_ERROR}},
            reported=report(code, "session"),
        ),
        settings=SEP,
        fault="a check of the seal is left out",
    )
for name, value in [("a number", 7), ("a text", "1234")]:
    error = SEP_ERROR if isinstance(value, str) else {"code": -32003, "message": "Invalid or expired session"}
    case(
        f"sep1359: {name} is answered in the message",
        sep(
            CALL,
            value,
            asked=["principal"],
            answered={"status": 200, "message": {"error": error}},
            reported=report("malformed", "session"),
        ),
        settings=SEP,
        fault="it is taken for absent",
    )
case(
    "sep1359: session/terminate without a memory is no method",
    sep(
        {"method": "session/terminate"},
        session_token(),
        answered={"status": 200, "message": {"error": NO_METHOD}},
    ),
    settings=SEP,
    fault="a promise that nothing keeps",
)
case(
    "sep1359: session/terminate ends it",
    sep(
        {"method": "session/terminate"},
        session_token(name="t"),
        asked=["principal", "accept session", "end session"],
        answered={"status": 200, "message": {"result": {}}},
    ),
    sep(
        CALL,
        {"$token": "t"},
        asked=["principal", "accept session"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("not_accepted", "session"),
    ),
    settings={**SEP, "accept": "once"},
    fault="the end is forgotten",
)
case(
    "sep1359: session/terminate without an id ends nothing",
    {
        **sep(
            {"method": "session/terminate"},
            session_token(name="t"),
            **bad_request("session/terminate to have an id"),
        ),
        "notification": True,
    },
    sep(CALL, {"$token": "t"}, **{**PASSED, "asked": ["principal", "accept session"]}),
    settings={**SEP, "accept": "once"},
    fault="a notification ends a session",
)
case(
    "sep1359: one that another principal sends is over for both",
    sep(
        CALL,
        session_token(name="t"),
        who="bob",
        asked=["principal", "end session"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("principal_mismatch", "session"),
    ),
    sep(
        CALL,
        {"$token": "t"},
        asked=["principal", "accept session"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("not_accepted", "session"),
    ),
    settings={**SEP, "accept": "once"},
    fault="a stolen session goes on",
)
case(
    "sep1359: without a memory one that another sends is refused",
    sep(
        CALL,
        session_token(),
        who="bob",
        asked=["principal"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("principal_mismatch", "session"),
    ),
    settings=SEP,
    fault="it is asked to end without a memory",
)

# ---- SEP-1359 on stdio ----


def line(message: dict, *, inside: object = None, who: str = "alice", **expected: object) -> dict:
    message = dict(message)
    if inside is not None:
        message["sessionId"] = inside
    expected.setdefault("asked", [])
    expected.setdefault("delivered", None)
    expected.setdefault("answered", None)
    expected.setdefault("reported", [])
    return {"via": "stdio", "era": "legacy", "as": who, "message": message, **expected}


ON_STDIO = {**PASSED, "answered": {"result": {"content": [{"type": "text", "text": "done"}]}}}
BEGUN = line(
    INITIALIZE,
    asked=["principal"],
    delivered={},
    answered={
        "result": {
            "sessionId": {"$token": {"kind": "session", "as": "alice", "name": "t", "json": {}}},
            "sessionTimeout": 2592000,
        }
    },
)
case("stdio: initialize begins a session", BEGUN, settings=SEP, fault="none begins")
case(
    "stdio: without SEP-1359 none begins, and nobody is asked",
    line(
        INITIALIZE,
        who="nobody",
        delivered={},
        answered={"result": {"protocolVersion": "2025-11-25", "$absent": ["sessionId", "sessionTimeout"]}},
    ),
    fault="one begins that no message can bring back",
    not_={sdk: "its wrapper of stdio is there for SEP-1359 alone" for sdk in ("typescript", "python")},
)
case(
    "stdio: a message brings it back, and its answer has it",
    BEGUN,
    line(CALL, inside={"$token": "t"}, **{**ON_STDIO, "answered": {"result": {"sessionId": {"$token": "t"}}}}),
    settings=SEP,
    fault="the answer has none",
)
case(
    "stdio: a message without one passes",
    BEGUN,
    line(CALL, **ON_STDIO),
    settings=SEP,
    fault="it is required",
)
case(
    "stdio: a session outlives the process",
    line(CALL, inside=session_token(), **ON_STDIO),
    settings=SEP,
    fault="a restart ends it",
)
case(
    "stdio: a session that the server cannot begin again is refused",
    line(
        CALL,
        inside=session_token(payload=json.dumps({**NEGOTIATED, "clientInfo": {"name": 7, "version": "1"}})),
        again=False,
        asked=["principal"],
        answered={"error": SEP_ERROR},
        reported=report("malformed", "session"),
    ),
    line(CALL, inside=session_token(), **ON_STDIO),
    settings=SEP,
    fault="a client waits for an answer that never comes",
)
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("expired", "expired", {"age": 30 * 86400 + 1}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("too long", "too_large", {"payload": json.dumps({**NEGOTIATED, "x": "y" * 3200})}),
]:
    error = SEP_ERROR if name != "too long" else {"code": -32003, "message": "Invalid or expired session"}
    case(
        f"stdio: {name} is refused",
        BEGUN,
        line(
            CALL,
            inside=session_token(**change),
            asked=["principal"],
            answered={"error": error},
            reported=report(code, "session"),
        ),
        settings=SEP,
        fault="a check of the seal is left out",
    )
case(
    "stdio: session/terminate without an id is dropped",
    BEGUN,
    {
        **line(
            {"method": "session/terminate"},
            inside={"$token": "t"},
            reported=report("malformed", "session"),
        ),
        "notification": True,
    },
    line(CALL, inside={"$token": "t"}, **{**ON_STDIO, "asked": ["principal", "accept session"]}),
    settings={**SEP, "accept": "once"},
    fault="a notification ends a session",
)
case(
    "stdio: session/terminate ends it",
    BEGUN,
    line(
        {"method": "session/terminate"},
        inside={"$token": "t"},
        asked=["principal", "accept session", "end session"],
        answered={"result": {}},
    ),
    line(
        CALL,
        inside={"$token": "t"},
        asked=["principal", "accept session"],
        answered={"error": SEP_ERROR},
        reported=report("not_accepted", "session"),
    ),
    settings={**SEP, "accept": "once"},
    fault="the end is forgotten",
)
case(
    "stdio: a client's answer whose session is not good is dropped",
    BEGUN,
    {
        **line(
            {"result": {"sessionId": session_token(change="flip")}},
            asked=["principal"],
            reported=report("unauthentic", "session"),
        ),
        "answers": True,
    },
    settings=SEP,
    fault="an answer is delivered",
)
case(
    "stdio: revision 2026-07-28 passes as it is",
    {
        **line(
            {**CALL, "params": {**CALL["params"], "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}},
            **ON_STDIO,
        ),
        "era": "modern",
    },
    settings=SEP,
    fault="a revision without sessions has them",
)


def main() -> None:
    people = {
        "alice": {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "alice"},
        "bob": {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "bob"},
        "anonymous": {"anonymous": True},
    }
    keys = json.loads(FILE.with_name("v1.json").read_text())["keys"]
    file = {
        "about": "Made by guard.py beside it, which says what everything means.",
        "keys": {name: key["text"] for name, key in zip(("new", "old", "unknown"), keys, strict=True)},
        "audience": "https://mcp.example.com",
        "people": people,
        "transcripts": transcripts,
    }
    lines = [json.dumps(transcript, ensure_ascii=False) for transcript in file.pop("transcripts")]
    head = json.dumps(file, indent=1)[:-2]
    text = f'{head},\n "transcripts": [\n' + ",\n".join(f"  {one}" for one in lines) + "\n ]\n}\n"
    if sys.argv[1:] == ["--check"]:
        sys.exit(FILE.read_text() != text and f"{FILE.name} is not what {pathlib.Path(__file__).name} writes")
    FILE.write_text(text)
    print(f"{len(lines)} transcripts")


if __name__ == "__main__":
    main()
