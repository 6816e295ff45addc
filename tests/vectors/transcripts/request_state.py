"""requestState: sealed as it leaves, opened as it comes back."""

from .builders import *

transcripts = Transcripts()
case = transcripts.case

ASKED = '{"asked":1}'
LARGE = 'argument "id": expected numbers of magnitude below 2^53: pass a larger one as a string'
NONE_NAMED = "arguments: expected an object with at least one of the named members"
ONLY = {"only": {"play": ["id"]}}
BY_ITS_TYPES = "the SDK's types refuse it before the guard: TestWhatTheSDKRefusesByItself"
NO_SUCH_MEMBER = {
    "rust": "rmcp's complete results have no such member",
    "python": "the SDK's complete results have none; what a middleware answers has: test_servers.py",
}
#: What comes of a call that binds nothing.
DELIVERED = runs(sent={**DONE, "$absent": ["isError"]})


def unbound(why: str, **handler: object) -> dict:
    """What comes of a call to which no state can be bound: the model hears why."""
    content = [{"type": "text", "text": f"Invalid arguments. {why}"}]
    heard = {"answered": {"result": {"isError": True, "content": content}}}
    return {"asked": ["principal"], **heard, "reported": report("invalid_request", "request-state"), **handler}


for method, result in [("tools/call", DONE), ("prompts/get", {"messages": []}), ("resources/read", {"contents": []})]:
    sealed = state_token(method)
    case(f"requestState: {method}: what is asked back leaves sealed", "a state leaves as it is")(
        call(method=method, **asks_back(ASKED, resultType="input_required", requestState=sealed))
    )
    case(f"requestState: {method}: what comes back is opened for the handler", "a handler sees no state")(
        again(sealed, method=method, **reads(ASKED, {**result, "$absent": ["requestState"]}, returned=result))
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
        case(f"requestState: {method}: {name} is refused", "a check of the seal is left out")(
            refused_again(state_token(method, **change), code, method=method)
        )

case("requestState: of other arguments is refused", "the arguments are not bound")(
    refused_again(state_token(), "unauthentic", arguments={"id": 8})
)
case("requestState: of other arguments, that are absent, is refused", "absent arguments are the same as any")(
    refused_again(state_token(), "unauthentic", arguments=None)
)
case("requestState: of another method is refused", "the method is not bound")(
    refused_again(state_token(context=["tools/call", "play", None]), "unauthentic", method="prompts/get")
)
case("requestState: a cursor is none", "the kind is not compared")(refused_again(cursor_token(), "wrong_purpose"))
for name, value in [("a number", 7), ("true", True), ("a list", ["x"]), ("an object", {"x": 1})]:
    case(f"requestState: {name} is refused", "what is no text passes")(
        refused_again(value, "malformed"), not_={"go": BY_ITS_TYPES}
    )
case("requestState: an empty text is refused", "an empty state is none")(
    refused_again("", "malformed"),
    not_={"go": "the SDK cannot tell an empty text from none: TestWhatTheSDKRefusesByItself"},
)
case("requestState: what is too large is refused", "the limit is not held")(
    refused_again(state_token(change="double", payload="x" * 4000), "too_large")
)
case("requestState: plain JSON, as a forger writes it, is refused", "what a client wrote reaches the handler")(
    refused_again(ASKED, "malformed")
)
PUBLIC = {"cacheScope": "public", "ttlMs": 5}
case(
    "requestState: of a result that is public it is its user's all the same", "it is sealed as a public page's cursor"
)(
    call(
        method="resources/read",
        handler=[ask_back(ASKED, **PUBLIC)],
        delivered={"state": None},
        hears={"requestState": state_token("resources/read", name="got")},
    ),
    refused_again({"$token": "got"}, "principal_mismatch", method="resources/read", who="bob"),
    again({"$token": "got"}, method="resources/read", **gives({"contents": []}, state=ASKED)),
)
case("requestState: null is absent", "null is refused")(again(None, **reads(None)))
case("requestState: the name of the member in another language's manner is none", "an alias reaches the handler")(
    call(params=params_of("tools/call", request_state=ASKED), **reads(None)),
    not_={"python": "the SDK knows it by that name, so it is refused there: test_hooks.py"},
)
case("requestState: of an older key opens, and what leaves has the newest", "the ring is not tried")(
    again(
        state_token(key="old"),
        handler=[["state"], ask_back('{"asked":2}')],
        did=[ASKED],
        delivered={"state": ASKED},
        hears={"requestState": state_token(payload='{"asked":2}', key="new")},
    )
)
case("requestState: lives as long as the settings say", "the lifetime is not given to what leaves")(
    again(
        state_token(age=700, ttl=900),
        **asks_back('{"asked":2}', given=ASKED, requestState=state_token(payload='{"asked":2}', ttl=900)),
    ),
    settings={"requestStateTtl": 900},
)
ALSO_TRACED = again(state_token(), arguments={"id": 7, "trace": "b"}, **runs(ASKED, {}))
case("requestState: only the named arguments count", "all arguments count")(ALSO_TRACED, settings=ONLY)
case(
    "requestState: only the named arguments count, of several tools of each its own",
    "the settings of one tool take the place of another's",
)(ALSO_TRACED, settings={"only": {"first": ["trace"], "play": ["id"], "third": ["trace"]}})
case("requestState: a named argument that differs is refused", "no argument counts")(
    refused_again(state_token(), "unauthentic", arguments={"id": 8, "trace": "a"}), settings=ONLY
)
case("requestState: without any named argument no state can be sealed or opened", "a misspelt name binds to nothing")(
    call(params={"name": "play"}, **DELIVERED),
    call(params=params_of("tools/call", {"other": 1}), **unbound(NONE_NAMED, **asks_back(ASKED))),
    again(state_token(), arguments=None, **unbound(NONE_NAMED)),
    again(
        state_token("prompts/get"), method="prompts/get", **refusal(INVALID_PARAMS, "invalid_request", "request-state")
    ),
    settings=ONLY,
)
for name, arguments in [
    ("an integer of 2^53 or more", {"id": 2**53}),
    ("a large integer", {"a": 1, "id": {"of": [2**60]}}),
    ("a large negative integer", {"id": [-(2**53)]}),
    ("a large number", {"id": 6.02214076e23}),
]:
    case(
        f"requestState: {name} is delivered, and only a state is not bound to it",
        "every tool is refused for what it never binds",
    )(
        call(params=params_of("tools/call", arguments), **DELIVERED),
        call(params=params_of("tools/call", arguments), **unbound(LARGE, **asks_back(ASKED))),
        again(state_token(), arguments=arguments, **unbound(LARGE)),
    )
NO_ARGUMENTS = state_token(context=["tools/call", "play", None])
for name, arguments in [("no arguments", None), ("empty arguments", {})]:
    case(f"requestState: {name} are the call without any", "what a gateway adds or leaves out makes another call")(
        call(params=params_of("tools/call", arguments), **asks_back(ASKED, requestState=NO_ARGUMENTS)),
        again(NO_ARGUMENTS, arguments=arguments, **runs(ASKED, {})),
    )
case("requestState: what cannot be bound does not matter beside the named arguments", "all arguments count")(
    call(
        params=params_of("tools/call", {"id": 7, "trace": 2**60}),
        **asks_back({"$state": {"asked": 1}}, requestState=state_token()),
    ),
    settings=ONLY,
)
case("requestState: arguments of a resource are not bound", "extra arguments of resources/read are bound")(
    call(
        method="resources/read",
        params={"uri": "demo://play", "arguments": {"id": 9}, "requestState": state_token("resources/read")},
        **gives({"contents": []}, state=ASKED),
    )
)
GOT = {"$token": "got"}
MADE = call(**asks_back({"$state": {"asked": 1}}, requestState=state_token(name="got")))
case("requestState: what an author gets for a state is the token that leaves", "it is sealed twice")(
    MADE,
    again(
        GOT,
        handler=[["state"], ask_back({"$state": {"asked": 2}})],
        did=[ASKED],
        delivered={"state": ASKED},
        hears={"requestState": state_token(payload='{"asked":2}')},
    ),
)
case("requestState: what an author gets for a state shows nothing at any other place", "an author holds the plaintext")(
    call(
        handler=[done({"$state": {"asked": 1}})],
        delivered={"state": None},
        hears={"content": [{"type": "text", "text": state_token()}]},
    )
)
case("requestState: what an author gets for a state belongs to this request", "the binding of the request is left out")(
    MADE, refused_again(GOT, "unauthentic", arguments={"id": 8}), refused_again(GOT, "principal_mismatch", who="bob")
)
for name, state in [("a state", {"$state": {"asked": 1}}), ("a text of its own", "the tool's own")]:
    case(f"requestState: a complete result with {name} does not leave", "a state leaves in plaintext")(
        call(
            handler=[done(requestState=state)],
            delivered={"state": None},
            **refusal(INTERNAL, "invalid_argument", "request-state"),
        ),
        not_=NO_SUCH_MEMBER,
    )
case("requestState: a complete result whose member of that name is null has none", "null is a state")(
    call(**runs(returned={**DONE, "requestState": None})), not_=NO_SUCH_MEMBER
)
case("requestState: what is too large to seal is the server's trouble", "it is answered as a refusal")(
    call(**asks_back("x" * 4097), **refusal(INTERNAL, "too_large", "request-state"))
)
case("requestState: a state that is empty is one", "an empty state is taken for none")(
    call(**asks_back("", requestState=state_token(payload=""))),
    again(state_token(payload=""), **reads("", {})),
    not_={
        "rust": "State is JSON of a type, and an empty text is none: request_state.rs",
        "go": "the SDK cannot tell an empty text from none",
    },
)
case("requestState: asking back without a state leaves none", "a state is made up")(
    call(
        handler=[["return", {"resultType": "input_required", "inputRequests": {}}]],
        delivered={"state": None},
        hears={"resultType": "input_required", "$absent": ["requestState"]},
    ),
    not_={"typescript": "the SDK refuses a handler's result that asks for nothing and has no state"},
)
