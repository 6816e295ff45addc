"""Writes transcripts: their messages, tokens, events and expectations."""

import json

SESSION = "io.modelcontextprotocol/session"
ARGUMENTS = {"id": 7}
STATE_ERROR = {
    "code": -32602,
    "message": "Invalid or expired requestState",
    "data": {"reason": "invalid_request_state"},
}
CURSOR_ERROR = {"code": -32602, "message": "Invalid cursor"}
INVALID_PARAMS = {"code": -32602, "message": "Invalid params"}
UNAUTHENTICATED = {"code": -32602, "message": "Authentication required"}
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


class Transcripts(list[dict]):
    """The transcripts of one subject, in order."""

    def case(
        self,
        name: str,
        *events: dict,
        fault: str = "",
        settings: dict | None = None,
        not_: dict | None = None,
    ) -> None:
        transcript = {"name": name, "fault": fault, "settings": settings or {}, "events": list(events)}
        self.append(transcript if not_ is None else {**transcript, "not": not_})


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


def at_a_tool(*operations: list, did: list, **more: object) -> dict:
    """A tool that does these operations, whose result is sent."""
    usual = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}
    return event("tools/call", handler=[*operations, done()], did=did, **{**usual, **more})


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


# ---- sessions of the transport ----


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


SEP = {"transport": {"sep1359": True}}
SEP_ERROR = {"code": -32003, "message": "Invalid or expired session", "data": {"sessionId": "$echo"}}

# ---- the ledger ----

LEDGER = {"ledger": "memory"}
FAILING = {"ledger": "failing"}
WITH_SESSIONS = {**LEDGER, "sessions": {"initial": 0}}


def revoke(who: str = "alice", *, done: bool = True, **more: object) -> dict:
    """What the operator of the server does."""
    expected = {"asked": [], "delivered": None, "answered": {"done": done}, "reported": []}
    return {"via": "operator", "as": who, "message": None, "revoke": who, **expected, **more}


def passed(value: object, generation: int = 0) -> dict:
    """What is seen of a session that the ledger let pass, by a handler that only reads."""
    return {
        "handler": [done()],
        "delivered": {"session": {"value": value, "generation": generation}},
        "answered": {"result": meta(name="s")},
    }


def written(value: object, before: object, generation: int = 0, **more: object) -> dict:
    """What is seen of a session that a handler writes."""
    return {
        "handler": [["write", value], done()],
        "did": ["ok"],
        "delivered": {"session": {"value": before, "generation": generation}},
        "answered": {"result": meta(name="s", payload=json.dumps(value), generation=generation + 1)},
        **more,
    }


def stale(version: int, *, ran: bool = False) -> dict:
    """What hears of the latest state, at a tool."""
    result = {
        "isError": True,
        "resultType": "complete",
        "_meta": {SESSION: {"$session": "s", "version": version}, "io.github.sealwax/stale": {"ran": ran}},
    }
    return {"answered": {"result": result}, "reported": report("stale", "session")}


def stale_error(version: int, *, ran: bool = False) -> dict:
    """What hears of the latest state, elsewhere."""
    error = {
        "code": -32045 if ran else -32044,
        "message": "Session changed meanwhile" if ran else "Session state is not the latest",
        "data": {"ran": ran, "session": {"$session": "s", "version": version}},
    }
    return {"answered": {"error": error}, "reported": report("stale", "session")}
