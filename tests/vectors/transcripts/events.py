"""What happens to tokens that are not refused, for those who count."""

from .builders import *
from .request_state import NO_SUCH_MEMBER

transcripts = Transcripts()
case = transcripts.case

ZERO = {"sessions": {"initial": 0}}
BEGUN = create(payload="0", happened=["sealed session new"])
WRITES = {**written(1, 0), "happened": ["opened session new 0", "sealed session new"]}
#: A tool that asks back, and what of it is compared.
ASKS = {
    "handler": [ask_back('{"asked":2}')],
    "answered": {"result": {"resultType": "input_required", "requestState": state_token(payload='{"asked":2}')}},
}

case("events: a state is sealed, and opened, by the key that made it", "the last token of an old key is not seen")(
    call(delivered={"state": None}, **ASKS, happened=["sealed request-state new"]),
    again(
        state_token(key="old", age=60),
        delivered={"state": '{"asked":1}'},
        **ASKS,
        happened=["opened request-state old 60", "sealed request-state new"],
    ),
)
case("events: what is refused did not happen", "what is refused counts as opened")(
    again(state_token(**{"as": "bob"}), **refusal(STATE_ERROR, "principal_mismatch", "request-state"), happened=[])
)
case("events: a state that does not leave was not sealed", "what does not leave counts as sealed")(
    call(
        handler=[done(requestState="1")],
        delivered={"state": None},
        **refusal(INTERNAL, "invalid_argument", "request-state"),
        happened=[],
    ),
    not_=NO_SUCH_MEMBER,
)
case("events: what the ledger judges is opened once", "each question counts")(
    again(state_token(name="a"), handler=[done()], delivered={}, hears={}, happened=["opened request-state new 0"]),
    settings=LEDGER,
)
case("events: what a ledger cannot judge was not opened", "it counts before all checks")(
    again(state_token(), **refusal(INTERNAL, "ledger_unavailable", "request-state"), happened=[]), settings=FAILING
)
PUBLIC = {"as": "anonymous"}
case("events: a page that is anybody's", "a public page is left out")(
    listing(
        cursor_token(**PUBLIC),
        who="bob",
        **returns(
            {"tools": [], "nextCursor": "page 3", "cacheScope": "public"},
            {"nextCursor": cursor_token(payload="page 3", **PUBLIC)},
            given="page 2",
        ),
        happened=["opened cursor new 0", "sealed cursor new"],
    )
)
case("events: a method of the server's own", "a metric grows by its name")(
    event(
        "demo/play",
        params={"cursor": cursor_token("demo/play")},
        asked=["principal"],
        handler=[["return", {"ok": True}]],
        delivered={},
        hears={"ok": True},
        happened=["opened cursor new 0"],
    )
)
case("events: a session is begun, read, written and forked", "a session is not counted")(
    BEGUN,
    call(S, **passed(0), happened=["opened session new 0"]),
    call(S, **WRITES),
    call(
        S,
        ["fork", "f"],
        did=[{"$session": "f", "payload": "1", "generation": 0}],
        delivered={},
        hears=meta(),
        happened=["opened session new 0", "sealed session new"],
    ),
    settings=ZERO,
)
case("events: an older key is needed as long as the ids that it made", "a key is retired that sessions need")(
    call(
        {"$session": {"as": "alice", "payload": "0", "key": "old", "age": 60}},
        ["write", 1],
        did=["ok"],
        delivered={},
        hears={},
        happened=["opened session old 60", "sealed session new"],
    ),
    settings=ZERO,
)
case("events: a state that is stale was not opened, and one that lost is not sealed", "what is stale counts")(
    BEGUN, call(FIRST, **WRITES), call(FIRST, **stale(1), happened=[]), settings=WITH_SESSIONS
)
case("events: a session that is deleted ends", "an end counts as opened")(
    BEGUN, delete(happened=["ended session new"]), settings=WITH_SESSIONS
)
SEALED, NEXT = {"$handle": "i"}, {"$handle": "j"}
case("events: handles, of which those that are the key of a row name no key of the ring", "an operation is left out")(
    at_a_tool(
        ["mint", "basket", {"as": "h"}],
        ["check", "basket", H],
        ["end", "basket", H],
        ["seal", "basket", ["apple"], {"as": "i"}],
        ["open", "basket", SEALED],
        ["renew", "basket", SEALED, ["pear"], {"as": "j"}],
        did=[H, H, "ok", SEALED, {"value": ["apple"]}, NEXT],
        happened=[
            "sealed handle",
            "opened handle 0",
            "ended handle",
            "sealed handle-state new",
            "opened handle-state new 0",
            "opened handle-state new 0",
            "sealed handle-state new",
        ],
    ),
    settings=LEDGER,
)
case("events: a session of the transport", "a session of the transport is not counted")(
    begin(happened=["sealed session new"]),
    http(CALL, token=T, **PASSED, after=600, happened=["opened session new 600"]),
    ends(happened=["ended session new"]),
    settings=LEDGER,
)
case("events: who is signed out", "nobody sees it")(revoke(happened=["revoked session"]), settings=LEDGER)
