"""A guard with a ledger: what ended, and who was revoked."""

from .builders import (
    CURSOR_ERROR,
    INTERNAL,
    LEDGER,
    MEMBER,
    STATE_ERROR,
    WITH_SESSIONS,
    Transcripts,
    at_a_tool,
    call,
    create,
    cursor_token,
    done,
    event,
    meta,
    params_of,
    passed,
    refused_session,
    report,
    revoke,
    session_out,
    state_token,
    written,
)

transcripts = Transcripts()
case = transcripts.case

S = {"$session": "s"}


def delete(session: object = S, **more: object) -> dict:
    usual = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}
    return event("sessions/delete", params={}, session=session, **{**usual, **more})


def refused_delete(session: object, code: str) -> dict:
    refused = refused_session(session, code, method="sessions/delete")
    del refused["message"]["params"]["_meta"]
    return delete(session, **{name: refused[name] for name in ("answered", "reported", "delivered")})


def page(token: object, *, who: str = "alice", **more: object) -> dict:
    usual = {
        "asked": ["principal"],
        "handler": [["return", {"tools": []}]],
        "delivered": {"cursor": "page 2"},
        "answered": {"result": {}},
    }
    return event("tools/list", params={"cursor": token}, who=who, **{**usual, **more})


# ---- what ended ----

case(
    "ledger: a session that was deleted has ended",
    create(payload="0"),
    call(S, **written(1, 0)),
    delete({**S, "without": ["state"]}, commands=["admit"]),
    refused_session(S, "ended", commands=["admit"]),
    refused_session({**S, "version": 0}, "ended"),
    refused_session(S, "ended", method="tools/list", after=86000),
    refused_delete(S, "ended"),
    settings=WITH_SESSIONS,
    fault="the end is forgotten",
)
case(
    "ledger: another's session is not deleted",
    create(payload="0"),
    delete(
        who="bob",
        delivered=None,
        answered=refused_session(S, "principal_mismatch")["answered"],
        reported=report("principal_mismatch", "session"),
        commands=[],
    ),
    call(S, **passed(0)),
    settings=WITH_SESSIONS,
    fault="anybody can end a session",
)
case(
    "ledger: an end of a session whose answer was lost is asked for again",
    create(payload="0"),
    delete(lost={"admit": 1}, commands=["admit", "admit"]),
    refused_session(S, "ended"),
    settings=WITH_SESSIONS,
    fault="the second try is refused",
)
case(
    "ledger: an end of a session without any answer is the server's failure",
    create(payload="0"),
    delete(
        lost={"admit": 2},
        delivered=None,
        answered={"error": INTERNAL},
        reported=report("ledger_unavailable", "session"),
    ),
    settings=WITH_SESSIONS,
    fault="an end that may be lost",
)
case(
    "ledger: a fork goes on when its origin has ended",
    create(payload="0"),
    call(
        S,
        handler=[["fork", "f"], done()],
        did=[session_out("f", "0", 0)],
        delivered={"session": {"value": 0, "generation": 0}},
        answered={"result": meta(name="s")},
    ),
    delete(),
    refused_session(S, "ended"),
    call(
        {"$session": "f"},
        handler=[done()],
        delivered={"session": {"value": 0, "generation": 0}},
        answered={"result": meta(name="f")},
    ),
    settings=WITH_SESSIONS,
    fault="one end is two",
)
case(
    "ledger: a session that the server holds ends too",
    event(
        "sessions/create",
        params={},
        asked=["principal"],
        delivered={},
        answered={"result": {"session": session_out()}},
    ),
    delete(),
    refused_session(S, "ended"),
    settings={**LEDGER, "sessions": {"heldByServer": True}},
    fault="the end is forgotten",
)
case(
    "ledger: a notification of a session that ended is dropped",
    create(payload="0"),
    event(
        "notifications/demo",
        params={},
        session=S,
        notification=True,
        asked=["principal"],
        delivered={},
        commands=["admit"],
    ),
    delete(),
    event(
        "notifications/demo",
        params={},
        session=S,
        notification=True,
        asked=["principal"],
        reported=report("ended", "session"),
        commands=["admit"],
    ),
    settings=WITH_SESSIONS,
    fault="a notification passes unasked",
)
case(
    "ledger: a handle that ended is refused",
    at_a_tool(
        ["mint", "basket", {"as": "h"}],
        ["seal", "basket", 1, {"as": "i"}],
        ["check", "basket", {"$handle": "h"}],
        ["end", "basket", {"$handle": "h"}],
        ["end", "basket", {"$handle": "i"}, {"selfContained": True}],
        did=[{"$handle": "h"}, {"$handle": "i"}, {"$handle": "h"}, "ok", "ok"],
    ),
    at_a_tool(
        ["check", "basket", {"$handle": "h"}],
        ["open", "basket", {"$handle": "i"}],
        ["end", "basket", {"$handle": "h"}],
        did=[{"refused": True}, {"refused": True}, {"refused": True}],
        reported=[*report("ended", "handle"), *report("ended", "handle-state"), *report("ended", "handle")],
    ),
    settings=LEDGER,
    fault="the end is forgotten",
)

