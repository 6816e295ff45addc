"""Sessions of the transport over HTTP, in messages too (SEP-1359)."""

from .builders import (
    CALL,
    LEDGER,
    NO_METHOD,
    PASSED,
    SEP,
    SEP_ERROR,
    Transcripts,
    bad_request,
    begin,
    http,
    report,
    session_token,
)

transcripts = Transcripts()
case = transcripts.case


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
    "sep1359: null in a message is none",
    sep(
        CALL,
        None,
        token=session_token(),
        **{**PASSED, "answered": {"status": 200, "message": {"result": {"$absent": ["sessionId"]}}}},
    ),
    sep(CALL, None, **bad_request("Mcp-Session-Id")),
    settings=SEP,
    fault="null is a session that is not good",
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
        asked=["principal"],
        answered={"status": 200, "message": {"result": {}}},
    ),
    sep(
        CALL,
        {"$token": "t"},
        asked=["principal"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("ended", "session"),
    ),
    settings={**LEDGER, **SEP},
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
    sep(CALL, {"$token": "t"}, **PASSED),
    settings={**LEDGER, **SEP},
    fault="a notification ends a session",
)
case(
    "sep1359: one that another principal sends is over for both",
    sep(
        CALL,
        session_token(name="t"),
        who="bob",
        asked=["principal"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("principal_mismatch", "session"),
    ),
    sep(
        CALL,
        {"$token": "t"},
        asked=["principal"],
        answered={"status": 200, "message": {"error": SEP_ERROR}},
        reported=report("ended", "session"),
    ),
    settings={**LEDGER, **SEP},
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
