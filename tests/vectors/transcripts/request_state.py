"""requestState: sealed as it leaves, opened as it comes back."""

from .builders import (
    INTERNAL,
    INVALID_PARAMS,
    Transcripts,
    ask_back,
    complete,
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


LARGE = 'argument "id": expected numbers of magnitude below 2^53: pass a larger one as a string'
NONE_NAMED = "arguments: expected an object with at least one of the named members"


def unbound(why: str) -> dict:
    """What comes of a call to which no state can be bound: the model hears why."""
    content = [{"type": "text", "text": f"Invalid arguments. {why}"}]
    return {
        "asked": ["principal"],
        "answered": {"result": {"isError": True, "content": content}},
        "reported": report("invalid_request", "request-state"),
    }


DELIVERED = {
    "asked": ["principal"],
    "handler": [done()],
    "delivered": {"state": None},
    "answered": {"result": {"content": [{"type": "text", "text": "done"}], "$absent": ["isError"]}},
}
ASKS = {"handler": [ask_back('{"asked":1}')], "delivered": {"state": None}}


for method in ("tools/call", "prompts/get", "resources/read"):
    finish, answer = complete(method)
    case(
        f"requestState: {method}: what is asked back leaves sealed",
        event(
            method,
            asked=["principal"],
            handler=[ask_back('{"asked":1}')],
            delivered={"state": None},
            answered={"result": {"resultType": "input_required", "requestState": state_token(method)}},
        ),
        fault="a state leaves as it is",
    )
    case(
        f"requestState: {method}: what comes back is opened for the handler",
        event(
            method,
            params=params_of(method, requestState=state_token(method)),
            asked=["principal"],
            handler=[["state"], finish],
            did=['{"asked":1}'],
            delivered={"state": '{"asked":1}'},
            answered=answer,
        ),
        fault="a handler sees no state",
    )
    for name, code, change in [
        ("of another user", "principal_mismatch", {"as": "bob"}),
        ("of nobody", "principal_mismatch", {"as": "anonymous"}),
        ("of another target", "unauthentic", {"context": [method, "other", None]}),
        ("of another service", "unauthentic", {"audience": "https://other.example.com"}),
        ("expired", "expired", {"age": 601}),
        ("from the future", "not_yet_valid", {"age": -400}),
        ("of a key that nobody has", "unknown_key", {"key": "unknown"}),
        ("altered", "unauthentic", {"change": "flip"}),
        ("spelled otherwise", "malformed", {"change": "pad"}),
    ]:
        case(
            f"requestState: {method}: {name} is refused",
            event(
                method,
                params=params_of(method, requestState=state_token(method, **change)),
                **refused_state(reported=report(code, "request-state")),
            ),
            fault="a check of the seal is left out",
        )

case(
    "requestState: of other arguments is refused",
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 8}, "requestState": state_token()},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="the arguments are not bound",
)
case(
    "requestState: of other arguments, that are absent, is refused",
    event(
        "tools/call",
        params={"name": "play", "requestState": state_token()},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="absent arguments are the same as any",
)
case(
    "requestState: of another method is refused",
    event(
        "prompts/get",
        params={"name": "play", "requestState": state_token("tools/call", context=["tools/call", "play", None])},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    fault="the method is not bound",
)
case(
    "requestState: a cursor is none",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=cursor_token()),
        **refused_state(reported=report("wrong_purpose", "request-state")),
    ),
    fault="the kind is not compared",
)
for name, value in [("a number", 7), ("true", True), ("a list", ["x"]), ("an object", {"x": 1})]:
    case(
        f"requestState: {name} is refused",
        event(
            "tools/call",
            params=params_of("tools/call", requestState=value),
            **refused_state(reported=report("malformed", "request-state")),
        ),
        fault="what is no text passes",
        not_={"go": "the SDK's types refuse it before the guard: TestWhatTheSDKRefusesByItself"},
    )
