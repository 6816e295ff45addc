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
from collections.abc import Callable

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


def request(
    name: str, body: object = None, *, session: object = "{t}", settings: dict | None = None, **more: object
) -> None:
    """A request with these headers, and what comes of it."""
    head = {name: more.pop(name) for name in ("method", "version", "encoding") if name in more}
    http = {"method": "POST", **head}
    if body is not None:
        http["body"] = body
    if session is not None:
        http["session"] = session
    CASES.append({"name": name, "settings": settings or {}, "http": http, **more})


def passes(name: str, body: str, *, to: str | None = None, **more: object) -> None:
    asks = [] if more.get("session", "") is None else ["principal"]
    request(name, body, **{"asks": asks, **more}, delivers={} if to is None else {"body": to})


def refused(
    name: str, body: object, status: int, told: str | None = None, *, logged: str = "malformed", **more: object
) -> None:
    replies = {"status": status} if told is None else {"status": status, "body": told}
    request(name, body, **more, replies=replies, logged=logged)


def lines(name: str, *, settings: dict = SEP, **more: object) -> Callable[..., None]:
    """Add the lines that are told next, in their order."""
    return lambda *passed: CASES.append({"name": name, "settings": settings, "lines": list(passed), **more})


def to_sdk(line: str, gets: str | None = None) -> list[list]:
    """A line of the client's, and what the SDK gets: the same if it is not named."""
    return [["in", line], ["to", line if gets is None else gets]]


def to_client(line: str, gets: str | None = None) -> list[list]:
    """A line of the SDK's, and what the client gets: the same if it is not named."""
    return [["from", line], ["out", line if gets is None else gets]]


def answered(line: str, told: str) -> list[list]:
    """A line of the client's that never reaches the SDK."""
    return [["in", line], ["out", told]]


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
    refused(f"http: {name} is no message", body, 400, PARSE)
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
    refused(f"http: {name} is refused", body, 400, invalid())
refused("http: a body that is too large", {"large": True}, 413)
refused("http: a body that is encoded", PING, 415, encoding="gzip")
passes("http: a body that is encoded as it is", PING, encoding="identity")

# ---- the revision, and the session ----

