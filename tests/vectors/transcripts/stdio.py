"""Sessions of the transport over stdio, in messages (SEP-1359)."""

import json

from .builders import *

transcripts = Transcripts(SEP)
case = transcripts.case


def line(message: dict, *, inside: object = None, who: str = "alice", **expected: object) -> dict:
    """A line of the client's, in a session if there is one inside."""
    message = dict(message)
    if inside is not None:
        message["sessionId"] = inside
    return expecting({"via": "stdio", "era": "legacy", "as": who, "message": message}, expected)


def refused_line(inside: object, code: str, *, error: dict = SEP_ERROR, **more: object) -> dict:
    return line(CALL, inside=inside, **more, asked=["principal"], **refusal(error, code))


ON_STDIO = {**PASSED, "answered": {"result": DONE}}
BEGUN = line(
    INITIALIZE,
    asked=["principal"],
    delivered={},
    hears={"sessionId": new_session(clientCapabilities={"roots": {}}), "sessionTimeout": 2592000},
)
case("stdio: initialize begins a session", "none begins")(BEGUN)
case("stdio: without SEP-1359 none begins, and nobody is asked", "one begins that no message can bring back")(
    line(
        INITIALIZE,
        who="nobody",
        delivered={},
        hears={"protocolVersion": "2025-11-25", "$absent": ["sessionId", "sessionTimeout"]},
    ),
    settings={},
    not_=dict.fromkeys(("typescript", "python", "go"), "its wrapper of stdio is there for SEP-1359 alone"),
)
case("stdio: a message brings it back, and its answer has it", "the answer has none")(
    BEGUN, line(CALL, inside=T, **{**PASSED, "answered": {"result": {"sessionId": T}}})
)
case("stdio: a message without one passes", "it is required")(BEGUN, line(CALL, **ON_STDIO))
case("stdio: a session outlives the process", "a restart ends it")(line(CALL, inside=session_token(), **ON_STDIO))
UNREADABLE = json.dumps({**NEGOTIATED, "clientInfo": {"name": 7, "version": "1"}})
case("stdio: a session that the server cannot begin again is refused", "a client waits for an answer that never comes")(
    refused_line(session_token(payload=UNREADABLE), "malformed", again=False),
    line(CALL, inside=session_token(), **ON_STDIO),
)
for name, code, token, error in [
    ("of another user", "principal_mismatch", session_token(**{"as": "bob"}), SEP_ERROR),
    ("expired", "expired", session_token(age=30 * 86400 + 1), SEP_ERROR),
    ("altered", "unauthentic", session_token(change="flip"), SEP_ERROR),
    ("too long", "too_large", TOO_LONG, SEP_ERROR_BARE),
]:
    case(f"stdio: {name} is refused", "a check of the seal is left out")(BEGUN, refused_line(token, code, error=error))
case("stdio: session/terminate without an id is dropped", "a notification ends a session")(
    BEGUN,
    {**line(TERMINATE, inside=T, reported=report("malformed", "session")), "notification": True},
    line(CALL, inside=T, **ON_STDIO),
    settings={**LEDGER, **SEP},
)
ALTERED = {"result": {"sessionId": session_token(change="flip")}}
case("stdio: a client's answer whose session is not good is dropped", "an answer is delivered")(
    BEGUN, {**line(ALTERED, asked=["principal"], reported=report("unauthentic", "session")), "answers": True}
)
TODAY = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
case("stdio: revision 2026-07-28 passes as it is", "a revision without sessions has them")(
    {**line({**CALL, "params": {**CALL["params"], **TODAY}}, **ON_STDIO), "era": "modern"}
)
