"""Methods of the author's own."""

from .builders import CURSOR_ERROR, UNAUTHENTICATED, Transcripts, cursor_token, event, report

transcripts = Transcripts()
case = transcripts.case

case(
    "own method: what the client sent is not the guard's, and reading it is a mistake",
    event(
        "demo/play",
        params={"requestState": '{"asked":1}'},
        handler=[["state"], ["return", {"ok": True}]],
        did=[{"error": "invalid_argument"}],
        delivered={},
        answered={"result": {"ok": True}},
    ),
    fault="the raw state reaches the author",
)
case(
    "own method: a list of the author's own carries a cursor",
    event(
        "demo/things/list",
        params={},
        asked=["principal"],
        handler=[["return", {"things": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token("demo/things/list")}},
    ),
    fault="only the known lists are sealed",
)
case(
    "own method: a cursor that is null is none",
    event(
        "demo/play",
        params={"cursor": None},
        handler=[["return", {"ok": True, "nextCursor": None}]],
        delivered={"cursor": None},
        answered={"result": {"ok": True}},
    ),
    fault="null is a cursor",
)
case(
    "own method: whatever its name, its cursor leaves sealed and comes back",
    event(
        "demo/play",
        params={},
        asked=["principal"],
        handler=[["return", {"things": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token("demo/play")}},
    ),
    event(
        "demo/play",
        params={"cursor": cursor_token("demo/play")},
        asked=["principal"],
        handler=[["return", {"things": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {"things": [], "$absent": ["nextCursor"]}},
    ),
    event(
        "demo/play",
        params={"cursor": cursor_token("tools/list")},
        asked=["principal"],
        answered={"error": CURSOR_ERROR},
        reported=report("unauthentic", "cursor"),
    ),
    event(
        "demo/play",
        params={"cursor": "page 2"},
        asked=["principal"],
        answered={"error": CURSOR_ERROR},
        reported=report("malformed", "cursor"),
    ),
    fault="only names that end in /list are lists",
)
case(
    "own method: a cursor under a name that nobody has is the client's mistake, and raises no alarm",
    event(
        "x" * 1025,
        params={"cursor": "page 2"},
        asked=["principal"],
        answered={"error": CURSOR_ERROR},
        reported=report("malformed", "cursor"),
    ),
    fault="whoever sends it is told that the server failed",
    not_={
        "typescript": "the guard leaves unknown methods to the SDK",
        "go": "the SDK refuses unknown methods by itself",
    },
)
case(
    "own method: a handle and a cursor of it are of one caller, who is asked for once",
    event(
        "demo/play",
        params={},
        asked=["principal"],
        handler=[["mint", "basket", {"as": "h"}], ["return", {"things": [], "nextCursor": "page 2"}]],
        did=[{"$handle": "h"}],
        delivered={"cursor": None},
        answered={"result": {"nextCursor": cursor_token("demo/play")}},
    ),
    event(
        "demo/play",
        params={"cursor": cursor_token("demo/play")},
        asked=["principal"],
        handler=[["check", "basket", {"$handle": "h"}], ["return", {"things": []}]],
        did=[{"$handle": "h"}],
        delivered={"cursor": "page 2"},
        answered={"result": {"things": [], "$absent": ["nextCursor"]}},
    ),
    fault="what began late asks again, or for somebody else",
)
case(
    "own method: nobody has a cursor of it, and its handler ran",
    event(
        "demo/play",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["return", {"things": [], "nextCursor": "page 2"}]],
        delivered={"cursor": None},
        answered={"error": UNAUTHENTICATED},
        reported=report("unauthenticated", "cursor"),
    ),
    fault="what began late leaves unsealed",
)