case(
    "requestState: an empty text is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=""),
        **refused_state(reported=report("malformed", "request-state")),
    ),
    fault="an empty state is none",
    not_={"go": "the SDK cannot tell an empty text from none: TestWhatTheSDKRefusesByItself"},
)
case(
    "requestState: what is too large is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(change="double", payload="x" * 4000)),
        **refused_state(reported=report("too_large", "request-state")),
    ),
    fault="the limit is not held",
)
case(
    "requestState: plain JSON, as a forger writes it, is refused",
    event(
        "tools/call",
        params=params_of("tools/call", requestState='{"asked":1}'),
        **refused_state(reported=report("malformed", "request-state")),
    ),
    fault="what a client wrote reaches the handler",
)
case(
    "requestState: null is absent",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=None),
        asked=["principal"],
        handler=[["state"], done()],
        did=[None],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    fault="null is refused",
)
case(
    "requestState: the name of the member in another language's manner is none",
    event(
        "tools/call",
        params=params_of("tools/call", request_state='{"asked":1}'),
        asked=["principal"],
        handler=[["state"], done()],
        did=[None],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    fault="an alias reaches the handler",
    not_={"python": "the SDK knows it by that name, so it is refused there: test_hooks.py"},
)
case(
    "requestState: of an older key opens, and what leaves has the newest",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(key="old")),
        asked=["principal"],
        handler=[["state"], ask_back('{"asked":2}')],
        did=['{"asked":1}'],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"requestState": state_token(payload='{"asked":2}', key="new")}},
    ),
    fault="the ring is not tried",
)
case(
    "requestState: lives as long as the settings say",
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(age=700, ttl=900)),
        asked=["principal"],
        handler=[ask_back('{"asked":2}')],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"requestState": state_token(payload='{"asked":2}', ttl=900)}},
    ),
    settings={"requestStateTtl": 900},
    fault="the lifetime is not given to what leaves",
)
case(
    "requestState: only the named arguments count",
    event(
        "tools/call",
        params={
            "name": "play",
            "arguments": {"id": 7, "trace": "b"},
            "requestState": state_token(context=["tools/call", "play", {"id": 7}]),
        },
        asked=["principal"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    settings={"only": {"play": ["id"]}},
    fault="all arguments count",
)
case(
    "requestState: only the named arguments count, of several tools of each its own",
    event(
        "tools/call",
        params={
            "name": "play",
            "arguments": {"id": 7, "trace": "b"},
            "requestState": state_token(context=["tools/call", "play", {"id": 7}]),
        },
        asked=["principal"],
        handler=[done()],
        delivered={"state": '{"asked":1}'},
        answered={"result": {}},
    ),
    settings={"only": {"first": ["trace"], "play": ["id"], "third": ["trace"]}},
    fault="the settings of one tool take the place of another's",
)
case(
    "requestState: a named argument that differs is refused",
    event(
        "tools/call",
        params={
            "name": "play",
            "arguments": {"id": 8, "trace": "a"},
            "requestState": state_token(context=["tools/call", "play", {"id": 7}]),
        },
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    settings={"only": {"play": ["id"]}},
    fault="no argument counts",
)
case(
    "requestState: without any named argument no state can be sealed or opened",
    event("tools/call", params={"name": "play"}, **DELIVERED),
    event("tools/call", params={"name": "play", "arguments": {"other": 1}}, **{**unbound(NONE_NAMED), **ASKS}),
    event("tools/call", params={"name": "play", "requestState": state_token()}, **unbound(NONE_NAMED)),
    event(
        "prompts/get",
        params={"name": "play", "requestState": state_token("prompts/get")},
        asked=["principal"],
        answered={"error": INVALID_PARAMS},
        reported=report("invalid_request", "request-state"),
    ),
    settings={"only": {"play": ["id"]}},
    fault="a misspelt name binds to nothing",
)
for name, arguments in [
    ("an integer of 2^53 or more", {"id": 2**53}),
    ("a large integer", {"a": 1, "id": {"of": [2**60]}}),
    ("a large negative integer", {"id": [-(2**53)]}),
    ("a large number", {"id": 6.02214076e23}),
]:
    params = {"name": "play", "arguments": arguments}
    case(
        f"requestState: {name} is delivered, and only a state is not bound to it",
        event("tools/call", params=params, **DELIVERED),
        event("tools/call", params=params, **{**unbound(LARGE), **ASKS}),
        event("tools/call", params={**params, "requestState": state_token()}, **unbound(LARGE)),
        fault="every tool is refused for what it never binds",
    )
NO_ARGUMENTS = state_token(context=["tools/call", "play", None])
for name, arguments in [("no arguments", {}), ("empty arguments", {"arguments": {}})]:
    case(
        f"requestState: {name} are the call without any",
        event(
            "tools/call",
            params={"name": "play", **arguments},
            asked=["principal"],
            handler=[ask_back('{"asked":1}')],
            delivered={"state": None},
            answered={"result": {"requestState": NO_ARGUMENTS}},
        ),
        event(
            "tools/call",
            params={"name": "play", **arguments, "requestState": NO_ARGUMENTS},
            asked=["principal"],
            handler=[done()],
            delivered={"state": '{"asked":1}'},
            answered={"result": {}},
        ),
        fault="what a gateway adds or leaves out makes another call",
    )
case(
    "requestState: what cannot be bound does not matter beside the named arguments",
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 7, "trace": 2**60}},
        asked=["principal"],
        handler=[ask_back({"$state": {"asked": 1}})],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(context=["tools/call", "play", {"id": 7}])}},
    ),
    settings={"only": {"play": ["id"]}},
    fault="all arguments count",
)
case(
    "requestState: arguments of a resource are not bound",
    event(
        "resources/read",
        params={"uri": "demo://play", "arguments": {"id": 9}, "requestState": state_token("resources/read")},
        asked=["principal"],
        handler=[["return", {"contents": []}]],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"contents": []}},
    ),
    fault="extra arguments of resources/read are bound",
)
case(
    "requestState: what an author gets for a state is the token that leaves",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back({"$state": {"asked": 1}})],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(name="got")}},
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState={"$token": "got"}),
        asked=["principal"],
        handler=[["state"], ask_back({"$state": {"asked": 2}})],
        did=['{"asked":1}'],
        delivered={"state": '{"asked":1}'},
        answered={"result": {"requestState": state_token(payload='{"asked":2}')}},
    ),
    fault="it is sealed twice",
)
case(
    "requestState: what an author gets for a state shows nothing at any other place",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["return", {"content": [{"type": "text", "text": {"$state": {"asked": 1}}}]}]],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": state_token()}]}},
    ),
    fault="an author holds the plaintext",
)
case(
    "requestState: what an author gets for a state belongs to this request",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back({"$state": {"asked": 1}})],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(name="got")}},
    ),
    event(
        "tools/call",
        params={"name": "play", "arguments": {"id": 8}, "requestState": {"$token": "got"}},
        **refused_state(reported=report("unauthentic", "request-state")),
    ),
    event(
        "tools/call",
        who="bob",
        params=params_of("tools/call", requestState={"$token": "got"}),
        **refused_state(reported=report("principal_mismatch", "request-state")),
    ),
    fault="the binding of the request is left out",
)
for name, state in [("a state", {"$state": {"asked": 1}}), ("a text of its own", "the tool's own")]:
    case(
        f"requestState: a complete result with {name} does not leave",
        event(
            "tools/call",
            asked=["principal"],
            handler=[done(requestState=state)],
            delivered={"state": None},
            answered={"error": INTERNAL},
            reported=report("invalid_argument", "request-state"),
        ),
        fault="a state leaves in plaintext",
        not_={
            "rust": "rmcp's complete results have no such member",
            "python": "the SDK's complete results have none; what a middleware answers has: test_servers.py",
        },
    )
