"""Data-layer sessions: read, written, renewed and refused."""

from .builders import (
    INTERNAL,
    NOT_FOUND,
    SESSION,
    SESSIONS,
    UNAUTHENTICATED,
    Transcripts,
    ask_back,
    call,
    create,
    cursor_token,
    done,
    event,
    meta,
    params_of,
    refused_session,
    report,
    state_token,
)

transcripts = Transcripts()
case = transcripts.case

case("session: begins with what the author gives", create(), settings=SESSIONS, fault="nothing is sealed")
NAMES_IT = {
    "handler": [["sessionId"], done()],
    "delivered": {"session": {"value": {"n": 0}, "generation": 0}},
    "answered": {"result": {"content": [{"type": "text", "text": "done"}]}},
}
case(
    "session: a handler knows it by an id",
    create(),
    call({"$session": "s"}, **NAMES_IT, did=[{"$id": "one"}]),
    call({"$session": "s"}, **NAMES_IT, did=[{"$id": "one"}]),
    create(name="other"),
    call({"$session": "other"}, **NAMES_IT, did=[{"$id": "another"}]),
    settings=SESSIONS,
    fault="the id is another one for each request, or the same for two sessions",
)
case(
    "session: is read, written, and read again",
    create(),
    call(
        {"$session": "s"},
        handler=[["session"], ["write", {"n": 1}], done()],
        did=[{"value": {"n": 0}, "generation": 0}, "ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":1}', generation=1)},
    ),
    call(
        {"$session": "s"},
        handler=[["session"], done()],
        did=[{"value": {"n": 1}, "generation": 1}],
        delivered={"session": {"value": {"n": 1}, "generation": 1}},
        answered={"result": meta(name="s")},
    ),
    settings=SESSIONS,
    fault="what was written is lost",
)
for named, members, after in [
    ("a day", {}, 86_400),
    ("a minute", {"ttl": 60}, 60),
    ("25 hours", {"ttl": 90_000}, 90_000),
    ("without end", {"noExpiry": True}, None),
]:
    # What comes back late is sealed again.
    again = {"payload": '{"n":0}', "generation": 1} if after else {}
    case(
        f"session: lives {named}",
        create(),
        call(
            {"$session": "s"},
            after=(after or 100_000) - 1,
            handler=[done()],
            delivered={"session": {"value": {"n": 0}, "generation": 0}},
            answered={"result": meta(name="s", **again)},
        ),
        *([refused_session({"$session": "s"}, "expired", after=after)] if after else []),
        settings={"sessions": {**SESSIONS["sessions"], **members}},
        fault="another lifetime",
    )
