"""Data-layer sessions: read, written, renewed and refused."""

from .builders import *

transcripts = Transcripts(SESSIONS)
case = transcripts.case

ZERO, ONE = {"n": 0}, {"n": 1}
WRITTEN = meta("s", '{"n":1}', 1)

case("session: begins with what the author gives", "nothing is sealed")(create())


def named(session: str, *, by: str) -> dict:
    """A handler that hears the id of a session."""
    return call({"$session": session}, ["sessionId"], delivered=seen(ZERO), hears=DONE, did=[{"$id": by}])


case("session: a handler knows it by an id", "the id is another one for each request, or the same for two sessions")(
    create(), named("s", by="one"), named("s", by="one"), create("other"), named("other", by="another")
)
case("session: is read, written, and read again", "what was written is lost")(
    create(),
    call(
        S,
        ["session"],
        ["write", ONE],
        did=[{"value": ZERO, "generation": 0}, "ok"],
        delivered=seen(ZERO),
        hears=WRITTEN,
    ),
    call(S, ["session"], did=[{"value": ONE, "generation": 1}], delivered=seen(ONE, 1), hears=meta()),
)
for name, members, after in [
    ("a day", {}, 86_400),
    ("a minute", {"ttl": 60}, 60),
    ("25 hours", {"ttl": 90_000}, 90_000),
]:
    case(f"session: lives {name}", "another lifetime")(
        create(),
        # What comes back late is sealed again.
        call(S, after=after - 1, **renewed(ZERO)),
        refused_session(S, "expired", after=after),
        settings={"sessions": {"initial": ZERO, **members}},
    )
case("session: lives without end", "another lifetime")(
    create(), call(S, after=99_999, **passed(ZERO)), settings={"sessions": {"initial": ZERO, "noExpiry": True}}
)


def writes(finish: list, sent: dict, *, method: str = "tools/call") -> dict:
    """A handler that writes and finishes so, and what is sent of its result."""
    return call(S, method=method, **written(ONE, ZERO, handler=[["write", ONE], finish], hears=sent))


OWN = {"com.example/own": {"n": 2}}
case("session: stands beside the metadata of the result", "the metadata is replaced")(
    create(), writes(done(_meta=OWN), {"_meta": {**OWN, **WRITTEN["_meta"]}})
)
case("session: what was written is read within the request", "the first write stays")(
    create(),
    call(
        S,
        ["write", ONE],
        ["session"],
        ["write", {"n": 2}],
        did=["ok", {"value": ONE, "generation": 0}, "ok"],
        delivered=seen(ZERO),
        hears=meta("s", '{"n":2}', 1),
    ),
)
case("session: nothing written, the id alone goes back", "every answer has a new state")(
    create(), call(S, handler=[done()], delivered=seen(ZERO), hears={"_meta": {SESSION: ID_ALONE}})
)
case("session: a JSON-RPC error discards the write", "a write leaves with an error")(
    create(), call(S, **written(ONE, ZERO, handler=[["write", ONE], ["throw"]], answered=THREW))
)
case("session: a tool's own error keeps the write", "a write is lost")(
    create(), writes(done(isError=True), {"isError": True, **WRITTEN})
)
for name, made, fault in [
    ("half of its life over, it is renewed though nothing was written", {"age": 43200}, "it ends while it is used"),
    ("of an older key is sealed anew", {"key": "old"}, "it ends with its key"),
]:
    sealed = {"$session": {"name": "s", "payload": '{"n":3}', **made, "as": "alice"}}
    case(f"session: {name}", fault)(call(sealed, **renewed({"n": 3})))
case("session: a lifetime of its own", "the lifetime is the kind's")(
    call({"$session": {"name": "s", "payload": "1", "age": 50, "ttl": 60, "as": "alice"}}, **written(2, 1)),
    refused_session({"$session": {"payload": "1", "age": 61, "ttl": 60, "as": "alice"}}, "expired"),
    settings={"sessions": {"initial": 1, "ttl": 60}},
)
PUBLIC = {"cacheScope": "public", "ttlMs": 5}
PRIVATE = {"cacheScope": "private", "ttlMs": 0}
case("session: a result that is public becomes private", "scope left public")(
    create(),
    writes(["return", {"contents": [], **PUBLIC}], {"contents": [], **PRIVATE, **WRITTEN}, method="resources/read"),
)
case("session: a list is verified, does not show it, and its page is private", "a list depends on a session")(
    create(),
    call(
        S,
        method="tools/list",
        handler=[["session"], ["return", {"tools": [], "nextCursor": "page 2", **PUBLIC}]],
        did=[None],
        delivered={"session": None, "cursor": None},
        hears={"nextCursor": cursor_token(), **PRIVATE, **meta()},
    ),
)
case("session: a list refuses one that is not good", "a list does not look at it")(
    refused_session({"$session": {"as": "bob"}}, "principal_mismatch", method="tools/list")
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("idle for too long", "expired", {"age": 86401}),
    ("too old", "expired", {"idAge": 30 * 86400 + 1, "age": 60}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("whose id is altered", "unauthentic", {"changeId": "flip"}),
    ("whose state is altered", "unauthentic", {"changeState": "flip"}),
    ("whose state is another session's", "unauthentic", {"stateOf": "another"}),
    ("without its state", "malformed", {"without": ["state"]}),
    ("whose state is no text", "malformed", {"state": 7}),
]:
    case(f"session: {name} is refused", "a check of the seal is left out")(
        refused_session({"$session": {"as": "alice", **made}}, code)
    )
for name, value in [
    ("a text", "x"),
    ("a number", 7),
    ("an empty object", {}),
    ("an id that is no text", {"sessionId": 7}),
]:
    case(f"session: {name} is refused", "what is no session is none")(call(value, **refusal(NOT_FOUND, "malformed")))
case("session: it is refused before anything of the request is looked at", "the order of checks")(
    again(state_token(change="flip"), session={"$session": {"as": "bob"}}, **refusal(LOST, "principal_mismatch"))
)
case("session: both at once, a state and a write", "one of the two is left out")(
    create(),
    again(
        state_token(),
        session=S,
        handler=[["write", ONE], ask_back('{"asked":2}')],
        did=["ok"],
        delivered={"state": '{"asked":1}', **seen(ZERO)},
        hears={"requestState": state_token(payload='{"asked":2}'), **WRITTEN},
    ),
)
TAKES_NONE = {"code": -32602, "message": "Invalid params: sessions/create takes no session"}
case("session: sessions/create takes none", "a session begins in a session")(
    create(), event("sessions/create", params={}, session=S, **refusal(TAKES_NONE, "malformed"))
)
case("session: for nobody none begins", "whoever is nobody has a session")(
    create(who="nobody", asked=["principal"], delivered=None, **refusal(UNAUTHENTICATED, "unauthenticated"))
)
case("session: too large a first value is the author's mistake", "it is answered as a refusal")(
    create(delivered=None, **refusal(INTERNAL, "too_large")), settings={"sessions": {"initial": "x" * 4095}}
)
case("session: too large a write is the author's mistake, and discards the result", "a write is lost in silence")(
    create(), call(S, **{**written("x" * 4095, ZERO), **refusal(INTERNAL, "too_large")})
)
