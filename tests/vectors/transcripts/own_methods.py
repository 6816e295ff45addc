"""Methods of the author's own."""

from .builders import Transcripts, cursor_token, event

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