case(
    "requestState: a complete result whose member of that name is null has none",
    event(
        "tools/call",
        asked=["principal"],
        handler=[done(requestState=None)],
        delivered={"state": None},
        answered={"result": {"content": [{"type": "text", "text": "done"}]}},
    ),
    fault="null is a state",
    not_={
        "rust": "rmcp's complete results have no such member",
        "python": "the SDK's complete results have none; what a middleware answers has: test_servers.py",
    },
)
case(
    "requestState: what is too large to seal is the server's trouble",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back("x" * 4097)],
        delivered={"state": None},
        answered={"error": INTERNAL},
        reported=report("too_large", "request-state"),
    ),
    fault="it is answered as a refusal",
)
case(
    "requestState: a state that is empty is one",
    event(
        "tools/call",
        asked=["principal"],
        handler=[ask_back("")],
        delivered={"state": None},
        answered={"result": {"requestState": state_token(payload="")}},
    ),
    event(
        "tools/call",
        params=params_of("tools/call", requestState=state_token(payload="")),
        asked=["principal"],
        handler=[["state"], done()],
        did=[""],
        delivered={"state": ""},
        answered={"result": {}},
    ),
    fault="an empty state is taken for none",
    not_={
        "rust": "State is JSON of a type, and an empty text is none: request_state.rs",
        "go": "the SDK cannot tell an empty text from none",
    },
)
case(
    "requestState: asking back without a state leaves none",
    event(
        "tools/call",
        asked=["principal"],
        handler=[["return", {"resultType": "input_required", "inputRequests": {}}]],
        delivered={"state": None},
        answered={"result": {"resultType": "input_required", "$absent": ["requestState"]}},
    ),
    fault="a state is made up",
    not_={"typescript": "the SDK refuses a handler's result that asks for nothing and has no state"},
)
