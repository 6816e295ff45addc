"""Writes transcripts: their messages, tokens, events and expectations."""

import json
from collections.abc import Callable

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
REQUIRED_ERROR = {"code": -32043, "message": "Session required", "data": {"reason": "session_required"}}
NOT_FOUND = {"code": -32043, "message": "Session not found"}
LOST = {**NOT_FOUND, "data": {"sessionId": "$echo"}}
NO_METHOD = {"code": -32601, "message": "Method not found"}
MEMBER = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
LISTS = list(MEMBER)
NEGOTIATED = {
    "protocolVersion": "2025-11-25",
    "clientCapabilities": {},
    "clientInfo": {"name": "client", "version": "1"},
    "serverCapabilities": {},
}


class Transcripts(list[dict]):
    """The transcripts of one subject, in order, and the settings of those that name none."""

    def __init__(self, settings: dict | None = None) -> None:
        super().__init__()
        self.settings = settings or {}

    def case(self, name: str, fault: str) -> Callable[..., None]:
        """Begin a transcript, by its name and the fault that it sees; its events follow, its settings, and who does not play it."""

        def add(*events: dict, settings: dict | None = None, not_: dict | None = None) -> None:
            settings = self.settings if settings is None else settings
            transcript = {"name": name, "fault": fault, "settings": settings, "events": list(events)}
            self.append(transcript if not_ is None else {**transcript, "not": not_})

        return add


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


# ---- what comes in ----


def params_of(method: str, arguments: object = ARGUMENTS, **more: object) -> dict:
    """Arguments that are None are absent."""
    params: dict = {
        "tools/call": {"name": "play"} if arguments is None else {"name": "play", "arguments": arguments},
        "prompts/get": {"name": "play"},
        "resources/read": {"uri": "demo://play"},
    }.get(method, {})
    return {**params, **more}


def state_token(method: str = "tools/call", payload: str = '{"asked":1}', **more: object) -> dict:
    arguments = ARGUMENTS if method == "tools/call" else None
    context = [method, "demo://play" if method == "resources/read" else "play", arguments]
    return {"$token": {"kind": "request-state", "context": context, "as": "alice", "payload": payload, **more}}


def cursor_token(method: str = "tools/list", payload: str = "page 2", **more: object) -> dict:
    return {"$token": {"kind": "cursor", "label": method, "as": "alice", "payload": payload, **more}}


def expecting(found: dict, expected: dict) -> dict:
    """An event; of what is not named, nobody is asked, and nothing is delivered, answered or reported.

    `hears` is an answer that is a result.
    """
    nothing = {"asked": [], "delivered": None, "answered": None, "reported": []}
    named = [("answered", {"result": it}) if name == "hears" else (name, it) for name, it in expected.items()]
    expected = dict(named)
    return {**found, **expected, **{name: nothing[name] for name in nothing if name not in expected}}


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
    return expecting(found, expected)


def ask_back(state: object, **more: object) -> list:
    """What a handler returns that asks the client something."""
    return ["return", {"resultType": "input_required", "requestState": state, **more}]


DONE = {"content": [{"type": "text", "text": "done"}]}


def done(text: object = "done", **more: object) -> list:
    return ["return", {"content": [{"type": "text", "text": text}], **more}]


def asks_back(state: object, *, given: str | None = None, **result: object) -> dict:
    """A handler that is given a state and asks back with another, and what of its result is compared, if it leaves."""
    answered = {"answered": {"result": result}} if result else {}
    return {"handler": [ask_back(state)], "delivered": {"state": given}, **answered}


def runs(given: str | None = None, sent: dict = DONE, *, returned: dict = DONE) -> dict:
    """A handler that is given this state and returns its result, and what of that is sent."""
    return {"handler": [["return", returned]], "delivered": {"state": given}, "answered": {"result": sent}}


def gives(result: dict, **delivered: object) -> dict:
    """A handler that is given this and returns this result, which is sent."""
    return {"handler": [["return", result]], "delivered": delivered, "answered": {"result": result}}


def reads(state: str | None, sent: dict = DONE, *, returned: dict = DONE) -> dict:
    """A handler that reads this state and returns its result, and what of that is sent."""
    found = {"handler": [["state"], ["return", returned]], "did": [state]}
    return {**found, "delivered": {"state": state}, "answered": {"result": sent}}


