"""Keys for other services: the same at every retry of a request, and another for every other one."""

import hashlib
import hmac
import json
import pathlib

from .builders import LEDGER, SEP, Transcripts, done, event, params_of, state_token
from .confirm import ASKED, CONNECTED, ON_CONNECTION, RAN, SETTINGS, YES, answered_by, form, request_of
from .stdio import line

transcripts = Transcripts()
case = transcripts.case

KEYS = json.loads((pathlib.Path(__file__).parents[1] / "v1.json").read_text())["keys"]
RESULT = {"result": {"content": [{"type": "text", "text": "done"}]}}


def pae(pieces: list[bytes]) -> bytes:
    encoded = [len(pieces).to_bytes(8, "little")]
    for piece in pieces:
        encoded += [len(piece).to_bytes(8, "little"), piece]
    return b"".join(encoded)


def mac(key: str, *pieces: str | bytes) -> bytes:
    parts = [piece.encode() if isinstance(piece, str) else piece for piece in pieces]
    return hmac.digest(bytes.fromhex(KEYS[0][key]), pae(parts), hashlib.sha256)


def made(arguments: object = {"id": 7}) -> str:
    """SPEC.md, "Request context": without a state."""
    tag = mac("principal", "principal", "https://idp.example.com", "cli-7", "alice")[:16]
    context = bytes.fromhex(request_of(arguments))
    return mac("id", "idempotency", "https://mcp.example.com", tag, context, b"")[:16].hex()


def call(key: object, *, state: object = None, arguments: object = None, **more: object) -> dict:
    params = params_of("tools/call")
    if arguments is not None:
        params["arguments"] = arguments
    if state is not None:
        params["requestState"] = state
    expected = {
        "asked": ["principal"],
        "handler": [["idempotencyKey"], done()],
        "delivered": {},
        "did": [key],
        "answered": RESULT,
    }
    return event("tools/call", params=params, **{**expected, **more})


case(
    "idempotency key: of a call",
    call(made()),
    call(made()),
    call(made({"id": 8}), arguments={"id": 8}),
    call({"$key": "bob's"}, who="bob"),
    fault="two requests have one key, or a retry has another",
)
case(
    "idempotency key: a call in another spelling is the same",
    call(made(None), arguments={}),
    call(made({"id": 7, "note": "x"}), arguments={"note": "x", "id": 7}),
    call(made(), era="legacy"),
    fault="the key is of bytes, not of values",
)
case(
    "idempotency key: of a state, at every retry",
    call({"$key": "first"}, state=state_token(name="a")),
    call({"$key": "first"}, state={"$token": "a"}),
    call({"$key": "second"}, state=state_token(name="b")),
    call(made()),
    fault="a retry has another key, or another state the same",
)
case(
    "idempotency key: of a state that an older key sealed",
    call({"$key": "old"}, state=state_token(name="a", key="old")),
    call({"$key": "old"}, state={"$token": "a"}),
    fault="it is made under the key that seals, so that a rotation changes it",
)
AGREED = {**RAN, "handler": [["idempotencyKey"], done()]}
case(
    "idempotency key: of a confirmation",
    ASKED,
    answered_by(YES, **AGREED, did=[{"$key": "first"}]),
    answered_by(YES, **AGREED, did=[{"$key": "first"}]),
    ASKED,
    answered_by(YES, **AGREED, did=[{"$key": "second"}]),
    settings=SETTINGS,
    fault="what was confirmed twice is done once",
)
AGREES = {**AGREED, "asked": ["principal"], "elicited": [form()]}
case(
    "idempotency key: of a confirmation on a connection",
    CONNECTED,
    line(ON_CONNECTION, **AGREES, elicits={"result": YES, "after": 1}, did=[{"$key": "first"}]),
    line(ON_CONNECTION, **AGREES, elicits={"result": YES, "after": 1}, did=[{"$key": "second"}]),
    settings={**SETTINGS, **SEP},
    fault="what was confirmed twice is done once",
)
case(
    "idempotency key: of a request that carries no state there is none",
    event(
        "tools/list",
        handler=[["idempotencyKey"], ["return", {"tools": []}]],
        delivered={},
        did=[{"error": "invalid_argument"}],
        answered={"result": {"tools": []}},
    ),
    settings=LEDGER,
    fault="a list has a key",
)