BAD = '{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"Bad Request: expected %s"}}'
NONE = BAD % "Mcp-Session-Id"
NONE_OF_NO_ID = NONE.replace('"id":7', '"id":null')
for name, body, version in [
    ("the header says so", PING, MODERN),
    ("header and message say so", claims(MODERN), MODERN),
    ("the message says null", claims(MODERN).replace(f'"{MODERN}"', "null"), MODERN),
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
    told = NONE if "method" in body and body[0] == "{" else NONE_OF_NO_ID
    refused(f"http: a session is needed: {name}", body, 400, told, session=None, **head)
ASKS, SEVERAL = {"asks": ["principal"]}, {"several": True}
refused("http: two sessions are refused", PING, 404, session=SEVERAL, **ASKS)
OTHER_VERSION = BAD % "MCP-Protocol-Version to be what was negotiated"
refused("http: two revisions are refused", PING, 400, OTHER_VERSION, version=SEVERAL, **ASKS)
refused("http: a session that was altered", PING, 404, session="{bad}", **ASKS, logged="unauthentic")
request("http: a stream of the server's has no body", method="GET", **ASKS, delivers={})
request("http: no session ends without a ledger", method="DELETE", replies={"status": 405, "allow": "GET, POST"})
refused(
    "http: a stream needs a session whatever its revision is",
    None,
    400,
    NONE_OF_NO_ID,
    method="GET",
    version=MODERN,
    session=None,
)
request("http: another method passes", method="OPTIONS", session=None, delivers={})

# ---- sessions in messages ----

for name, body, to in [
    ("first", '{"sessionId":"{t}","id":7, "method":"ping"}', '{"id":7, "method":"ping"}'),
    ("between", '{"id":7,"sessionId" : "{t}" , "method":"ping"}', '{"id":7,"method":"ping"}'),
    ("last", '{"id":7,"method":"ping" , "sessionId":"{t}" }', '{"id":7,"method":"ping" }'),
    ("with an escape", '{"id":7,"method":"ping","session\\u0049d":"{t}"}', '{"id":7,"method":"ping"}'),
    ("in an answer", '{"id":7,"result":{"sessionId":"{t}","n":1.0}}', '{"id":7,"result":{"n":1.0}}'),
    ("alone in an answer", '{"id":7,"result":{"sessionId":"{t}"}}', '{"id":7,"result":{}}'),
]:
    passes(f"http: a session in a message is removed: {name}", body, to=to, session=None, **ASKS, settings=SEP)
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
    request(f"http: session/terminate without a ledger, {name}", body, session=None, settings=SEP, replies=told)

# ---- answers ----

IN = PING.replace("}", ',"sessionId":"{t}"}')
OUT = DONE.replace('"result":{', '"result":{"sessionId":"{t}",')
NOTE = '{"jsonrpc":"2.0","method":"notifications/demo","params":{"a":"\\ud800 \u00e9"}}'
NOTED = '{"sessionId":"{t}",' + NOTE[1:]


def answer(name: str, kind: str, *, sent: str = IN, status: int = 200, **more: object) -> Callable[..., None]:
    """Add what is told next: what the SDK answers to a message, and what the client gets, the same if it is not named."""
    more = {"to": PING, "settings": SEP, **ASKS, **more}

    def add(body: str, leaves: str | None = None) -> None:
        given = {"status": status, "type": kind, "body": body}
        passes(f"http: {name}", sent, answer=given, leaves=body if leaves is None else leaves, **more)

    return add


JSON, SSE = "application/json", "text/event-stream"
answer("an answer has the session", JSON)(DONE, OUT)
answer("an answer has the session, by another type", "application/json; charset=utf-8")(" " + DONE, " " + OUT)
answer("an answer that has one has another", JSON)(
    '{"id":7,"result":{"sessionId":7}}', '{"id":7,"result":{"sessionId":"{t}"}}'
)
answer("an error has no place for the session", JSON)('{"id":7,"error":{"code":1}}')
answer("an answer that ends too early", JSON)(DONE[:-9])
for name, end in [("LF", "\n"), ("CR", "\r"), ("CR LF", "\r\n")]:
    stream = ": hello\nevent: message\nid: 3\ndata: %s\n\nretry: 5\n\ndata:%s\nid: 4\n\n"
    leaves = ": hello\nevent: message\nid: 3\ndata: %s\n\nretry: 5\n\ndata: %s\nid: 4\n\n"
    answer(f"events whose lines end with {name}", SSE)(
        (stream % (NOTE, DONE)).replace("\n", end), (leaves % (NOTED, OUT)).replace("\n", end)
    )
answer("an event of several lines of data leaves as one", SSE)(
    'data: {"id":7,\ndata:"result":\nevent: message\ndata: {}}\n\n',
    'data: {"id":7, "result": {"sessionId":"{t}"}}\nevent: message\n\n',
)
answer("an event of several lines that end with CR LF", SSE)(
    'data: {"id":7,\r\ndata: "result":{}}\r\n\r\n', 'data: {"id":7, "result":{"sessionId":"{t}"}}\r\n\r\n'
)
answer("a text over two lines of data is no message", SSE)('data: {"id":7,"result":{"a":"\ndata: "}}\n\n')
answer("an event that is no message", SSE)("data: hello\ndata\n\ndata: [1\n\n")
answer("an event that ends too early", SSE)(f"data: {NOTE}\n\ndata: {DONE}\n", f"data: {NOTED}\n\ndata: {DONE}\n")
answer("an event store's replay", SSE)(f"id: 9\ndata: {NOTE}\n\n", f"id: 9\ndata: {NOTED}\n\n")
answer("another type passes as it is", "text/plain")(DONE)
answer("a client that uses the header alone", JSON, sent=PING, to=None)(DONE)

OF_NONE = {"to": None, "session": None, "asks": []}


def begins(name: str, kind: str, **more: object) -> Callable[..., None]:
    """Add what the SDK answers to `initialize`, and what the client gets: in the header, a session."""
    usual = {"sent": INITIALIZE, **OF_NONE, "header": "{new}", "asked": ["principal"]}
    return answer(name, kind, **{**usual, **more})


begins("initialize begins a session", JSON, settings={})(BEGUN)
begins("initialize begins a session in the message too", JSON)(BEGUN, WITH_ID)
begins("initialize whose result has a time of its own at its end", JSON)(
    BEGUN[:-2] + ',"sessionTimeout":5}}',
    BEGUN.replace('"result":{', '"result":{"sessionId":"{new}",')[:-2] + ',"sessionTimeout":600}}',
)
begins("initialize in events, after another message", SSE)(
    f"data: {NOTE}\n\nid: 1\ndata: {BEGUN}\n\n", f"data: {NOTE}\n\nid: 1\ndata: {WITH_ID}\n\n"
)
OTHER = BEGUN.replace('"i"', '"j"')
begins("initialize in events, after the answer to another request", SSE)(
    f"data: {OTHER}\n\ndata: {BEGUN}\n\n", f"data: {OTHER}\n\ndata: {WITH_ID}\n\n"
)
SPELLED = INITIALIZE.replace('"i"', '"\\u0069"')
begins("initialize whose id the SDK spells otherwise", JSON, sent=SPELLED, settings={})(BEGUN)
NO_SESSION = {"sent": INITIALIZE, **OF_NONE, "settings": {}, "asked": []}
answer("an error begins no session", JSON, **NO_SESSION)('{"id":"i","error":{"code":1}}')
answer("another status begins no session", JSON, status=503, **NO_SESSION)(BEGUN)
FAILED = '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error"}}'
for name, kind, body, more in [
    ("a server that has sessions of its own is told", JSON, BEGUN, {"session": "x"}),
    ("another message's result begins no session", JSON, OTHER, {}),
    ("initialize whose answer ends too early", JSON, BEGUN[:-9], {}),
    ("initialize whose events end too early", SSE, f"data: {BEGUN}\n", {}),
    ("initialize whose answer is no JSON", JSON, "NaN", {}),
]:
    request(
        f"http: {name}",
        INITIALIZE,
        session=None,
        delivers={},
        answer={"status": 200, "type": kind, "body": body, **more},
        instead={"status": 500, "body": FAILED % '"i"'},
        logged="invalid_argument",
    )
request(
    "http: a handler that fails",
    PING,
    **ASKS,
    delivers={},
    broke="handler: expected a response, found TypeError",
    instead={"status": 500, "body": FAILED % 7},
    logged="invalid_argument",
)

# ---- lines ----

SPACED = ' {"id":7 ,"method":"ping","jsonrpc":"2.0","params":{"n":1e400}}'
lines("stdio: a line keeps its bytes")(*to_sdk(SPACED + "\r\n", SPACED), *to_client(DONE))
lines("stdio: an empty line is none")(["in", " \n"])
for name, line, told in [
    ("no JSON", "hello", PARSE),
    ("a byte order mark", "\ufeff" + PING, PARSE),
    ("an id that is null", PING.replace("7", "null"), invalid()),
    ("a batch", f"[{PING}]", invalid()),
    ("a member twice", PING.replace("}", ',"id":8}'), invalid()),
]:
    lines(f"stdio: {name} is answered", logged="malformed")(*answered(line, told))
lines("stdio: an id in progress is refused, and free once it is answered", logged="malformed")(
    *to_sdk(PING), *answered(PING.replace("ping", "tools/list"), invalid("7")), *to_client(DONE), *to_sdk(PING)
)
lines("stdio: ids that are spelled alike are one", logged="malformed")(
    *to_sdk(PING.replace("7", '"\\u0061"')),
    *answered(PING.replace("7", '"a"'), invalid('"a"')),
    *to_client('{"jsonrpc":"2.0","id":"a","result":{}}'),
)
lines("stdio: a text and a number are two ids")(*to_sdk(PING), *to_sdk(PING.replace("7", '"7"')))
CANCEL = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}'
lines("stdio: the answer to a cancelled request is dropped, and its id is free")(
    *to_sdk(PING), *to_sdk(CANCEL), ["from", DONE], *to_sdk(PING), *to_client(DONE)
)
lines("stdio: what cancels nothing at the SDK cancels nothing here")(
    *to_sdk(PING), *to_sdk(CANCEL.replace("7", '7,"reason":7')), *to_client(DONE)
)
lines("stdio: an answer without an id passes")(*to_client(invalid()))
lines("stdio: what is no message passes")(*to_client("hello"))
lines("stdio: a notification that the SDK cannot read has no answer")(*to_sdk(NOTE), ["broke", ""], *to_sdk(PING))
REPLAY = INITIALIZE.replace('"i"', "{id}")
REPLAYED = BEGUN.replace('"i"', "{id}")
STARTED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
LOST = (
    '{"jsonrpc":"2.0","id":7,"error":{"code":-32003,"message":"Invalid or expired session","data":{"sessionId":"{t}"}}}'
)
ONE = [["in", IN], ["replay", REPLAY], ["from", REPLAYED], ["to", f"{STARTED}\n{PING}"]]
lines("stdio: a session outlives the process", asks=["principal"] * 2)(*ONE, *to_client(DONE, OUT), *to_sdk(IN, PING))
for name, replayed in [
    ("a session that the SDK does not begin again", '{"id":{id},"error":{"code":-32602,"message":"no"}}'),
    ("one with another revision", REPLAYED.replace(LEGACY, "2025-06-18")),
]:
    lines(f"stdio: {name} is refused", **ASKS, logged="malformed")(
        ["in", IN], ["replay", REPLAY], *to_client(replayed, LOST)
    )
