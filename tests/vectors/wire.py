"""Writes wire.json: what comes in on HTTP and stdio, byte by byte, and what goes out (mcp/src/wire).

Usage: python3 tests/vectors/wire.py [--check]

`http` is a request: its method, headers and body. `asks` is what the engine asks, in order. Then one of: `delivers`, with the `body`
for the SDK if it is another one; `replies`, with status and body; `drops`. `answer` is what the SDK answers, cut anywhere, and
`leaves` what the client gets. `lines` is what passes on one connection of stdio: "in" and "out" at the client, "to" and "from" the
SDK; "of" is as "from", and belongs to the request whose id comes first; "broke" is why the SDK cannot read what it got.

In all texts {t} and {u} stand for sessions of the same user, {bad} for one that was altered, {new} for a session that begins, {id} for the id of an
`initialize` of the engine's. A body that is no UTF-8 is {"hex": "…"}. `logged` is the code of the line in the log.
"""

import json
import pathlib
import sys

FILE = pathlib.Path(__file__).with_name("wire.json")
CASES: list[dict] = []

MODERN, LEGACY = "2026-07-28", "2025-11-25"
CLAIM = '"_meta":{"io.modelcontextprotocol/protocolVersion":"%s"}'
PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'
DONE = '{"jsonrpc":"2.0","id":7,"result":{"ok":1e400}}'
PARSE = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}'
SEP = {"transport": {"sep1359": True, "ttl": 600}}
INITIALIZE = (
    '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",'
    '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}'
)
BEGUN = '{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"n":9007199254740993}}'
WITH_ID = BEGUN.replace('"result":{', '"result":{"sessionTimeout":600,"sessionId":"{new}",')


def invalid(number: str = "null") -> str:
    return '{"jsonrpc":"2.0","id":' + number + ',"error":{"code":-32600,"message":"Invalid Request"}}'


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def claims(revision: str) -> str:
    """Return a request that names a revision."""
    return PING.replace("}", ',"params":{' + CLAIM.replace("%s", revision) + "}}")


def post(name: str, body: object, *, session: str | None = "{t}", settings: dict | None = None, **more: object) -> None:
    head = {name: more.pop(name) for name in ("version", "encoding", "method") if name in more}
    http = {"method": "POST", **head, "body": body}
    if session is not None:
        http["session"] = session
    CASES.append({"name": name, "settings": settings or {}, "http": http, **more})


def passes(name: str, body: str, *, to: str | None = None, **more: object) -> None:
    asks = [] if more.get("session", "") is None else ["principal"]
    post(name, body, **{"asks": asks, **more}, delivers={} if to is None else {"body": to})


def unread(name: str, body: object, told: str, **more: object) -> None:
    post(name, body, replies={"status": 400, "body": told}, logged="malformed", **more)


def lines(name: str, *passed: list, settings: dict = SEP, **more: object) -> None:
    CASES.append({"name": name, "settings": settings, "lines": list(passed), **more})


# ---- what is a message ----

passes(
    "http: a request keeps its bytes",
    ' {"id" : 7,"jsonrpc":"2.0", "method":"ping","params":{"n":1e400,"s":"\\ud83d"}}\n',
)
passes("http: a notification", '{"jsonrpc":"2.0","method":"notifications/demo"}')
passes("http: a client's answer, whatever its id is", '{"jsonrpc":"2.0","id":null,"result":{}}')
passes("http: a batch of an old revision", f"[{PING},{PING}]")
passes("http: an id of many digits", PING.replace("7", "9007199254740991"))
passes("http: an id below zero", PING.replace("7", "-7"))
passes("http: 128 levels", '{"id":7,"method":"ping","params":' + deep(127) + "}")
for name, body in {
    "nothing": "",
    "white space": " \n",
    "a text that is no JSON": "{",
    "a byte order mark": "\ufeff" + PING,
    "two messages": PING + PING,
    "a comma too many": PING.replace("}", ",}"),
    "bytes that are no UTF-8": {"hex": PING.replace("ping", "p@ng").encode().hex().replace("40", "ff")},
    "a number with a zero before it": PING.replace("7", "07"),
    "a batch that does not end": f"[{PING}",
}.items():
    unread(f"http: {name} is no message", body, PARSE)