def report(code: str, *kinds: str) -> list:
    """The reports of refusals for one reason, of tokens of these kinds."""
    return [{"code": code, "kind": kind} for kind in kinds]


def refusal(error: dict, code: str, kind: str = "session") -> dict:
    """What is heard of a refusal, and what its report says."""
    return {"answered": {"error": error}, "reported": report(code, kind)}


def again(token: object, *, method: str = "tools/call", arguments: object = ARGUMENTS, **expected: object) -> dict:
    """A request that brings a state back, with these arguments of a tool."""
    params = params_of(method, arguments, requestState=token)
    return event(method, params=params, **{"asked": ["principal"], **expected})


def refused_again(
    token: object, code: str, *, method: str = "tools/call", arguments: object = ARGUMENTS, who: str = "alice"
) -> dict:
    """A request that brings a state back, and is refused."""
    params = params_of(method, arguments, requestState=token)
    expected = {"answered": {"error": STATE_ERROR}, "asked": ["principal"], "reported": report(code, "request-state")}
    return event(method, params=params, who=who, **expected)


def listing(*cursor: object, method: str = "tools/list", **expected: object) -> dict:
    """A list's first page, or the one that a cursor is for."""
    params = {"cursor": cursor[0]} if cursor else {}
    return event(method, params=params, **{"asked": ["principal"], **expected})


def returns(page: dict, sent: dict | None = None, *, given: str | None = None) -> dict:
    """A handler that is given a cursor and returns a page, and what is sent of it, if it leaves."""
    answered = {"answered": {"result": sent}} if sent else {}
    return {"handler": [["return", page]], "delivered": {"cursor": given}, **answered}


def at_a_tool(*operations: list, did: list, **more: object) -> dict:
    """A tool that does these operations, whose result is sent."""
    usual = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}
    return event("tools/call", handler=[*operations, done()], did=did, **{**usual, **more})


H, REFUSED, FAILED = {"$handle": "h"}, {"refused": True}, {"failed": True}


def handle(**made: object) -> dict:
    """A basket's handle that the peer makes, of alice's unless something else is said."""
    return {"$handle": {"type": "basket", "as": "alice", **made}}


def refused_at_a_tool(*operations: list, code: str, kind: str, **more: object) -> dict:
    """A tool whose operations are refused, each of them for this reason."""
    return at_a_tool(
        *operations, did=[REFUSED] * len(operations), **more, reported=report(code, kind) * len(operations)
    )


def failed_at_a_tool(operation: list, *, code: str, kind: str, **more: object) -> dict:
    """A tool whose operation fails: a mistake of the author's, or a ledger that does not answer."""
    return at_a_tool(operation, did=[FAILED], **more, reported=report(code, kind))


# ---- data-layer sessions ----

SESSIONS = {"sessions": {"initial": {"n": 0}}}
HELD = {"sessions": {"heldByServer": True}}


def session_out(name: str = "s", payload: str | None = None, generation: int | None = None) -> dict:
    found: dict = {"$session": name}
    if payload is not None:
        found |= {"payload": payload, "generation": generation or 0}
    return found


#: The session of a transcript, as its client has it; with the state that it began with; and one of the transport.
S, FIRST, T = {"$session": "s"}, {"$session": "s", "version": 0}, {"$token": "t"}
#: A session that came back without a state.
ID_ALONE = {"$session": "s", "$absent": ["state"]}
THREW = {"error": {"code": -32000, "message": "the handler's own"}}


def create(name: str = "s", payload: str = '{"n":0}', **more: object) -> dict:
    expected = {
        "asked": ["principal", "begin"],
        "delivered": {},
        "answered": {"result": {"session": session_out(name, payload)}},
    }
    return event("sessions/create", params={}, **{**expected, **more})


def meta(name: str = "s", payload: str | None = None, generation: int | None = None) -> dict:
    """The metadata of a result: a session, with a state that holds this payload if one leaves."""
    return {"_meta": {SESSION: session_out(name, payload, generation)}}


def call(session: object = None, *operations: list, method: str = "tools/call", **expected: object) -> dict:
    """A request in a session, or in none; with operations, a tool that does them."""
    handler = {"handler": [*operations, done()]} if operations else {}
    return event(method, session=session, **{"asked": ["principal"], **handler, **expected})


def refused_session(session: object, code: str, *, method: str = "tools/call", **more: object) -> dict:
    return call(session, method=method, **{**refusal(LOST, code), **more})


