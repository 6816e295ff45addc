"""Sessions of the transport over HTTP, in messages too (SEP-1359)."""

from .builders import *

transcripts = Transcripts(SEP)
case = transcripts.case

REMEMBERED = {**LEDGER, **SEP}


def sep(message: dict, inside: object, **more: object) -> dict:
    """A request with a session in its message."""
    return http({**message, "sessionId": inside}, **more)


def refused(inside: object, code: str, *, error: dict = SEP_ERROR, who: str = "alice") -> dict:
    heard = {**answers(error=error), "reported": report(code, "session")}
    return sep(CALL, inside, who=who, asked=["principal"], **heard)


case(
    "sep1359: initialize begins a session in the message too",
    begin(
        answered={
            "status": 200,
            "headers": {"mcp-session-id": new_session()},
            "message": {"result": {"sessionId": T, "sessionTimeout": 2592000}},
        }
    ),
    fault="the message has none",
)
case(
    "sep1359: messages carry it both ways",
    sep(CALL, session_token(name="t"), **{**PASSED, **answers(result={"sessionId": T})}),
    fault="the answer has none",
)
WITHOUT = {**PASSED, **answers(result={"$absent": ["sessionId"]})}
case(
    "sep1359: a peer that uses the header alone gets none in messages",
    http(CALL, token=session_token(), **WITHOUT),
    fault="everybody gets it",
)
case(
    "sep1359: null in a message is none",
    sep(CALL, None, token=session_token(), **WITHOUT),
    sep(CALL, None, **bad_request("Mcp-Session-Id")),
    fault="null is a session that is not good",
)
case(
    "sep1359: a lifetime of its own is told",
    begin(**answers(result={"sessionTimeout": 60})),
    settings={"transport": {"sep1359": True, "ttl": 60}},
    fault="the timeout is the kind's",
)
case(
    "sep1359: header and message that differ are refused before anybody is asked",
    sep(CALL, session_token(), token="1234", **bad_request("Mcp-Session-Id and sessionId to be one")),
    fault="one of the two is taken",
)
for name, code, change in [
    ("expired", "expired", {"age": 30 * 86400 + 1}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
]:
    case(
        f"sep1359: {name} is answered in the message",
        refused(session_token(**change), code),
        fault="a check of the seal is left out",
    )
for name, value, error in [("a number", 7, SEP_ERROR_BARE), ("a text", "1234", SEP_ERROR)]:
    case(
        f"sep1359: {name} is answered in the message",
        refused(value, "malformed", error=error),
        fault="it is taken for absent",
    )
case(
    "sep1359: session/terminate without a memory is no method",
    sep(TERMINATE, session_token(), **answers(error=NO_METHOD)),
    fault="a promise that nothing keeps",
)
case(
    "sep1359: session/terminate ends it",
    sep(TERMINATE, session_token(name="t"), asked=["principal"], **answers(result={})),
    refused(T, "ended"),
    settings=REMEMBERED,
    fault="the end is forgotten",
)
NEEDS_AN_ID = bad_request("session/terminate to have an id")
case(
    "sep1359: session/terminate without an id ends nothing",
    {**sep(TERMINATE, session_token(name="t"), **NEEDS_AN_ID), "notification": True},
    sep(CALL, T, **PASSED),
    settings=REMEMBERED,
    fault="a notification ends a session",
)
case(
    "sep1359: one that another principal sends is over for both",
    refused(session_token(name="t"), "principal_mismatch", who="bob"),
    refused(T, "ended"),
    settings=REMEMBERED,
    fault="a stolen session goes on",
)
case(
    "sep1359: without a memory one that another sends is refused",
    refused(session_token(), "principal_mismatch", who="bob"),
    fault="it is asked to end without a memory",
)