for name, body in {
    "a text": '"ping"',
    "null": "null",
    "an id that is null": PING.replace("7", "null"),
    "an id that is true": PING.replace("7", "true"),
    "an id that is zero below zero": PING.replace("7", "-0"),
    "an id with a fraction": PING.replace("7", "1.5"),
    "an id with an exponent": PING.replace("7", "1e2"),
    "an id that readers round": PING.replace("7", "9007199254740992"),
    "an id that is an object": PING.replace("7", "{}"),
    "an id that is half an emoji": PING.replace("7", '"\\ud83d"'),
    "a method that is no text": PING.replace('"ping"', "7"),
    "a method that is half an emoji": PING.replace("ping", "\\ud83d"),
    "a member twice": PING.replace("}", ',"method":"tools/list"}'),
    "a member twice, once with an escape": PING.replace("}", ',"m\\u0065thod":"tools/list"}'),
    "another spelling of a member": PING.replace("}", ',"Method":"tools/list"}'),
    "another spelling of the session": PING.replace("}", ',"session_id":"x"}'),
    "params twice": PING.replace("}", ',"params":{},"params":{}}'),
    "a tool's name twice": '{"id":7,"method":"tools/call","params":{"name":"a","name":"b"}}',
    "another spelling of a token": '{"id":7,"method":"tools/call","params":{"name":"a","request-state":"x"}}',
    "another spelling of a cursor": '{"id":7,"method":"tools/list","params":{"Cursor":"x"}}',
    "a revision twice": claims(LEGACY).replace('25"', '25",' + (CLAIM % LEGACY)[9:-1]),
    "129 levels": '{"id":7,"method":"ping","params":' + deep(128) + "}",
    "an empty batch": "[]",
    "a batch of what is no message": "[7]",
    "a batch with a member twice": "[" + PING.replace("}", ',"id":8}') + "]",
}.items():
    unread(f"http: {name} is refused", body, invalid())
post("http: a body that is too large", {"large": True}, replies={"status": 413}, logged="malformed")
post("http: a body that is encoded", PING, encoding="gzip", replies={"status": 415}, logged="malformed")
passes("http: a body that is encoded as it is", PING, encoding="identity")

# ---- the revision, and the session ----

BAD = '{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Bad Request: expected %s"}}'
NONE = BAD % "Mcp-Session-Id"
for name, body, version in [
    ("the header says so", PING, MODERN),
    ("header and message say so", claims(MODERN), MODERN),
    ("a later one", PING, "2027-01-01"),
    ("one that no SDK has", PING, "v999.0.0"),
    ("the message names one that no SDK has", claims("v999.0.0"), MODERN),
]:
    passes(f"http: no session is needed by revision 2026-07-28: {name}", body, version=version, session=None)
for name, body, version in [
    ("the message alone says so", claims(MODERN), None),
    ("the message says the contrary", claims(LEGACY), MODERN),
    ("the message says it by no text", claims("").replace('""', "7"), MODERN),
    ("an answer", '{"id":7,"result":{}}', MODERN),
    ("a batch", f"[{PING}]", MODERN),
    ("an earlier one", PING, "2026-07-27"),
    ("nothing of a revision", PING, ""),
]:
    head = {} if version is None else {"version": version}
    told = NONE if "method" in body and body[0] == "{" else NONE.replace('"id":7', '"id":null')
    unread(f"http: a session is needed: {name}", body, told, session=None, **head)
