"""Cursors of lists, private and public."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case

LAST, MORE = {"tools": []}, {"tools": [], "nextCursor": "page 2"}
PUBLIC = {"cacheScope": "public", "ttlMs": 5}
ANYBODYS = cursor_token(**{"as": "anonymous"})

for method in LISTS:
    member, sealed = MEMBER[method], cursor_token(method)
    case(f"cursor: {method}: leaves sealed and comes back", "a cursor leaves as it is")(
        listing(method=method, **returns({member: [], "nextCursor": "page 2"}, {"nextCursor": sealed})),
        listing(
            sealed, method=method, **returns({member: []}, {member: [], "$absent": ["nextCursor"]}, given="page 2")
        ),
    )
case("cursor: what a list opened is no state, and reading one is a mistake", "a cursor is read as a state")(
    listing(
        cursor_token(),
        handler=[["state"], ["return", LAST]],
        did=[{"error": "invalid_argument"}],
        delivered={"cursor": "page 2"},
        hears=LAST,
    )
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
    case(f"cursor: {name} is refused", "a check of the seal is left out")(
        listing(cursor_token(**change), **refusal(CURSOR_ERROR, code, "cursor"))
    )
NO_TEXT = {
    "rust": "rmcp drops a cursor that is no text",
    "go": "the SDK's types refuse it before the guard: TestWhatTheSDKRefusesByItself",
}
for name, value, reasons in [("a plain text", "page 2", None), ("a number", 2, NO_TEXT), ("an object", {}, NO_TEXT)]:
    case(f"cursor: {name} is refused", "what a client wrote reaches the handler")(
        listing(value, **refusal(CURSOR_ERROR, "malformed", "cursor")), not_=reasons
    )
case("cursor: null is absent", "null is refused")(event("tools/list", params={"cursor": None}, **returns(LAST, LAST)))
case("cursor: in the earlier revision too", "one revision is left out")(
    listing(era="legacy", **returns(MORE, {"nextCursor": cursor_token()}))
)
case("cursor: of a public page is anybody's", "a cursor of a public page is one user's")(
    event("tools/list", **returns({**MORE, **PUBLIC}, {"nextCursor": ANYBODYS, **PUBLIC})),
    listing(ANYBODYS, who="bob", **returns(LAST, LAST, given="page 2")),
)
case("cursor: of a public page is of its list all the same", "a public cursor is not bound")(
    listing(cursor_token("prompts/list", **{"as": "anonymous"}), **refusal(CURSOR_ERROR, "unauthentic", "cursor"))
)
PRIVATE = {"cacheScope": "private", "ttlMs": 5}
case("cursor: of a private page is the user's", "every cursor is anybody's")(
    listing(**returns({**MORE, **PRIVATE}, {"nextCursor": cursor_token(), **PRIVATE}))
)
EMPTY = cursor_token(payload="")
case("cursor: an empty text is one", "an empty cursor is taken for none")(
    listing(**returns({"tools": [], "nextCursor": ""}, {"nextCursor": EMPTY})),
    listing(EMPTY, **returns(LAST, LAST, given="")),
    not_={"go": "the SDK cannot tell an empty text from none"},
)
for name, who, asked, scope, whose in [
    ("a private page", "alice", ["principal"], {}, "alice"),
    ("a public page", "alice", [], PUBLIC, "anonymous"),
    ("a public page for anybody", "anonymous", [], PUBLIC, "anonymous"),
]:
    page = {**MORE, **scope}
    sealed = cursor_token(name="c", **{"as": whose})
    case(f"cursor: {name} that does not advance has the same one again", "a client cannot see that a list goes round")(
        listing(who=who, asked=asked, **returns(page, {"nextCursor": sealed})),
        listing({"$token": "c"}, who=who, **returns(page, {"nextCursor": {"$token": "c"}}, given="page 2")),
    )
case("cursor: of a public page is not sent again in a private one", "one user's cursor stands in a page for everybody")(
    listing(ANYBODYS, **returns(MORE, {"nextCursor": cursor_token()}, given="page 2")),
    listing(cursor_token(), **returns({**MORE, **PUBLIC}, {"nextCursor": ANYBODYS}, given="page 2")),
)
case("cursor: nobody cannot have one of a private page", "a page of nobody's leaves")(
    listing(who="nobody", **returns(MORE), **refusal(UNAUTHENTICATED, "unauthenticated", "cursor"))
)
case("cursor: what is too large to seal is the server's trouble", "it is answered as a refusal")(
    listing(**returns({"tools": [], "nextCursor": "x" * 4097}), **refusal(INTERNAL, "too_large", "cursor"))
)