case(
    "session: stands beside the metadata of the result",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], done(_meta={"com.example/own": {"n": 2}})],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={
            "result": {
                "_meta": {
                    "com.example/own": {"n": 2},
                    **meta(name="s", payload='{"n":1}', generation=1)["_meta"],
                }
            }
        },
    ),
    settings=SESSIONS,
    fault="the metadata is replaced",
)
case(
    "session: what was written is read within the request",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], ["session"], ["write", {"n": 2}], done()],
        did=["ok", {"value": {"n": 1}, "generation": 0}, "ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":2}', generation=1)},
    ),
    settings=SESSIONS,
    fault="the first write stays",
)
case(
    "session: nothing written, the id alone goes back",
    create(),
    call(
        {"$session": "s"},
        handler=[done()],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {"_meta": {SESSION: {"$session": "s", "$absent": ["state"]}}}},
    ),
    settings=SESSIONS,
    fault="every answer has a new state",
)
case(
    "session: a JSON-RPC error discards the write",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], ["throw"]],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"error": {"code": -32000, "message": "the handler's own"}},
    ),
    settings=SESSIONS,
    fault="a write leaves with an error",
)
case(
    "session: a tool's own error keeps the write",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", {"n": 1}], done(isError=True)],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"result": {"isError": True, **meta(name="s", payload='{"n":1}', generation=1)}},
    ),
    settings=SESSIONS,
    fault="a write is lost",
)
case(
    "session: half of its life over, it is renewed though nothing was written",
    call(
        {"$session": {"name": "s", "payload": '{"n":3}', "age": 43200, "as": "alice"}},
        handler=[done()],
        delivered={"session": {"value": {"n": 3}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":3}', generation=1)},
    ),
    settings=SESSIONS,
    fault="it ends while it is used",
)
case(
    "session: of an older key is sealed anew",
    call(
        {"$session": {"name": "s", "payload": '{"n":3}', "key": "old", "as": "alice"}},
        handler=[done()],
        delivered={"session": {"value": {"n": 3}, "generation": 0}},
        answered={"result": meta(name="s", payload='{"n":3}', generation=1)},
    ),
    settings=SESSIONS,
    fault="it ends with its key",
)
case(
    "session: a lifetime of its own",
    call(
        {"$session": {"name": "s", "payload": "1", "age": 50, "ttl": 60, "as": "alice"}},
        handler=[["write", 2], done()],
        did=["ok"],
        delivered={"session": {"value": 1, "generation": 0}},
        answered={"result": meta(name="s", payload="2", generation=1)},
    ),
    call(
        {"$session": {"payload": "1", "age": 61, "ttl": 60, "as": "alice"}},
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("expired", "session"),
    ),
    settings={"sessions": {"initial": 1, "ttl": 60}},
    fault="the lifetime is the kind's",
)
case(
    "session: a result that is public becomes private",
    create(),
    event(
        "resources/read",
        session={"$session": "s"},
        asked=["principal"],
        handler=[["write", {"n": 1}], ["return", {"contents": [], "cacheScope": "public", "ttlMs": 5}]],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={
            "result": {
                "contents": [],
                "cacheScope": "private",
                "ttlMs": 0,
                **meta(name="s", payload='{"n":1}', generation=1),
            }
        },
    ),
    settings=SESSIONS,
    fault="scope left public",
)
case(
    "session: a list is verified, does not show it, and its page is private",
    create(),
    event(
        "tools/list",
        params={},
        session={"$session": "s"},
        asked=["principal"],
        handler=[
            ["session"],
            ["return", {"tools": [], "nextCursor": "page 2", "cacheScope": "public", "ttlMs": 5}],
        ],
        did=[None],
        delivered={"session": None, "cursor": None},
        answered={
            "result": {
                "nextCursor": cursor_token(),
                "cacheScope": "private",
                "ttlMs": 0,
                **meta(name="s"),
            }
        },
    ),
    settings=SESSIONS,
    fault="a list depends on a session",
)
case(
    "session: a list refuses one that is not good",
    refused_session({"$session": {"as": "bob"}}, "principal_mismatch", method="tools/list"),
    settings=SESSIONS,
    fault="a list does not look at it",
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
    case(
        f"session: {name} is refused",
        refused_session({"$session": {"as": "alice", **made}}, code),
        settings=SESSIONS,
        fault="a check of the seal is left out",
    )
for name, value in [
    ("a text", "x"),
    ("a number", 7),
    ("an empty object", {}),
    ("an id that is no text", {"sessionId": 7}),
]:
    case(
        f"session: {name} is refused",
        call(
            value,
            answered={"error": NOT_FOUND},
            reported=report("malformed", "session"),
        ),
        settings=SESSIONS,
        fault="what is no session is none",
    )
case(
    "session: it is refused before anything of the request is looked at",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(change="flip")),
        session={"$session": {"as": "bob"}},
        asked=["principal"],
        answered={"error": {**NOT_FOUND, "data": {"sessionId": "$echo"}}},
        reported=report("principal_mismatch", "session"),
    ),
    settings=SESSIONS,
    fault="the order of checks",
)
case(
    "session: both at once, a state and a write",
    create(),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token()),
        session={"$session": "s"},
        asked=["principal"],
        handler=[["write", {"n": 1}], ask_back('{"asked":2}')],
        did=["ok"],
        delivered={"state": '{"asked":1}', "session": {"value": {"n": 0}, "generation": 0}},
        answered={
            "result": {
                "requestState": state_token(payload='{"asked":2}'),
                **meta(name="s", payload='{"n":1}', generation=1),
            }
        },
    ),
    settings=SESSIONS,
    fault="one of the two is left out",
)
case(
    "session: sessions/create takes none",
    create(),
    event(
        "sessions/create",
        params={},
        session={"$session": "s"},
        answered={"error": {"code": -32602, "message": "Invalid params: sessions/create takes no session"}},
        reported=report("malformed", "session"),
    ),
    settings=SESSIONS,
    fault="a session begins in a session",
)
case(
    "session: for nobody none begins",
    create(
        who="nobody",
        asked=["principal"],
        delivered=None,
        answered={"error": UNAUTHENTICATED},
        reported=report("unauthenticated", "session"),
    ),
    settings=SESSIONS,
    fault="whoever is nobody has a session",
)
case(
    "session: too large a first value is the author's mistake",
    create(delivered=None, answered={"error": INTERNAL}, reported=report("too_large", "session")),
    settings={"sessions": {"initial": "x" * 4095}},
    fault="it is answered as a refusal",
)
case(
    "session: too large a write is the author's mistake, and discards the result",
    create(),
    call(
        {"$session": "s"},
        handler=[["write", "x" * 4095], done()],
        did=["ok"],
        delivered={"session": {"value": {"n": 0}, "generation": 0}},
        answered={"error": INTERNAL},
        reported=report("too_large", "session"),
    ),
    settings=SESSIONS,
    fault="a write is lost in silence",
)