post(
    "http: two sessions are refused",
    PING,
    session={"several": True},
    asks=["principal"],
    replies={"status": 404},
    logged="malformed",
)
post(
    "http: two revisions are refused",
    PING,
    version={"several": True},
    asks=["principal"],
    replies={"status": 400, "body": BAD % "MCP-Protocol-Version to be what was negotiated"},
    logged="malformed",
)
post(
    "http: a session that was altered",
    PING,
    session="{bad}",
    asks=["principal"],
    replies={"status": 404},
    logged="unauthentic",
)
CASES.append(
    {
        "name": "http: a stream of the server's has no body",
        "settings": {},
        "http": {"method": "GET", "session": "{t}"},
        "asks": ["principal"],
        "delivers": {},
    }
)
CASES.append(
    {
        "name": "http: no session ends without a ledger",
        "settings": {},
        "http": {"method": "DELETE", "session": "{t}"},
        "replies": {"status": 405, "allow": "GET, POST"},
    }
)
CASES.append(
    {
        "name": "http: a stream needs a session whatever its revision is",
        "settings": {},
        "http": {"method": "GET", "version": MODERN},
        "replies": {"status": 400, "body": NONE.replace('"id":7', '"id":null')},
        "logged": "malformed",
    }
)
CASES.append({"name": "http: another method passes", "settings": {}, "http": {"method": "OPTIONS"}, "delivers": {}})

# ---- sessions in messages ----

for name, body, to in [
    ("first", '{"sessionId":"{t}","id":7, "method":"ping"}', '{"id":7, "method":"ping"}'),
    ("between", '{"id":7,"sessionId" : "{t}" , "method":"ping"}', '{"id":7,"method":"ping"}'),
    ("last", '{"id":7,"method":"ping" , "sessionId":"{t}" }', '{"id":7,"method":"ping" }'),
    ("with an escape", '{"id":7,"method":"ping","session\\u0049d":"{t}"}', '{"id":7,"method":"ping"}'),
    ("in an answer", '{"id":7,"result":{"sessionId":"{t}","n":1.0}}', '{"id":7,"result":{"n":1.0}}'),
    ("alone in an answer", '{"id":7,"result":{"sessionId":"{t}"}}', '{"id":7,"result":{}}'),
]:
    passes(
        f"http: a session in a message is removed: {name}", body, to=to, session=None, asks=["principal"], settings=SEP
    )
passes(
    "http: a session that is null is removed",
    '{"id":7,"method":"ping","sessionId":null}',
    to='{"id":7,"method":"ping"}',
    settings=SEP,
)
passes("http: a member of another protocol stays", '{"id":7,"method":"ping","sessionId":"x"}')

NO_METHOD = '{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found"}}'
for name, body, told in [
    ("as a request", '{"id":7,"method":"session/terminate","sessionId":"{t}"}', {"status": 200, "body": NO_METHOD}),
    ("as a notification", '{"method":"session/terminate","sessionId":"{t}"}', {"status": 202}),
]:
    post(f"http: session/terminate without a ledger, {name}", body, session=None, settings=SEP, replies=told)

# ---- answers ----

BOTH = {"session": "{t}", "settings": SEP, "asks": ["principal"]}
IN = PING.replace("}", ',"sessionId":"{t}"}')
OUT = DONE.replace('"result":{', '"result":{"sessionId":"{t}",')
NOTE = '{"jsonrpc":"2.0","method":"notifications/demo","params":{"a":"\\ud800 \u00e9"}}'
NOTED = '{"sessionId":"{t}",' + NOTE[1:]


def answered(name: str, kind: str, body: str, leaves: str, **more: object) -> None:
    more = {"in": IN, "to": PING, "status": 200, **BOTH, **more}
    answer = {"status": more.pop("status"), "type": kind, "body": body}
    if "has" in more:
        answer["session"] = more.pop("has")
    passes(f"http: {name}", more.pop("in"), to=more.pop("to"), answer=answer, leaves=leaves, **more)


JSON, SSE = "application/json", "text/event-stream"
answered("an answer has the session", JSON, DONE, OUT)
answered("an answer has the session, by another type", "application/json; charset=utf-8", " " + DONE, " " + OUT)
answered(
    "an answer that has one has another",
    JSON,
    '{"id":7,"result":{"sessionId":7}}',
    '{"id":7,"result":{"sessionId":"{t}"}}',
)
answered("an error has no place for the session", JSON, '{"id":7,"error":{"code":1}}', '{"id":7,"error":{"code":1}}')
answered("an answer that ends too early", JSON, DONE[:-9], DONE[:-9])
for name, end in [("LF", "\n"), ("CR", "\r"), ("CR LF", "\r\n")]:
    stream = ": hello\nevent: message\nid: 3\ndata: %s\n\nretry: 5\n\ndata:%s\nid: 4\n\n"
    leaves = ": hello\nevent: message\nid: 3\ndata: %s\n\nretry: 5\n\ndata: %s\nid: 4\n\n"
    answered(
        f"events whose lines end with {name}",
        SSE,
        (stream % (NOTE, DONE)).replace("\n", end),
        (leaves % (NOTED, OUT)).replace("\n", end),
    )
