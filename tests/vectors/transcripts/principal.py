"""The principal: resolved where a request carries something, and never assumed."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case

NOBODY = refusal(UNAUTHENTICATED, "unauthenticated", "request-state")
for who, refused in [("nobody", NOBODY), ("thrower", refusal(INTERNAL, "invalid_argument", "request-state"))]:
    case(f"principal: {who}: the handler does not run", "whoever is nobody is anonymous")(call(who=who, **refused))
case("principal: nobody, with a state that is good: the handler does not run", "whoever is nobody is anonymous")(
    again(state_token(), who="nobody", **NOBODY)
)
case("principal: anonymous by name has tokens of its own", "anonymous opens everybody's")(
    call(who="anonymous", **asks_back("x", requestState=state_token(payload="x", **{"as": "anonymous"}))),
    refused_again(state_token(), "principal_mismatch", who="anonymous"),
)
case("principal: a list without a cursor asks nobody", "the principal is asked of everything")(
    event("tools/list", who="nobody", **returns({"tools": []}, {"tools": [], "$absent": ["nextCursor"]}))
)
case("principal: a method that carries nothing asks nobody", "the principal is asked of everything")(
    event("demo/play", who="nobody", **gives({"ok": True}))
)
case("principal: a notification named as a request carries nothing", "what nobody is answered is refused")(
    event("tools/call", params=params_of("tools/call", requestState="x"), who="nobody", notification=True),
    not_=dict.fromkeys(("engine", "rust", "hooks"), "its handler takes notifications of any name"),
)
