"""The principal: resolved where a request carries something, and never assumed."""

from .builders import (
    INTERNAL,
    UNAUTHENTICATED,
    Transcripts,
    ask_back,
    event,
    params_of,
    refused_state,
    report,
    state_token,
)

transcripts = Transcripts()
case = transcripts.case

for who, code, error in [
    ("nobody", "unauthenticated", UNAUTHENTICATED),
    ("thrower", "invalid_argument", INTERNAL),
]:
    case(
        f"principal: {who}: the handler does not run",
        event(
            "tools/call",
            who=who,
            asked=["principal"],
            answered={"error": error},
            reported=report(code, "request-state"),
        ),
        fault="whoever is nobody is anonymous",
    )
case(
    "principal: nobody, with a state that is good: the handler does not run",
    event(
        "tools/call",
        who="nobody",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal"],
        answered={"error": UNAUTHENTICATED},
        reported=report("unauthenticated", "request-state"),
    ),
    fault="whoever is nobody is anonymous",
)
case(
    "principal: anonymous by name has tokens of its own",
    event(
        "tools/call",
        who="anonymous",
        asked=["principal"],
        handler=[ask_back("x")],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(payload="x", **{"as": "anonymous"})}},
    ),
    event(
        "tools/call",
        who="anonymous",
        params=params_of("tools/call", requestState=state_token()),
        **refused_state(reported=report("principal_mismatch", "request-state")),
    ),
    fault="anonymous opens everybody's",
)
case(
    "principal: a list without a cursor asks nobody",
    event(
        "tools/list",
        params={},
        who="nobody",
        handler=[["return", {"tools": []}]],
        delivered={"cursor": None},
        answered={"result": {"tools": [], "$absent": ["nextCursor"]}},
    ),
    fault="the principal is asked of everything",
)
case(
    "principal: a method that carries nothing asks nobody",
    event(
        "demo/play",
        params={},
        who="nobody",
        handler=[["return", {"ok": True}]],
        delivered={},
        answered={"result": {"ok": True}},
    ),
    fault="the principal is asked of everything",
)
case(
    "principal: a notification named as a request carries nothing",
    event("tools/call", params=params_of("tools/call", requestState="x"), who="nobody", notification=True),
    fault="what nobody is answered is refused",
    not_=dict.fromkeys(("engine", "rust", "hooks"), "its handler takes notifications of any name"),
)