answered(
    "an event of several lines of data leaves as one",
    SSE,
    'data: {"id":7,\ndata:"result":\nevent: message\ndata: {}}\n\n',
    'data: {"id":7, "result": {"sessionId":"{t}"}}\nevent: message\n\n',
)
answered(
    "an event of several lines that end with CR LF",
    SSE,
    'data: {"id":7,\r\ndata: "result":{}}\r\n\r\n',
    'data: {"id":7, "result":{"sessionId":"{t}"}}\r\n\r\n',
)
answered(
    "a text over two lines of data is no message",
    SSE,
    'data: {"id":7,"result":{"a":"\ndata: "}}\n\n',
    'data: {"id":7,"result":{"a":"\ndata: "}}\n\n',
)
answered("an event that is no message", SSE, "data: hello\ndata\n\ndata: [1\n\n", "data: hello\ndata\n\ndata: [1\n\n")
answered("an event that ends too early", SSE, f"data: {NOTE}\n\ndata: {DONE}\n", f"data: {NOTED}\n\ndata: {DONE}\n")
answered("an event store's replay", SSE, f"id: 9\ndata: {NOTE}\n\n", f"id: 9\ndata: {NOTED}\n\n")
answered("another type passes as it is", "text/plain", DONE, DONE)
answered("a client that uses the header alone", JSON, DONE, DONE, **{"in": PING, "to": None})

BEGIN = {"in": INITIALIZE, "to": None, "session": None, "asks": [], "asked": ["principal"], "settings": {}}
answered("initialize begins a session", JSON, BEGUN, BEGUN, header="{new}", **BEGIN)
answered(
    "initialize begins a session in the message too", JSON, BEGUN, WITH_ID, header="{new}", **{**BEGIN, "settings": SEP}
)
answered(
    "initialize whose result has a time of its own at its end",
    JSON,
    BEGUN[:-2] + ',"sessionTimeout":5}}',
    BEGUN.replace('"result":{', '"result":{"sessionId":"{new}",')[:-2] + ',"sessionTimeout":600}}',
    header="{new}",
    **{**BEGIN, "settings": SEP},
)
answered(
    "initialize in events, after another message",
    SSE,
    f"data: {NOTE}\n\nid: 1\ndata: {BEGUN}\n\n",
    f"data: {NOTE}\n\nid: 1\ndata: {WITH_ID}\n\n",
    header="{new}",
    **{**BEGIN, "settings": SEP},
)
OTHER = BEGUN.replace('"i"', '"j"')
answered(
    "initialize in events, after the answer to another request",
    SSE,
    f"data: {OTHER}\n\ndata: {BEGUN}\n\n",
    f"data: {OTHER}\n\ndata: {WITH_ID}\n\n",
    header="{new}",
    **{**BEGIN, "settings": SEP},
)
answered(
    "initialize whose id the SDK spells otherwise",
    JSON,
    BEGUN,
    BEGUN,
    header="{new}",
    **{**BEGIN, "in": INITIALIZE.replace('"i"', '"\\u0069"')},
)
answered(
    "an error begins no session",
    JSON,
    '{"id":"i","error":{"code":1}}',
    '{"id":"i","error":{"code":1}}',
    **{**BEGIN, "asked": []},
)
answered("another status begins no session", JSON, BEGUN, BEGUN, status=503, **{**BEGIN, "asked": []})
FAILED = '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error"}}'
for name, kind, body, more in [
    ("a server that has sessions of its own is told", JSON, BEGUN, {"session": "x"}),
    ("another message's result begins no session", JSON, BEGUN.replace('"i"', '"j"'), {}),
    ("initialize whose answer ends too early", JSON, BEGUN[:-9], {}),
    ("initialize whose events end too early", SSE, f"data: {BEGUN}\n", {}),
    ("initialize whose answer is no JSON", JSON, "NaN", {}),
]:
    post(
        f"http: {name}",
        INITIALIZE,
        session=None,
        delivers={},
        answer={"status": 200, "type": kind, "body": body, **more},
        instead={"status": 500, "body": FAILED % '"i"'},
        logged="invalid_argument",
    )