def note(session: object = None, **expected: object) -> dict:
    """A notification."""
    return event("notifications/demo", params={}, session=session, notification=True, **expected)


def delete(session: object = S, **more: object) -> dict:
    """The client's end of a session, which passes unless something else is expected."""
    expected = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}
    return event("sessions/delete", params={}, session=session, **{**expected, **more})


def seen(value: object, generation: int = 0) -> dict:
    """What a handler is given of a session."""
    return {"session": {"value": value, "generation": generation}}


def passed(value: object, generation: int = 0, *, name: str = "s") -> dict:
    """What is seen of a session by a handler that only reads: no state leaves."""
    return {"handler": [done()], "delivered": seen(value, generation), "answered": {"result": meta(name)}}


def renewed(value: object) -> dict:
    """What is seen of a session that is sealed again, though a handler only reads."""
    return {**passed(value), "answered": {"result": meta("s", compact(value), 1)}}


def written(value: object, before: object, generation: int = 0, *, name: str = "s", **more: object) -> dict:
    """What is seen of a session that a handler writes."""
    return {
        "handler": [["write", value], done()],
        "did": ["ok"],
        "delivered": seen(before, generation),
        "answered": {"result": meta(name, compact(value), generation + 1)},
        **more,
    }


# ---- sessions of the transport ----


def session_token(**more: object) -> dict:
    return {"$token": {"kind": "session", "as": "alice", "payload": compact(NEGOTIATED), **more}}


TOO_LONG = session_token(payload=json.dumps({**NEGOTIATED, "x": "y" * 3200}))
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
    return expecting(found, expected)


def new_session(**negotiated: object) -> dict:
    """A session that begins, which a transcript calls `t`."""
    return {"$token": {"kind": "session", "as": "alice", "name": "t", "json": negotiated}}


def answers(**message: object) -> dict:
    """What is heard over HTTP: a result, or an error in a message."""
    return {"answered": {"status": 200, "message": message}}


def begin(**more: object) -> dict:
    """The client's `initialize`, whose answer has a session unless something else is expected."""
    began = new_session(protocolVersion="2025-11-25", clientCapabilities={"roots": {}})
    answered = {
        "status": 200,
        "headers": {"mcp-session-id": began},
        "message": {"result": {"protocolVersion": "2025-11-25"}},
    }
    expected = {"asked": ["principal"], "delivered": {}, "answered": answered}
    return http(INITIALIZE, version=None, **{**expected, **more})


CALL = {"method": "tools/call", "params": params_of("tools/call")}
#: The client's end of a session in a message (SEP-1359).
TERMINATE = {"method": "session/terminate"}
PASSED = {"asked": ["principal"], "handler": [done()], "delivered": {}, **answers(result=DONE)}


def failed(status: int, error: dict, code: str) -> dict:
    """What is heard over HTTP of a request that fails with this status, and what its report says."""
    return {"answered": {"status": status, "message": {"error": error}}, "reported": report(code, "session")}


def bad_request(told: str) -> dict:
    return failed(400, {"code": -32600, "message": f"Bad Request: expected {told}"}, "malformed")


def not_found(token: object, code: str, *, verb: str = "POST", **more: object) -> dict:
    """A request in a session of the transport that is answered by 404."""
    expected = {"asked": ["principal"], "answered": {"status": 404}, **more, "reported": report(code, "session")}
    return http(CALL if verb == "POST" else None, verb=verb, token=token, **expected)


def ends(token: object = T, **more: object) -> dict:
    """The client's end of a session of the transport."""
    return http(None, verb="DELETE", token=token, **{"asked": ["principal"], "answered": {"status": 204}, **more})


SEP = {"transport": {"sep1359": True}}
SEP_ERROR_BARE = {"code": -32003, "message": "Invalid or expired session"}
SEP_ERROR = {**SEP_ERROR_BARE, "data": {"sessionId": "$echo"}}

# ---- the ledger ----

LEDGER = {"ledger": "memory"}
FAILING = {"ledger": "failing"}
WITH_SESSIONS = {**LEDGER, "sessions": {"initial": 0}}


def revoke(who: str = "alice", *, done: bool = True, **more: object) -> dict:
    """What the operator of the server does."""
    expected = {"asked": [], "delivered": None, "answered": {"done": done}, "reported": []}
    return {"via": "operator", "as": who, "message": None, "revoke": who, **expected, **more}


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
