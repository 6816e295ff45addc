"""A guard with a ledger: what ended, and who was revoked."""

from .builders import *

transcripts = Transcripts(WITH_SESSIONS)
case = transcripts.case

BEGUN = create(payload="0")
SELF_CONTAINED = {"$handle": "i"}
MAKES_BOTH = (["mint", "basket", {"as": "h"}], ["seal", "basket", 1, {"as": "i"}])
OPENS_BOTH = (["check", "basket", H], ["open", "basket", SELF_CONTAINED])


def page(token: object, **more: object) -> dict:
    """A request of the second page, which passes unless something else is expected."""
    usual = {**returns({"tools": []}, given="page 2"), "answered": {"result": {}}}
    return listing(token, **{**usual, **more})


# ---- what ended ----

case(
    "ledger: a session that was deleted has ended",
    BEGUN,
    call(S, **written(1, 0)),
    delete({**S, "without": ["state"]}, commands=["admit"]),
    refused_session(S, "ended", commands=["admit"]),
    refused_session({**S, "version": 0}, "ended"),
    refused_session(S, "ended", method="tools/list", after=86000),
    delete(delivered=None, **refusal(LOST, "ended")),
    fault="the end is forgotten",
)
case(
    "ledger: another's session is not deleted",
    BEGUN,
    delete(who="bob", delivered=None, **refusal(LOST, "principal_mismatch"), commands=[]),
    call(S, **passed(0)),
    fault="anybody can end a session",
)
case(
    "ledger: an end of a session whose answer was lost is asked for again",
    BEGUN,
    delete(lost={"admit": 1}, commands=["admit", "admit"]),
    refused_session(S, "ended"),
    fault="the second try is refused",
)
case(
    "ledger: an end of a session without any answer is the server's failure",
    BEGUN,
    delete(lost={"admit": 2}, delivered=None, **refusal(INTERNAL, "ledger_unavailable")),
    fault="an end that may be lost",
)
case(
    "ledger: a fork goes on when its origin has ended",
    BEGUN,
    call(S, ["fork", "f"], did=[session_out("f", "0", 0)], delivered=seen(0), answered={"result": meta()}),
    delete(),
    refused_session(S, "ended"),
    call({"$session": "f"}, **passed(0, name="f")),
    fault="one end is two",
)
case(
    "ledger: a session that the server holds ends too",
    create(asked=["principal"], answered={"result": {"session": session_out()}}),
    delete(),
    refused_session(S, "ended"),
    settings={**LEDGER, "sessions": {"heldByServer": True}},
    fault="the end is forgotten",
)
case(
    "ledger: a notification of a session that ended is dropped",
    BEGUN,
    note(S, asked=["principal"], delivered={}, commands=["admit"]),
    delete(),
    note(S, asked=["principal"], reported=report("ended", "session"), commands=["admit"]),
    fault="a notification passes unasked",
)
case(
    "ledger: a handle that ended is refused",
    at_a_tool(
        *MAKES_BOTH,
        ["check", "basket", H],
        ["end", "basket", H],
        ["end", "basket", SELF_CONTAINED, {"selfContained": True}],
        did=[H, SELF_CONTAINED, H, "ok", "ok"],
    ),
    at_a_tool(
        *OPENS_BOTH,
        ["end", "basket", H],
        did=[REFUSED, REFUSED, REFUSED],
        reported=report("ended", "handle", "handle-state", "handle"),
    ),
    settings=LEDGER,
    fault="the end is forgotten",
)

# ---- who was revoked ----

case(
    "ledger: what a principal has when it is revoked is refused",
    BEGUN,
    at_a_tool(*MAKES_BOTH, did=[H, SELF_CONTAINED]),
    revoke(after=60, commands=["revoke"]),
    refused_session(S, "revoked", after=60),
    refused_session(S, "revoked", method="tools/list"),
    again(state_token(age=60), **refusal(STATE_ERROR, "revoked", "request-state")),
    page(cursor_token(age=60), delivered=None, **refusal(CURSOR_ERROR, "revoked", "cursor")),
    at_a_tool(*OPENS_BOTH, did=[REFUSED, REFUSED], reported=report("revoked", "handle", "handle-state")),
    fault="who was signed out goes on",
)
case(
    "ledger: what a principal begins after it is revoked is good",
    revoke(),
    {**BEGUN, "after": 1},
    call(S, **passed(0)),
    at_a_tool(["mint", "basket", {"as": "h"}], ["check", "basket", H], did=[H, H]),
    page(cursor_token()),
    fault="who was signed out can never come back",
)
case(
    "ledger: what a principal begins within the clock tolerance after it is revoked is refused",
    revoke(),
    {**BEGUN, "after": 5},
    refused_session(S, "revoked"),
    {**create("t", payload="0"), "after": 1},
    call({"$session": "t"}, **passed(0, name="t")),
    settings={**WITH_SESSIONS, "ledgerOptions": {"clockTolerance": 5}},
    fault="clocks are taken for equal",
)
case(
    "ledger: a session that began before its principal is revoked is over, whenever it was written",
    BEGUN,
    call(S, **written(1, 0), after=60, during=[revoke(after=60)]),
    refused_session(S, "revoked", after=60),
    fault="a write revives it",
)
BOBS, ANYBODYS = {"age": 60, "as": "bob"}, cursor_token(age=60, **{"as": "anonymous"})
case(
    "ledger: whoever else there is goes on when a principal is revoked",
    revoke(),
    again(state_token(**BOBS), who="bob", **runs('{"asked":1}', {})),
    page(cursor_token(**BOBS), who="bob"),
    settings=LEDGER,
    fault="all are signed out",
)
case(
    "ledger: a public page is anybody's when a principal is revoked",
    page(cursor_token(age=60), commands=["admit"]),
    page(ANYBODYS, commands=[]),
    revoke(),
    page(ANYBODYS, commands=[]),
    settings=LEDGER,
    fault="a page that a cache has is refused, or asked about",
)
case(
    "ledger: the page of an anonymous caller is nobody's, and not asked about",
    page(ANYBODYS, who="anonymous", commands=[]),
    settings=LEDGER,
    fault="nobody is remembered",
)
case(
    "ledger: a page that leaves after the revocation is good",
    revoke(),
    listing(
        **returns({"tools": [], "nextCursor": "page 2"}, {"nextCursor": cursor_token(name="c")}), reported=[], after=1
    ),
    page({"$token": "c"}),
    settings=LEDGER,
    fault="who was signed out can never come back",
)
case(
    "ledger: a revocation whose answer was lost is tried again",
    revoke(lost={"revoke": 1}, commands=["revoke", "revoke"]),
    settings=LEDGER,
    fault="it is lost",
)
case(
    "ledger: a revocation without any answer is not recorded, for all that is known",
    revoke(
        lost={"revoke": 2}, commands=["revoke", "revoke"], done=False, reported=report("ledger_unavailable", "session")
    ),
    settings=LEDGER,
    fault="it is said that somebody was signed out",
)
