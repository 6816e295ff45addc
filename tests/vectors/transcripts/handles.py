"""Handles and other tokens that a handler makes."""

from .builders import Transcripts, done, event, report

transcripts = Transcripts()
case = transcripts.case

HANDLER = {"asked": ["principal"], "delivered": {}, "answered": {"result": {}}}


def act(*operations: list, did: list, **more: object) -> dict:
    return event("tools/call", handler=[*operations, done()], did=did, **{**HANDLER, **more})


case(
    "handle: one that was minted is good",
    act(
        ["mint", "basket", {"as": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"$handle": "h"}],
    ),
    act(["check", "basket", {"$handle": "h"}], did=[{"$handle": "h"}]),
    fault="no handle is good",
)
for name, code, made in [
    ("of another user", "unauthentic", {"as": "bob"}),
    ("of another type", "wrong_purpose", {"type": "order"}),
    ("of a key that nobody has", "unauthentic", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
]:
    case(
        f"handle: {name} is refused",
        act(
            ["check", "basket", {"$handle": {"type": "basket", "as": "alice", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle"),
        ),
        fault="a check of the seal is left out",
    )
for name, value in [
    ("a number", 7),
    ("nothing", None),
    ("a guess", "basket_1"),
    ("the word of a prompt", "production"),
]:
    case(
        f"handle: {name} is refused",
        act(
            ["check", "basket", value],
            did=[{"refused": True}],
            reported=report("malformed", "handle"),
        ),
        fault="a misremembered handle hits a row",
        **({"not_": {"rust": "the argument is a text by its type"}} if not isinstance(value, str) else {}),
    )
case(
    "handle: too old is refused",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 61}}, {"maxAge": 60}],
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice", "age": 59}}, {"maxAge": 600}],
        did=[{"refused": True}, {"$handle": "_"}],
        reported=report("expired", "handle"),
    ),
    fault="the age is not compared",
)
case(
    "handle: where nobody asks, none is made",
    event(
        "demo/play",
        params={},
        who="nobody",
        asked=["principal"],
        handler=[["mint", "basket", {"as": "h"}], ["return", {"ok": True}]],
        did=[{"refused": True}],
        delivered={},
        answered={"result": {"ok": True}},
        reported=report("unauthenticated", "handle"),
    ),
    fault="whoever is nobody has handles",
)
case(
    "handle: accept is asked, and refuses",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"refused": True}],
        asked=["principal", "accept handle"],
        reported=report("not_accepted", "handle"),
    ),
    settings={"accept": "no"},
    fault="accept is not asked",
)
case(
    "handle: one that ended is refused",
    act(
        ["mint", "basket", {"as": "h"}],
        ["end", "basket", {"$handle": "h"}],
        ["check", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, "ok", {"refused": True}],
        asked=["principal", "end handle", "accept handle"],
        reported=report("not_accepted", "handle"),
    ),
    settings={"accept": "once"},
    fault="the end is forgotten",
)
case(
    "handle: ending without a memory is the author's mistake",
    act(
        ["end", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"failed": True}],
        reported=report("invalid_argument", "handle"),
    ),
    fault="an end that nothing remembers",
)
case(
    "handle: another's cannot be ended",
    act(
        ["end", "basket", {"$handle": {"type": "basket", "as": "bob"}}],
        did=[{"refused": True}],
        reported=report("unauthentic", "handle"),
    ),
    settings={"accept": "yes"},
    fault="anybody can end a handle",
)
case(
    "handle: accept that fails is the server's trouble",
    act(
        ["check", "basket", {"$handle": {"type": "basket", "as": "alice"}}],
        did=[{"failed": True}],
        asked=["principal", "accept handle"],
        reported=report("accept_unavailable", "handle"),
    ),
    settings={"accept": "fails"},
    fault="it fails open",
)
case(
    "held handle: holds its value",
    act(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["open", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, {"value": ["apple"]}],
    ),
    fault="a value is lost",
)
case(
    "held handle: the next one of a chain, and the one before",
    act(
        ["seal", "basket", ["apple"], {"as": "h"}],
        ["renew", "basket", {"$handle": "h"}, ["apple", "pear"], {"as": "i"}],
        ["open", "basket", {"$handle": "i"}],
        ["open", "basket", {"$handle": "h"}],
        did=[
            {"$handle": "h"},
            {"$handle": "i"},
            {"value": ["apple", "pear"], "generation": 1},
            {"value": ["apple"], "generation": 0},
        ],
    ),
    fault="a chain forgets where it began",
)
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another type", "unauthentic", {"type": "order"}),
    ("expired", "expired", {"age": 86401}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
]:
    case(
        f"held handle: {name} is refused",
        act(
            ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "held": "1", **made}}],
            did=[{"refused": True}],
            reported=report(code, "handle-state"),
        ),
        fault="a check of the seal is left out",
    )
case(
    "held handle: what holds no JSON is refused before accept is asked",
    act(
        ["open", "basket", {"$handle": {"type": "basket", "as": "alice", "held": "not json"}}],
        did=[{"refused": True}],
        reported=report("malformed", "handle-state"),
    ),
    settings={"accept": "yes"},
    fault="the payload is read after accept was asked",
)
case(
    "held handle: too large is the author's mistake",
    act(
        ["seal", "basket", "x" * 4095, {"as": "h"}],
        did=[{"failed": True}],
        reported=report("too_large", "handle-state"),
    ),
    fault="it is a refusal",
)
case(
    "held handle: one that ended is refused",
    act(
        ["seal", "basket", 1, {"as": "h"}],
        ["end", "basket", {"$handle": "h"}, {"held": True}],
        ["open", "basket", {"$handle": "h"}],
        did=[{"$handle": "h"}, "ok", {"refused": True}],
        asked=["principal", "end handle-state", "accept handle-state"],
        reported=report("not_accepted", "handle-state"),
    ),
    settings={"accept": "once"},
    fault="the end is forgotten",
)
