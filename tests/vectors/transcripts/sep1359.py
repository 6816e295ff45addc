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


case("sep1359: initialize begins a session in the message too", "the message has none")(
    begin(
        answered={
            "status": 200,
            "headers": {"mcp-session-id": new_session()},
            "message": {"result": {"sessionId": T, "sessionTimeout": 2592000}},
        }
    )
)
case("sep1359: messages carry it both ways", "the answer has none")(
    sep(CALL, session_token(name="t"), **{**PASSED, **answers(result={"sessionId": T})})
)
WITHOUT = {**PASSED, **answers(result={"$absent": ["sessionId"]})}
case("sep1359: a peer that uses the header alone gets none in messages", "everybody gets it")(
    http(CALL, token=session_token(), **WITHOUT)
)
case("sep1359: null in a message is none", "null is a session that is not good")(
    sep(CALL, None, token=session_token(), **WITHOUT), sep(CALL, None, **bad_request("Mcp-Session-Id"))
)
case("sep1359: a lifetime of its own is told", "the timeout is the kind's")(
    begin(**answers(result={"sessionTimeout": 60})), settings={"transport": {"sep1359": True, "ttl": 60}}
)
case("sep1359: header and message that differ are refused before anybody is asked", "one of the two is taken")(
    sep(CALL, session_token(), token="1234", **bad_request("Mcp-Session-Id and sessionId to be one"))
)
for name, code, change in [
    ("expired", "expired", {"age": 30 * 86400 + 1}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
]:
    case(f"sep1359: {name} is answered in the message", "a check of the seal is left out")(
        refused(session_token(**change), code)
    )
for name, value, error in [("a number", 7, SEP_ERROR_BARE), ("a text", "1234", SEP_ERROR)]:
    case(f"sep1359: {name} is answered in the message", "it is taken for absent")(
        refused(value, "malformed", error=error)
    )
case("sep1359: session/terminate without a memory is no method", "a promise that nothing keeps")(
    sep(TERMINATE, session_token(), **answers(error=NO_METHOD))
)
case("sep1359: session/terminate ends it", "the end is forgotten")(
    sep(TERMINATE, session_token(name="t"), asked=["principal"], **answers(result={})),
    refused(T, "ended"),
    settings=REMEMBERED,
)
NEEDS_AN_ID = bad_request("session/terminate to have an id")
case("sep1359: session/terminate without an id ends nothing", "a notification ends a session")(
    {**sep(TERMINATE, session_token(name="t"), **NEEDS_AN_ID), "notification": True},
    sep(CALL, T, **PASSED),
    settings=REMEMBERED,
)
case("sep1359: one that another principal sends is over for both", "a stolen session goes on")(
    refused(session_token(name="t"), "principal_mismatch", who="bob"), refused(T, "ended"), settings=REMEMBERED
)
case("sep1359: one that another sends, and whose end is not remembered, is the server's failure", "the end is lost")(
    refused(session_token(), "ledger_unavailable", error=INTERNAL, who="bob"),
    settings={**FAILING, **SEP},
)
case("sep1359: without a memory one that another sends is refused", "it is asked to end without a memory")(
    refused(session_token(), "principal_mismatch", who="bob")
)
