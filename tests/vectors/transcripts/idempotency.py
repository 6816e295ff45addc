"""Keys for other services: the same at every retry of a request, and another for every other one."""

import hashlib
import hmac
import json
import pathlib

from .builders import *
from .confirm import *
from .stdio import line

transcripts = Transcripts()
case = transcripts.case

KEYS = json.loads((pathlib.Path(__file__).parents[1] / "v1.json").read_text())["keys"]


def mac(key: str, *pieces: str | bytes) -> bytes:
    return hmac.digest(bytes.fromhex(KEYS[0][key]), pae(*pieces), hashlib.sha256)


def made(arguments: object = ARGUMENTS) -> str:
    """SPEC.md, "Request context": without a state."""
    tag = mac("principal", "principal", "https://idp.example.com", "cli-7", "alice")[:16]
    context = bytes.fromhex(request_of(arguments))
    return mac("id", "idempotency", "https://mcp.example.com", tag, context, b"")[:16].hex()


NAMES_IT = [["idempotencyKey"], done()]


def keyed(key: object, **more: object) -> dict:
    """A call whose handler has this key."""
    return call(handler=NAMES_IT, delivered={}, did=[key], hears=DONE, **more)


case("idempotency key: of a call", "two requests have one key, or a retry has another")(
    keyed(made()), keyed(made()), keyed(made({"id": 8}), arguments={"id": 8}), keyed({"$key": "bob's"}, who="bob")
)
case("idempotency key: a call in another spelling is the same", "the key is of bytes, not of values")(
    keyed(made(None), arguments={}),
    keyed(made({"id": 7, "note": "x"}), arguments={"note": "x", "id": 7}),
    keyed(made(), era="legacy"),
)
case("idempotency key: of a state, at every retry", "a retry has another key, or another state the same")(
    keyed({"$key": "first"}, state=state_token(name="a")),
    keyed({"$key": "first"}, state={"$token": "a"}),
    keyed({"$key": "second"}, state=state_token(name="b")),
    keyed(made()),
)
case(
    "idempotency key: of a state that an older key sealed",
    "it is made under the key that seals, so that a rotation changes it",
)(keyed({"$key": "old"}, state=state_token(name="a", key="old")), keyed({"$key": "old"}, state={"$token": "a"}))
AGREED = {**RAN, "handler": NAMES_IT}
case("idempotency key: of a confirmation", "what was confirmed twice is done once")(
    ASKED,
    answered_by(YES, **AGREED, did=[{"$key": "first"}]),
    answered_by(YES, **AGREED, did=[{"$key": "first"}]),
    ASKED,
    answered_by(YES, **AGREED, did=[{"$key": "second"}]),
    settings=SETTINGS,
)
AGREES = {**AGREED, "asked": ["principal"], "elicited": [form()], "elicits": {"result": YES, "after": 1}}
case("idempotency key: of a confirmation on a connection", "what was confirmed twice is done once")(
    CONNECTED,
    line(CALL, **AGREES, did=[{"$key": "first"}]),
    line(CALL, **AGREES, did=[{"$key": "second"}]),
    settings={**SETTINGS, **SEP},
)
case("idempotency key: of a request that carries no state there is none", "a list has a key")(
    event(
        "tools/list",
        handler=[["idempotencyKey"], ["return", {"tools": []}]],
        delivered={},
        did=[{"error": "invalid_argument"}],
        hears={"tools": []},
    ),
    settings=LEDGER,
)