# ---- who was revoked ----

case(
    "ledger: what a principal has when it is revoked is refused",
    create(payload="0"),
    at_a_tool(
        ["mint", "basket", {"as": "h"}],
        ["seal", "basket", 1, {"as": "i"}],
        did=[{"$handle": "h"}, {"$handle": "i"}],
    ),
    revoke(after=60, commands=["revoke"]),
    refused_session(S, "revoked", after=60),
    refused_session(S, "revoked", method="tools/list"),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(age=60)),
        asked=["principal"],
        answered={"error": STATE_ERROR},
        reported=report("revoked", "request-state"),
    ),
    page(
        cursor_token(age=60),
        delivered=None,
        answered={"error": CURSOR_ERROR},
        reported=report("revoked", "cursor"),
    ),
    at_a_tool(
        ["check", "basket", {"$handle": "h"}],
        ["open", "basket", {"$handle": "i"}],
        did=[{"refused": True}, {"refused": True}],
        reported=[*report("revoked", "handle"), *report("revoked", "handle-state")],
    ),
    settings=WITH_SESSIONS,
    fault="who was signed out goes on",
)
case(
    "ledger: what a principal begins after it is revoked is good",
    revoke(),
    {**create(payload="0"), "after": 1},
    call(S, **passed(0)),
    at_a_tool(
        ["mint", "basket", {"as": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"$handle": "h"}],
    ),
    page(cursor_token()),
    settings=WITH_SESSIONS,
    fault="who was signed out can never come back",
)
case(
    "ledger: what a principal begins within the clock tolerance after it is revoked is refused",
    revoke(),
    {**create(payload="0"), "after": 5},
    refused_session(S, "revoked"),
    {**create("t", payload="0"), "after": 1},
    call(
        {"$session": "t"},
        handler=[done()],
        delivered={"session": {"value": 0, "generation": 0}},
        answered={"result": meta(name="t")},
    ),
    settings={**WITH_SESSIONS, "ledgerOptions": {"clockTolerance": 5}},
    fault="clocks are taken for equal",
)
case(
    "ledger: a session that began before its principal is revoked is over, whenever it was written",
    create(payload="0"),
    call(S, **written(1, 0), after=60, during=[revoke(after=60)]),
    refused_session(S, "revoked", after=60),
    settings=WITH_SESSIONS,
    fault="a write revives it",
)
case(
    "ledger: whoever else there is goes on when a principal is revoked",
    revoke(),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(age=60, **{"as": "bob"})),
        who="bob",
        asked=["principal"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    page(cursor_token(age=60, **{"as": "bob"}), who="bob"),
    settings=LEDGER,
    fault="all are signed out",
)
case(
    "ledger: a public page is anybody's when a principal is revoked",
    page(cursor_token(age=60), commands=["admit"]),
    page(cursor_token(age=60, **{"as": "anonymous"}), commands=[]),
    revoke(),
    page(cursor_token(age=60, **{"as": "anonymous"}), commands=[]),
    settings=LEDGER,
    fault="a page that a cache has is refused, or asked about",
)
case(
    "ledger: the page of an anonymous caller is nobody's, and not asked about",
    page(cursor_token(age=60, **{"as": "anonymous"}), who="anonymous", commands=[]),
    settings=LEDGER,
    fault="nobody is remembered",
)
case(
    "ledger: a page that leaves after the revocation is good",
    revoke(),
    {
        **event(
            "tools/list",
            params={},
            asked=["principal"],
            handler=[["return", {MEMBER["tools/list"]: [], "nextCursor": "page 2"}]],
            delivered={"cursor": None},
            answered={"result": {"nextCursor": cursor_token(name="c")}},
        ),
        "after": 1,
    },
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
        lost={"revoke": 2},
        commands=["revoke", "revoke"],
        done=False,
        reported=report("ledger_unavailable", "session"),
    ),
    settings=LEDGER,
    fault="it is said that somebody was signed out",
)