FAILS = [*to_sdk(INITIALIZE), *to_client('{"id":"i","error":{"code":1}}')]
FIRST = [*to_sdk(INITIALIZE), *to_client(BEGUN, WITH_ID)]
lines("stdio: initialize begins a session", **ASKS)(*FIRST)
lines("stdio: initialize that fails begins none", **ASKS)(*FAILS, *ONE)
lines("stdio: initialize without a result that can be kept", asks=[], logged="invalid_argument")(
    *to_sdk(INITIALIZE), *to_client('{"id":"i","result":{}}', FAILED % '"i"')
)
lines("stdio: a second initialize that fails leaves the first", asks=["principal"] * 2)(
    *FIRST, *FAILS, *to_sdk(IN, PING)
)
lines("stdio: an initialize in progress has begun nothing yet", **ASKS)(
    *to_sdk(INITIALIZE),
    ["in", IN],
    ["replay", REPLAY],
    *to_client('{"id":"i","error":{"code":1}}'),
    ["from", REPLAYED],
    ["to", f"{STARTED}\n{PING}"],
)
lines("stdio: a message of the server's own has the session of its request", asks=["principal"] * 3)(
    *FIRST,
    *to_sdk(IN, PING),
    *to_client(NOTE, NOTED),
    *to_sdk(IN.replace("7", '"8"').replace("{t}", "{u}"), PING.replace("7", '"8"')),
    ["of", '"8"', NOTE],
    ["out", NOTED.replace("{t}", "{u}")],
    ["of", "7", NOTE],
    ["out", NOTED],
    *to_client(NOTE),
    *to_client(DONE.replace("7", '"8"'), OUT.replace("7", '"8"').replace("{t}", "{u}")),
    *to_client(NOTE, NOTED),
)
lines("stdio: without SEP-1359 a message stays as it is", settings={})(*to_sdk(IN), *to_client(DONE))
TODAY = claims(MODERN).replace(',"params"', ',"sessionId":"{t}","params"')
lines("stdio: revision 2026-07-28 passes as it is")(*to_sdk(TODAY), *to_client(DONE))
DEEP = '{"id":7,"result":' + deep(200) + ',"session_id":1,"id":7}'
lines("stdio: an answer of the server's is paired as it is")(*to_sdk(PING), *to_client(DEEP), *to_sdk(PING))
lines("stdio: a request that the SDK cannot read is answered, and its id is free", logged="malformed")(
    *to_sdk(PING), ["broke", ""], ["out", invalid("7")], *to_sdk(PING)
)
lines("stdio: a client's answer has its session removed", asks=["principal"] * 2)(
    *FIRST,
    *to_sdk('{"jsonrpc":"2.0","id":1,"result":{"a":1,"sessionId":"{t}"}}', '{"jsonrpc":"2.0","id":1,"result":{"a":1}}'),
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