post(
    "http: a handler that fails",
    PING,
    asks=["principal"],
    delivers={},
    broke="handler: expected a response, found TypeError",
    instead={"status": 500, "body": FAILED % 7},
    logged="invalid_argument",
)

# ---- lines ----

lines(
    "stdio: a line keeps its bytes",
    ["in", ' {"id":7 ,"method":"ping","jsonrpc":"2.0","params":{"n":1e400}}\r\n'],
    ["to", ' {"id":7 ,"method":"ping","jsonrpc":"2.0","params":{"n":1e400}}'],
    ["from", DONE],
    ["out", DONE],
)
lines("stdio: an empty line is none", ["in", " \n"])
for name, line, told in [
    ("no JSON", "hello", PARSE),
    ("a byte order mark", "\ufeff" + PING, PARSE),
    ("an id that is null", PING.replace("7", "null"), invalid()),
    ("a batch", f"[{PING}]", invalid()),
    ("a member twice", PING.replace("}", ',"id":8}'), invalid()),
]:
    lines(f"stdio: {name} is answered", ["in", line], ["out", told], logged="malformed")
lines(
    "stdio: an id in progress is refused, and free once it is answered",
    ["in", PING],
    ["to", PING],
    ["in", PING.replace("ping", "tools/list")],
    ["out", invalid("7")],
    ["from", DONE],
    ["out", DONE],
    ["in", PING],
    ["to", PING],
    logged="malformed",
)
ANSWER_OF = '{"jsonrpc":"2.0","id":%s,"result":{}}'
lines(
    "stdio: ids that are spelled alike are one",
    ["in", PING.replace("7", '"\\u0061"')],
    ["to", PING.replace("7", '"\\u0061"')],
    ["in", PING.replace("7", '"a"')],
    ["out", invalid('"a"')],
    ["from", ANSWER_OF % '"a"'],
    ["out", ANSWER_OF % '"a"'],
    logged="malformed",
)
lines(
    "stdio: a text and a number are two ids",
    ["in", PING],
    ["to", PING],
    ["in", PING.replace("7", '"7"')],
    ["to", PING.replace("7", '"7"')],
)
CANCEL = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
lines(
    "stdio: the answer to a cancelled request is dropped, and its id is free",
    ["in", PING],
    ["to", PING],
    ["in", CANCEL],
    ["to", CANCEL],
    ["from", DONE],
    ["in", PING],
    ["to", PING],
    ["from", DONE],
    ["out", DONE],
)
lines(
    "stdio: what cancels nothing at the SDK cancels nothing here",
    ["in", PING],
    ["to", PING],
    ["in", CANCEL.replace("7", '7,"reason":7')],
    ["to", CANCEL.replace("7", '7,"reason":7')],
    ["from", DONE],
    ["out", DONE],
)
lines("stdio: an answer without an id passes", ["from", invalid()], ["out", invalid()])
lines("stdio: what is no message passes", ["from", "hello"], ["out", "hello"])
REPLAY = (
    '{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    '"clientInfo":{"name":"c","version":"1"}}}'
)
lines(
    "stdio: a notification that the SDK cannot read has no answer",
    ["in", NOTE],
    ["to", NOTE],
    ["broke", ""],
    ["in", PING],
    ["to", PING],
)
DEEP = '{"id":7,"result":' + deep(200) + ',"session_id":1,"id":7}'
STARTED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
LOST = (
    '{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"Invalid or expired session","data":{"sessionId":"{t}"}}}'
)
ONE = [
    ["in", IN],
    ["replay", REPLAY],
    ["from", BEGUN.replace('"i"', "{id}")],
    ["to", f"{STARTED}\n{PING}"],
]
lines(
    "stdio: a session outlives the process",
    *ONE,
    ["from", DONE],
    ["out", OUT],
    ["in", IN],
    ["to", PING],
    asks=["principal", "principal"],
)
lines(
    "stdio: a session that the SDK does not begin again is refused",
    ["in", IN],
    ["replay", REPLAY],
    ["from", '{"id":{id},"error":{"code":-32602,"message":"no"}}'],
    ["out", LOST],
    asks=["principal"],
    logged="malformed",
)
lines(
    "stdio: one with another revision is refused",
    ["in", IN],
    ["replay", REPLAY],
    ["from", BEGUN.replace('"i"', "{id}").replace(LEGACY, "2025-06-18")],
    ["out", LOST],
    asks=["principal"],
    logged="malformed",
)
FAILED = '{"id":"i","error":{"code":1}}'
FIRST = [["in", INITIALIZE], ["to", INITIALIZE], ["from", BEGUN], ["out", WITH_ID]]
lines("stdio: initialize begins a session", *FIRST, asks=["principal"])
lines(
    "stdio: initialize that fails begins none",
    ["in", INITIALIZE],
    ["to", INITIALIZE],
    ["from", FAILED],
    ["out", FAILED],
    *ONE,
    asks=["principal"],
)
lines(
    "stdio: a second initialize that fails leaves the first",
    *FIRST,
    ["in", INITIALIZE],
    ["to", INITIALIZE],
    ["from", FAILED],
    ["out", FAILED],
    ["in", IN],
    ["to", PING],
    asks=["principal", "principal"],
)
lines(
    "stdio: an initialize in progress has begun nothing yet",
    ["in", INITIALIZE],
    ["to", INITIALIZE],
    ["in", IN],
    ["replay", REPLAY],
    ["from", FAILED],
    ["out", FAILED],
    ["from", BEGUN.replace('"i"', "{id}")],
    ["to", f"{STARTED}\n{PING}"],
    asks=["principal"],
)
TWO = [
    *FIRST,
    ["in", IN],
    ["to", PING],
    ["from", NOTE],
    ["out", NOTED],
    ["in", IN.replace("7", '"8"').replace("{t}", "{u}")],
    ["to", PING.replace("7", '"8"')],
]
lines(
    "stdio: a message of the server's own has the session of its request",
    *TWO,
    ["of", '"8"', NOTE],
    ["out", NOTED.replace("{t}", "{u}")],
    ["of", "7", NOTE],
    ["out", NOTED],
    ["from", NOTE],
    ["out", NOTE],
    ["from", DONE.replace("7", '"8"')],
    ["out", OUT.replace("7", '"8"').replace("{t}", "{u}")],
    ["from", NOTE],
    ["out", NOTED],
    asks=["principal"] * 3,
)
lines(
    "stdio: without SEP-1359 a message stays as it is",
    ["in", IN],
    ["to", IN],
    ["from", DONE],
    ["out", DONE],
    settings={},
)
TODAY = claims(MODERN).replace(',"params"', ',"sessionId":"{t}","params"')
lines("stdio: revision 2026-07-28 passes as it is", ["in", TODAY], ["to", TODAY], ["from", DONE], ["out", DONE])
lines(
    "stdio: an answer of the server's is paired as it is",
    ["in", PING],
    ["to", PING],
    ["from", DEEP],
    ["out", DEEP],
    ["in", PING],
    ["to", PING],
)
lines(
    "stdio: a request that the SDK cannot read is answered, and its id is free",
    ["in", PING],
    ["to", PING],
    ["broke", ""],
    ["out", invalid("7")],
    ["in", PING],
    ["to", PING],
    logged="malformed",
)
lines(
    "stdio: a client's answer has its session removed",
    *FIRST,
    ["in", '{"jsonrpc":"2.0","id":1,"result":{"a":1,"sessionId":"{t}"}}'],
    ["to", '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'],
    asks=["principal"] * 2,
)


def main() -> None:
    names = [case["name"] for case in CASES]
    assert len(set(names)) == len(names), "a name twice"
    text = json.dumps({"cases": CASES}, indent=1, ensure_ascii=False) + "\n"
    if "--check" in sys.argv:
        if FILE.read_text(encoding="utf-8") != text:
            sys.exit("wire.json: expected what wire.py writes; run python3 tests/vectors/wire.py")
    else:
        FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
