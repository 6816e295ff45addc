"""Cursors of lists, private and public."""

from .builders import (
    CURSOR_ERROR,
    INTERNAL,
    LISTS,
    MEMBER,
    UNAUTHENTICATED,
    Transcripts,
    cursor_token,
    event,
    report,
)

transcripts = Transcripts()
case = transcripts.case

for method in LISTS:
    finish = ["return", {MEMBER[method]: []}]
    case(
        f"cursor: {method}: leaves sealed and comes back",
        event(
            method,
            params={},
            asked=["principal"],
            handler=[["return", {MEMBER[method]: [], "nextCursor": "page 2"}]],
            delivered={"cursor": None},
            answered={"result": {"nextCursor": cursor_token(method)}},
        ),
        event(
            method,
            params={"cursor": cursor_token(method)},
            asked=["principal"],
            handler=[finish],
            delivered={"cursor": "page 2"},
            answered={"result": {MEMBER[method]: [], "$absent": ["nextCursor"]}},
        ),
        fault="a cursor leaves as it is",
    )
case(
    "cursor: what a list opened is no state, and reading one is a mistake",
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal"],
        handler=[["state"], ["return", {"tools": []}]],
        did=[{"error": "invalid_argument"}],
        delivered={"cursor": "page 2"},
        answered={"result": {"tools": []}},
    ),
    fault="a cursor is read as a state",
)
for name, code, change in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another list", "unauthentic", {"label": "prompts/list"}),
    ("expired", "expired", {"age": 86401}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("spelled otherwise", "malformed", {"change": "pad"}),
]:
    case(
        f"cursor: {name} is refused",
        event(
            "tools/list",
            params={"cursor": cursor_token(**change)},
            asked=["principal"],
            answered={"error": CURSOR_ERROR},
            reported=report(code, "cursor"),
        ),
        fault="a check of the seal is left out",
    )
NO_TEXT = {
    "rust": "rmcp drops a cursor that is no text",
    "go": "the SDK's types refuse it before the guard: TestWhatTheSDKRefusesByItself",
}
for name, value, reasons in [("a plain text", "page 2", None), ("a number", 2, NO_TEXT), ("an object", {}, NO_TEXT)]:
    case(
        f"cursor: {name} is refused",
        event(
            "tools/list",
            params={"cursor": value},
            asked=["principal"],
            answered={"error": CURSOR_ERROR},
            reported=report("malformed", "cursor"),
        ),
        fault="what a client wrote reaches the handler",
        not_=reasons,
    )
case(
    "cursor: null is absent",
    event(
        "tools/list",
        params={"cursor": None},
        handler=[["return", {"tools": []}]],
        delivered={"cursor": None},
        answered={"result": {"tools": []}},
    ),
    fault="null is refused",
)
case(
    "cursor: in the earlier revision too",
    event(
        "tools/list",
        params={},
        era="legacy",
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token()}},
    ),
    fault="one revision is left out",
)
case(
    "cursor: of a public page is anybody's",
    event(
        "tools/list",
        params={},
        handler=[["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "public", "ttlMs": 5}]],
        delivered={"cursor": None},
        answered={
            "result": {
                "nextCursor": cursor_token(**{"as": "anonymous"}),
                "cacheScope": "public",
                "ttlMs": 5,
            }
        },
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        who="bob",
        asked=["principal"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {"tools": []}},
    ),
    fault="a cursor of a public page is one user's",
)
case(
    "cursor: of a public page is of its list all the same",
    event(
        "tools/list",
        params={"cursor": cursor_token("prompts/list", **{"as": "anonymous"})},
        asked=["principal"],
        answered={"error": CURSOR_ERROR},
        reported=report("unauthentic", "cursor"),
    ),
    fault="a public cursor is not bound",
)
case(
    "cursor: of a private page is the user's",
    event(
        "tools/list",
        params={},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "private", "ttlMs": 5}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token(), "cacheScope": "private", "ttlMs": 5}},
    ),
    fault="every cursor is anybody's",
)
case(
    "cursor: an empty text is one",
    event(
        "tools/list",
        params={},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": ""}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token(payload="")}},
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token(payload="")},
        asked=["principal"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": ""},
        answered={"result": {"tools": []}},
    ),
    fault="an empty cursor is taken for none",
    not_={"go": "the SDK cannot tell an empty text from none"},
)
for name, who, public in [
    ("a private page", "alice", False),
    ("a public page", "alice", True),
    ("a public page for anybody", "anonymous", True),
]:
    scope = {"cacheScope": "public", "ttlMs": 5} if public else {}
    case(
        f"cursor: {name} that does not advance has the same one again",
        event(
            "tools/list",
            params={},
            who=who,
            asked=[] if public else ["principal"],
            handler=[["return", {"tools": [], "nextCursor": "page 2", **scope}]],
            delivered={"cursor": None},
            answered={
                "result": {"nextCursor": cursor_token(name="c", **{"as": "anonymous" if public else who})},
            },
        ),
        event(
            "tools/list",
            params={"cursor": {"$token": "c"}},
            who=who,
            asked=["principal"],
            handler=[["return", {"tools": [], "nextCursor": "page 2", **scope}]],
            delivered={"cursor": "page 2"},
            answered={"result": {"nextCursor": {"$token": "c"}}},
        ),
        fault="a client cannot see that a list goes round",
    )
case(
    "cursor: of a public page is not sent again in a private one",
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2"}]],
        delivered={"cursor": "page 2"},
        answered={"result": {"nextCursor": cursor_token()}},
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "public", "ttlMs": 5}]],
        delivered={"cursor": "page 2"},
        answered={"result": {"nextCursor": cursor_token(**{"as": "anonymous"})}},
    ),
    fault="one user's cursor stands in a page for everybody",
)
case(
    "cursor: nobody cannot have one of a private page",
    event(
        "tools/list",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"error": UNAUTHENTICATED},
        reported=report("unauthenticated", "cursor"),
    ),
    fault="a page of nobody's leaves",
)
case(
    "cursor: what is too large to seal is the server's trouble",
    event(
        "tools/list",
        params={},
        asked=["principal"],
        handler=[["return", {"tools": [], "nextCursor": "x" * 4097}]],
        delivered={"cursor": None},
        answered={"error": INTERNAL},
        reported=report("too_large", "cursor"),
    ),
    fault="it is answered as a refusal",
)
