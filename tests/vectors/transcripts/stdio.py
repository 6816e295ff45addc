"""Sessions of the transport over stdio, in messages (SEP-1359)."""

import json

from .builders import CALL, INITIALIZE, LEDGER, NEGOTIATED, PASSED, SEP, SEP_ERROR, Transcripts, report, session_token

transcripts = Transcripts()
case = transcripts.case


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
    not_={sdk: "its wrapper of stdio is there for SEP-1359 alone" for sdk in ("typescript", "python", "go")},
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
    line(CALL, inside={"$token": "t"}, **ON_STDIO),
    settings={**LEDGER, **SEP},
    fault="a notification ends a session",
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
