"""The author's `accept`: when it is asked, and what its answers mean."""

from .builders import (
    CURSOR_ERROR,
    INTERNAL,
    STATE_ERROR,
    Transcripts,
    cursor_token,
    done,
    event,
    params_of,
    refused_state,
    report,
    state_token,
)

transcripts = Transcripts()
case = transcripts.case

case(
    "accept: is asked before the handler runs",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    settings={"accept": "yes"},
    fault="accept is not asked",
)
case(
    "accept: no refuses in the fixed words",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        answered={"error": STATE_ERROR},
        reported=report("not_accepted", "request-state"),
    ),
    settings={"accept": "no"},
    fault="no is not heard",
)
case(
    "accept: what fails is the server's trouble",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        asked=["principal", "accept request-state"],
        answered={"error": INTERNAL},
        reported=report("accept_unavailable", "request-state"),
    ),
    settings={"accept": "fails"},
    fault="it fails open",
)
case(
    "accept: is not asked of what is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(**{"as": "bob"})),
        **refused_state(reported=report("principal_mismatch", "request-state")),
    ),
    settings={"accept": "yes"},
    fault="it is asked of everything",
)
case(
    "accept: is not asked where nothing came",
    event(
        "tools/call",
        asked=["principal"],
        handler=[done()],
        delivered={"state": None},
        answered={"result": {}},
    ),
    settings={"accept": "no"},
    fault="it is asked of everything",
)
case(
    "accept: a cursor is asked for too",
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal", "accept cursor"],
        answered={"error": CURSOR_ERROR},
        reported=report("not_accepted", "cursor"),
    ),
    settings={"accept": "no"},
    fault="cursors pass",
)
case(
    "accept: a cursor of a public page is anybody's, and one of a private page is not",
    event(
        "tools/list",
        params={"cursor": cursor_token(**{"as": "anonymous"})},
        asked=["principal", "accept cursor"],
        anybodys=[True],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    event(
        "tools/list",
        params={"cursor": cursor_token()},
        asked=["principal", "accept cursor"],
        anybodys=[False],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    settings={"accept": "yes"},
    fault="what is anybody's is counted as of who asks",
)
case(
    "accept: a state is used once, a cursor as often as anybody likes",
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": {**state_token()["$token"], "name": "t"}}),
        asked=["principal", "accept request-state"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": "t"}),
        asked=["principal", "accept request-state"],
        answered={"error": STATE_ERROR},
        reported=report("not_accepted", "request-state"),
    ),
    event(
        "tools/list",
        params={"cursor": {"$token": {**cursor_token()["$token"], "name": "c"}}},
        asked=["principal", "accept cursor"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    event(
        "tools/list",
        params={"cursor": {"$token": "c"}},
        asked=["principal", "accept cursor"],
        handler=[["return", {"tools": []}]],
        delivered={"cursor": "page 2"},
        answered={"result": {}},
    ),
    settings={"accept": "once"},
    fault="single use forgets",
)
