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

case("ledger: a session that was deleted has ended", "the end is forgotten")(
    BEGUN,
    call(S, **written(1, 0)),
    delete({**S, "without": ["state"]}, commands=["admit"]),
    refused_session(S, "ended", commands=["admit"]),
    refused_session({**S, "version": 0}, "ended"),
    refused_session(S, "ended", method="tools/list", after=86000),
    delete(delivered=None, **refusal(LOST, "ended")),
)
case("ledger: another's session is not deleted", "anybody can end a session")(
    BEGUN, delete(who="bob", delivered=None, **refusal(LOST, "principal_mismatch"), commands=[]), call(S, **passed(0))
)
case("ledger: an end of a session whose answer was lost is asked for again", "the second try is refused")(
    BEGUN, delete(lost={"admit": 1}, commands=["admit", "admit"]), refused_session(S, "ended")
)
case("ledger: an end of a session without any answer is the server's failure", "an end that may be lost")(
    BEGUN, delete(lost={"admit": 2}, delivered=None, **refusal(INTERNAL, "ledger_unavailable"))
)
case("ledger: a fork goes on when its origin has ended", "one end is two")(
    BEGUN,
    call(S, ["fork", "f"], did=[session_out("f", "0", 0)], delivered=seen(0), hears=meta()),
    delete(),
    refused_session(S, "ended"),
    call({"$session": "f"}, **passed(0, name="f")),
)
case("ledger: a session that the server holds ends too", "the end is forgotten")(
    create(asked=["principal"], hears={"session": session_out()}),
    delete(),
    refused_session(S, "ended"),
    settings={**LEDGER, "sessions": {"heldByServer": True}},
)
case("ledger: a notification of a session that ended is dropped", "a notification passes unasked")(
    BEGUN,
    note(S, asked=["principal"], delivered={}, commands=["admit"]),
    delete(),
    note(S, asked=["principal"], reported=report("ended", "session"), commands=["admit"]),
)
case("ledger: a handle that ended is refused", "the end is forgotten")(
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
)

# ---- who was revoked ----

case("ledger: what a principal has when it is revoked is refused", "who was signed out goes on")(
    BEGUN,
    at_a_tool(*MAKES_BOTH, did=[H, SELF_CONTAINED]),
    revoke(after=60, commands=["revoke"]),
    refused_session(S, "revoked", after=60),
    refused_session(S, "revoked", method="tools/list"),
    again(state_token(age=60), **refusal(STATE_ERROR, "revoked", "request-state")),
    page(cursor_token(age=60), delivered=None, **refusal(CURSOR_ERROR, "revoked", "cursor")),
    at_a_tool(*OPENS_BOTH, did=[REFUSED, REFUSED], reported=report("revoked", "handle", "handle-state")),
)
case("ledger: what a principal begins after it is revoked is good", "who was signed out can never come back")(
    revoke(),
    {**BEGUN, "after": 1},
    call(S, **passed(0)),
    at_a_tool(["mint", "basket", {"as": "h"}], ["check", "basket", H], did=[H, H]),
    page(cursor_token()),
)
case(
    "ledger: what a principal begins within the clock tolerance after it is revoked is refused",
    "clocks are taken for equal",
)(
    revoke(),
    {**BEGUN, "after": 5},
    refused_session(S, "revoked"),
    {**create("t", payload="0"), "after": 1},
    call({"$session": "t"}, **passed(0, name="t")),
    settings={**WITH_SESSIONS, "ledgerOptions": {"clockTolerance": 5}},
)
case(
    "ledger: a session that began before its principal is revoked is over, whenever it was written",
    "a write revives it",
)(BEGUN, call(S, **written(1, 0), after=60, during=[revoke(after=60)]), refused_session(S, "revoked", after=60))
BOBS, ANYBODYS = {"age": 60, "as": "bob"}, cursor_token(age=60, **{"as": "anonymous"})
case("ledger: whoever else there is goes on when a principal is revoked", "all are signed out")(
    revoke(),
    again(state_token(**BOBS), who="bob", **runs('{"asked":1}', {})),
    page(cursor_token(**BOBS), who="bob"),
    settings=LEDGER,
)
case(
    "ledger: a public page is anybody's when a principal is revoked",
    "a page that a cache has is refused, or asked about",
)(
    page(cursor_token(age=60), commands=["admit"]),
    page(ANYBODYS, commands=[]),
    revoke(),
    page(ANYBODYS, commands=[]),
    settings=LEDGER,
)
case("ledger: the page of an anonymous caller is nobody's, and not asked about", "nobody is remembered")(
    page(ANYBODYS, who="anonymous", commands=[]), settings=LEDGER
)
case("ledger: a page that leaves after the revocation is good", "who was signed out can never come back")(
    revoke(),
    listing(
        **returns({"tools": [], "nextCursor": "page 2"}, {"nextCursor": cursor_token(name="c")}), reported=[], after=1
    ),
    page({"$token": "c"}),
    settings=LEDGER,
)
case("ledger: a revocation whose answer was lost is tried again", "it is lost")(
    revoke(lost={"revoke": 1}, commands=["revoke", "revoke"]), settings=LEDGER
)
case(
    "ledger: a revocation without any answer is not recorded, for all that is known",
    "it is said that somebody was signed out",
)(
    revoke(
        lost={"revoke": 2}, commands=["revoke", "revoke"], done=False, reported=report("ledger_unavailable", "session")
    ),
    settings=LEDGER,
)
