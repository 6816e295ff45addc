"""Cursors in the results of tools."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case


def with_cursor(cursor: object) -> dict:
    """The arguments of a call for the next page."""
    return {"q": "milk", "cursor": cursor}


C = {"$handle": "c"}
NEXT_PAGE = with_cursor(C)
POSITION = ["position", None, {}]
NEXT = ["cursor", 20, {"as": "c"}]
FIRST, SECOND = {"position": None}, {"position": 20}


def called(*operations: list, did: list, arguments: object = {"q": "milk"}, **more: object) -> dict:
    """A call of the tool with these arguments."""
    return at_a_tool(*operations, did=did, params=params_of("tools/call", arguments), **more)


def refused(*operations: list, code: str, arguments: object = NEXT_PAGE, **more: object) -> dict:
    """A call for the next page, unless other arguments are given, whose cursor counts nothing."""
    params = params_of("tools/call", arguments)
    return refused_at_a_tool(*(operations or [POSITION]), code=code, kind="cursor", params=params, **more)


def page(payload: str = "{}\n20", *, arguments: object = None, **more: object) -> dict:
    """A cursor that the peer makes, for a call with these other arguments."""
    context = ["tools/call", "play", {"q": "milk"} if arguments is None else arguments]
    made = {"kind": "custom", "label": "sealwax/cursor/cursor", "context": context, "as": "alice", "payload": payload}
    return {"$token": {name: member for name, member in {**made, **more}.items() if member is not None}}


case("page: a cursor comes back with its position", "the cursor itself is bound, or the order of the arguments")(
    called(POSITION, NEXT, did=[FIRST, {"handle": page()}], happened=["sealed cursor new"]),
    called(POSITION, did=[SECOND], happened=["opened cursor new 0"], arguments=NEXT_PAGE),
    called(POSITION, did=[SECOND], arguments={"cursor": C, "q": "milk"}),
)
case("page: a position is any value", "it is a text")(
    called(["cursor", {"after": ["b", 2.5]}, {"as": "c"}], did=[{}]),
    called(POSITION, did=[{"position": {"after": ["b", 2.5]}}], arguments=NEXT_PAGE),
)
case("page: without other arguments there is one too", "a call without arguments has no pages")(
    called(NEXT, did=[{}], arguments=None),
    called(POSITION, did=[SECOND], arguments={"cursor": C}),
    refused(code="unauthentic"),
)
for name, value in [
    ("nothing", None),
    ("an empty text", ""),
    ("a guess", "page 2"),
    ("a number", 2),
    ("an object", {"page": 2}),
    ("the name of nothing", "null"),
]:
    case(f"page: {name} is the first one", "a model that fills in every argument sees an error")(
        called(POSITION, did=[FIRST], arguments=with_cursor(value))
    )
for name, code, made in [
    ("of another user", "principal_mismatch", {"as": "bob"}),
    ("of another search", "unauthentic", {"arguments": {"q": "bread"}}),
    ("of another tool", "unauthentic", {"context": ["tools/call", "other", {"q": "milk"}]}),
    ("of another argument", "unauthentic", {"label": "sealwax/cursor/page"}),
    ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
    ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
    ("altered", "unauthentic", {"change": "flip"}),
    ("cut", "malformed", {"change": "cut"}),
    ("that has expired", "expired", {"age": 86401}),
    ("that holds no JSON", "malformed", {"payload": "{}\nx"}),
    ("that is a list's", "wrong_purpose", {"kind": "cursor", "label": "tools/list", "context": None}),
]:
    case(f"page: one {name} is an error that the model can read", "a check of the seal is left out")(
        refused(code=code, arguments=with_cursor(page(**made)))
    )
case("page: of arguments that do not matter none is bound", "`only` does not hold for cursors")(
    called(NEXT, did=[{}], arguments={"q": "milk", "trace": 1}),
    called(POSITION, did=[SECOND], arguments={"q": "milk", "trace": 2, "cursor": C}),
    refused(code="unauthentic", arguments={"q": "bread", "cursor": C}),
    settings={"only": {"play": ["q"]}},
)
case("page: the argument has the name that the author gives it", "the name is left out")(
    called(["cursor", 20, {"as": "c", "argument": "after"}], did=[{}]),
    called(
        ["position", None, {"argument": "after"}], POSITION, did=[SECOND, FIRST], arguments={"q": "milk", "after": C}
    ),
)
case("page: of a list that changed there is none", "a position in one list is one in another")(
    called(["cursor", 20, {"as": "c", "list": "v1"}], did=[{}]),
    called(["position", None, {"list": "v1"}], did=[SECOND], arguments=NEXT_PAGE),
    refused(["position", None, {"list": "v2"}], POSITION, code="stale"),
)
case("page: it has the lifetime that it was given", "the lifetime is left out")(
    called(["cursor", 20, {"as": "c", "ttl": 60}], did=[{"handle": page(ttl=60)}]), refused(after=60, code="expired")
)
case("page: those of a user who was signed out are gone", "the ledger is not asked")(
    called(NEXT, did=[{}]), revoke(after=10), refused(after=10, code="revoked"), settings=LEDGER
)
case(
    "page: arguments that nothing can be bound to have no cursor, and the model hears why",
    "it is bound to less than the call",
)(refused(NEXT, code="invalid_request", arguments={"q": 9007199254740993}))
