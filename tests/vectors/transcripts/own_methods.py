"""Methods of the author's own."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case

OK = ["return", {"ok": True}]
LAST, MORE = {"things": []}, {"things": [], "nextCursor": "page 2"}
SEALED = cursor_token("demo/play")
ENDS = {**LAST, "$absent": ["nextCursor"]}


def play(*cursor: object, **expected: object) -> dict:
    """The author's method; with a cursor, its next page."""
    return listing(*cursor, method="demo/play", **expected)


case(
    "own method: what the client sent is not the guard's, and reading it is a mistake",
    "the raw state reaches the author",
)(
    event(
        "demo/play",
        params={"requestState": '{"asked":1}'},
        handler=[["state"], OK],
        did=[{"error": "invalid_argument"}],
        delivered={},
        hears={"ok": True},
    )
)
case("own method: a list of the author's own carries a cursor", "only the known lists are sealed")(
    listing(method="demo/things/list", **returns(MORE, {"nextCursor": cursor_token("demo/things/list")}))
)
case("own method: a cursor that is null is none", "null is a cursor")(
    event("demo/play", params={"cursor": None}, **returns({"ok": True, "nextCursor": None}, {"ok": True}))
)
case(
    "own method: whatever its name, its cursor leaves sealed and comes back", "only names that end in /list are lists"
)(
    play(**returns(MORE, {"nextCursor": SEALED})),
    play(SEALED, **returns(LAST, ENDS, given="page 2")),
    play(cursor_token("tools/list"), **refusal(CURSOR_ERROR, "unauthentic", "cursor")),
    play("page 2", **refusal(CURSOR_ERROR, "malformed", "cursor")),
)
case(
    "own method: a cursor under a name that nobody has is the client's mistake, and raises no alarm",
    "whoever sends it is told that the server failed",
)(
    listing("page 2", method="x" * 1025, **refusal(CURSOR_ERROR, "malformed", "cursor")),
    not_={
        "typescript": "the guard leaves unknown methods to the SDK",
        "go": "the SDK refuses unknown methods by itself",
    },
)
case(
    "own method: a handle and a cursor of it are of one caller, who is asked for once",
    "what began late asks again, or for somebody else",
)(
    play(
        handler=[["mint", "basket", {"as": "h"}], ["return", MORE]],
        did=[{"$handle": "h"}],
        delivered={"cursor": None},
        hears={"nextCursor": SEALED},
    ),
    play(
        SEALED,
        handler=[["check", "basket", {"$handle": "h"}], ["return", LAST]],
        did=[{"$handle": "h"}],
        delivered={"cursor": "page 2"},
        hears=ENDS,
    ),
)
case("own method: nobody has a cursor of it, and its handler ran", "what began late leaves unsealed")(
    play(who="nobody", **returns(MORE), **refusal(UNAUTHENTICATED, "unauthenticated", "cursor"))
)
