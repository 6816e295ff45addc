"""Prints the vectors as calls of the portable module, for an engine in any language: a case a line, as JSON.

    python3 calls.py LAYOUT HEADER VECTORS...

A case has a `name`, the `clock` in Unix milliseconds, the `random` bytes (hex) that the next draw of as many gives,
and `steps`. A step is a call, `{"call": FUNCTION, "args": [ARG...], "returns": NUMBER or absent}`, or a check,
`{"check": NAME, "offset": N, "bytes": HEX}`. An argument is one of

    {"i32": N}  {"i64": N}           a number
    {"bytes": HEX, "addresses": [{"at": OFFSET, "of": ARG}...] or absent}   the address of these bytes, with addresses in them
    {"out": SIZE, "as": NAME}        the address of so many zeros
    {"load": NAME}                   the 32 bits at an address from before
"""

import json
import pathlib
import re
import sys

LAYOUT_FILE, HEADER, *VECTORS = map(pathlib.Path, sys.argv[1:])
LAYOUT = json.loads(LAYOUT_FILE.read_text())
DEFINED = re.compile(r"^#define SEALWAX_(\w+) (\d+)$", re.MULTILINE)
CONSTANTS = {name: int(value) for name, value in DEFINED.findall(HEADER.read_text())}
TOKEN = 8192
#: Of the types of members that have not 32 bits.
SIZES = {"uint64_t": 8, "bool": 1}

NULL = {"i32": 0}


def size(length):
    return {"i32": length}


def text(value):
    """A text or bytes that may be absent: its address and its size."""
    if value is None:
        return [NULL, NULL]
    data = value.encode() if isinstance(value, str) else value
    return [{"bytes": data.hex()}, size(len(data))]


def frame(kind, *texts):
    """A frame of texts for a machine, of which some may be absent: its address and its size."""
    lengths = b"".join((-1 if one is None else len(one)).to_bytes(4, "little", signed=True) for one in texts)
    return text(bytes([CONSTANTS[kind], len(texts), 0, 0]) + lengths + "".join(filter(None, texts)).encode())


def struct(name, **members):
    layout = LAYOUT[name]
    data, addresses = bytearray(layout["size"]), []
    for member, value in members.items():
        place = layout["members"][member]
        if isinstance(value, dict) and "bytes" in value:
            addresses.append({"at": place["offset"], "of": value})
        else:
            begin, length = place["offset"], SIZES.get(place["type"], 4)
            number = value["i32"] if isinstance(value, dict) else value
            data[begin : begin + length] = number.to_bytes(length, "little")
    return {"bytes": data.hex(), "addresses": addresses}


class Case:
    def __init__(self, name):
        self.name, self.clock, self.random, self.steps, self.frees = name, None, None, [], []

    def call(self, function, *args, returns=0):
        self.steps.append({"call": f"sealwax_{function}", "args": list(args), "returns": returns})

    def make(self, what, function, *args, returns=0):
        """Calls a function that makes an object, which is freed at the end."""
        self.call(function, *args, {"out": 4, "as": what}, NULL, returns=returns)
        if returns == 0:
            self.frees.append({"call": f"sealwax_{what}_free", "args": [{"load": what}]})

    def machine(self, what, parent, sent, returns=0):
        """Makes a machine by a frame."""
        answer = [{"out": 4, "as": "answer"}, {"out": 4, "as": "answer_len"}]
        self.call(
            "machine_new", {"load": "codec"}, parent, *sent, {"out": 4, "as": what}, *answer, NULL, returns=returns
        )
        if returns == 0:
            self.frees.append({"call": "sealwax_machine_free", "args": [{"load": what}]})

    def check(self, name, data, offset=0):
        data = data.encode() if isinstance(data, str) else data
        self.steps.append({"check": name, "offset": offset, "bytes": data.hex()})

    def check_member(self, name, of, member, value):
        place = LAYOUT[of]["members"][member]
        length = SIZES.get(place["type"], 4)
        self.check(name, int(value).to_bytes(length, "little"), place["offset"])

    def check_text(self, name, data):
        """What was written to the buffer `name`, and its length."""
        data = data.encode() if isinstance(data, str) else data
        self.check(name, data)
        self.check(f"{name}_len", len(data).to_bytes(4, "little"))

    def json(self):
        return json.dumps(
            {"name": self.name, "clock": self.clock, "random": self.random, "steps": self.steps + self.frees[::-1]}
        )


def out(name, cap):
    """A buffer for a text, its size and where its length goes."""
    return [{"out": cap, "as": name}, size(cap), {"out": 4, "as": f"{name}_len"}]


def status(code):
    return CONSTANTS[code.upper()]


def outcome(vector):
    return status(vector["error"]) if "error" in vector else 0


def ring_text(keys, ring):
    return ring if isinstance(ring, str) else " ".join(keys[place]["text"] for place in ring)


def view(case, keys, vector):
    """Makes the view of a vector; returns whether there is one, for some are refused here."""
    ring = ring_text(keys, vector["ring"] if "ring" in vector else [vector["key"]])
    principal, refused = vector["principal"], status("invalid_argument")
    has_codec = 1 <= len(vector["audience"]) <= 1024
    # In the vectors an absent part of a principal is empty.
    has_view = any(principal.get(name) for name in ["anonymous", "client", "subject"])
    case.make("ring", "ring_parse", *text(ring))
    codec = [{"load": "ring"}, *text(vector["audience"]), NULL]
    case.make("codec", "codec_new", *codec, returns=0 if has_codec else refused)
    if not has_codec:
        return False
    if principal.get("anonymous"):
        case.make("view", "view_new_anonymous", {"load": "codec"})
    else:
        parts = [part for name in ["issuer", "client", "subject"] for part in text(principal[name] or None)]
        case.make("view", "view_new", {"load": "codec"}, *parts, returns=0 if has_view else refused)
    return has_view


def purpose(vector):
    members = {"kind": CONSTANTS[f"KIND_{vector['kind'].upper().replace('-', '_')}"]}
    for name, value in [
        ("label", vector["label"].encode()),
        ("session_id", vector["session_id"].encode() or None),
        ("context", bytes.fromhex(vector["context"]) or None),
    ]:
        members[name], members[f"{name}_len"] = text(value)
    return struct("sealwax_purpose", **members)


def check_opened(case, expected):
    issued_at, ttl = expected["issued_at"], expected["ttl"]
    case.check_text("payload", bytes.fromhex(expected["payload"]))
    never = (1 << 64) - 1
    for member, value in [
        ("issued_at", issued_at),
        ("expires_at", issued_at + ttl if ttl else never),
        ("started_at", max(0, issued_at - expected["age"])),
        ("generation", expected["generation"]),
    ]:
        case.check_member("opened", "sealwax_opened", member, value)
    case.check("opened", bytes.fromhex(expected["token_id"]), LAYOUT["sealwax_opened"]["members"]["token_id"]["offset"])


def opened_out():
    return {"out": LAYOUT["sealwax_opened"]["size"], "as": "opened"}


def identifier_out():
    return {"out": LAYOUT["sealwax_identifier"]["size"], "as": "identifier"}


def check_ulid(case, vector):
    offset = LAYOUT["sealwax_identifier"]["members"]["ulid"]["offset"]
    case.check("identifier", bytes.fromhex(vector["ulid"]), offset)


def mixed(random, nanoseconds):
    """What to draw so that, once the library has mixed the time into it, it is `random`."""
    time = nanoseconds.to_bytes(len(random), "little")
    return bytes(drawn ^ byte for drawn, byte in zip(random, time, strict=True)).hex()


def keys(case, _, vector):
    case.make("key", "key_from_secret", *text(bytes.fromhex(vector["secret"])))
    case.call("key_id", {"load": "key"}, {"out": 4, "as": "id"}, NULL)
    case.check("id", bytes.fromhex(vector["kid"]))
    case.call("key_to_text", {"load": "key"}, *out("written", CONSTANTS["KEY_TEXT_LEN"]), NULL)
    case.check_text("written", vector["text"])


def derived(case, _, vector):
    case.make("key", "key_derive", *text(vector["from"]), returns=outcome(vector))
    if "error" not in vector:
        case.call("key_id", {"load": "key"}, {"out": 4, "as": "id"}, NULL)
        case.check("id", bytes.fromhex(vector["kid"]))


def environments(case, _, vector):
    variables = "".join(f"{name}={value}\0" for name, value in vector["variables"].items())
    check_ring(case, vector, "ring_from_variables", variables)


def key_rings(case, all_keys, vector):
    check_ring(case, vector, "ring_parse", ring_text(all_keys, vector["ring"]))


def check_ring(case, vector, function, given):
    case.make("ring", function, *text(given), returns=outcome(vector))
    if vector.get("is_file"):
        case.check("ring", bytes(4))
    elif "error" not in vector:
        case.call("ring_ids", {"load": "ring"}, *out("ids", CONSTANTS["RING_IDS_MAX"]), NULL)
        case.check_text("ids", bytes.fromhex("".join(vector["keys"])))


def sealed(case, all_keys, vector):
    case.clock = vector["issued_at"] * 1000 + 999
    case.random = mixed(bytes.fromhex(vector["nonce"]), case.clock * 10**6)
    view(case, all_keys, vector)
    payload, ttl, generation = bytes.fromhex(vector["payload"]), vector["ttl"], vector["generation"]
    lifetime = struct("sealwax_lifetime", ttl=ttl, no_expiry=int(ttl == 0))
    start = [{"load": "view"}, purpose(vector), lifetime]
    if generation > 0:
        before = struct("sealwax_opened", started_at=vector["issued_at"] - vector["age"], generation=generation - 1)
        case.call("renew", *start, before, *text(payload), *out("token", TOKEN), NULL)
        case.check_text("token", vector["token"])
    elif vector["age"] == 0:
        case.call("seal", *start, *text(payload), *out("token", TOKEN), NULL)
        case.check_text("token", vector["token"])
    # Else, the ABI cannot seal a first generation with an age above 0.
    given = [purpose(vector), NULL, *text(vector["token"]), *out("payload", TOKEN), opened_out(), NULL]
    case.call("open", {"load": "view"}, *given)
    check_opened(case, vector)


def minted(case, all_keys, vector, what, room, *of):
    case.clock = vector["issued_at_ms"]
    case.random = mixed(bytes.fromhex(vector["ulid"])[6:], case.clock * 10**6)
    view(case, all_keys, vector)
    named = [{"load": "view"}, *of]
    case.call(f"mint_{what}", *named, *out(what, room), identifier_out(), NULL)
    case.check_text(what, vector[what])
    check_ulid(case, vector)
    case.call(f"verify_{what}", *named, *text(vector[what]), NULL, NULL, NULL)


def session_ids(case, all_keys, vector):
    minted(case, all_keys, vector, "session_id", CONSTANTS["SESSION_ID_LEN"])


def handles(case, all_keys, vector):
    minted(case, all_keys, vector, "handle", CONSTANTS["HANDLE_MAX"], *text(vector["type"]))


def request_contexts(case, _, vector):
    # Vectors without a request are about the arguments alone.
    named = vector if "method" in vector else {**vector, "method": "tools/call", "target": "x"}
    given = [part for name in ["method", "target", "arguments"] for part in text(named.get(name))]
    case.call("request_context", *given, {"out": 32, "as": "context"}, NULL, returns=outcome(vector))
    if "error" not in vector:
        case.check("context", bytes.fromhex(vector["context"]))


def opening(case, all_keys, vector):
    case.clock = vector["now_ms"] if "now_ms" in vector else vector["now"] * 1000
    error = vector.get("error")
    max_age = vector.get("max_age")
    limit = NULL if max_age is None else {"bytes": max_age.to_bytes(8, "little").hex()}
    returns = outcome(vector)
    if not view(case, all_keys, vector):
        assert error == "invalid_argument", vector
        return
    of = {"load": "view"}
    if vector["what"] == "sealed":
        given = [purpose(vector), limit, *text(vector["token"]), *out("payload", TOKEN), opened_out(), NULL]
        case.call("open", of, *given, returns=returns)
    elif vector["what"] == "session_id":
        given = [*text(vector["session_id"]), limit, identifier_out(), NULL]
        case.call("verify_session_id", of, *given, returns=returns)
    else:
        given = [*text(vector["type"]), *text(vector["handle"]), limit, identifier_out(), NULL]
        case.call("verify_handle", of, *given, returns=returns)
    if error:
        return
    expected = vector["expect"]
    if vector["what"] == "sealed":
        check_opened(case, expected)
        case.check_member("opened", "sealwax_opened", "needs_reseal", expected["needs_reseal"])
    else:
        check_ulid(case, expected)
        case.check_member("identifier", "sealwax_identifier", "needs_reseal", expected["needs_reseal"])


def hostile():
    """Documents as deep and as long as a client may send: what the C library answers, and no trap."""
    refused = status("invalid_argument")
    for name, returns, arguments in [
        ("deep arrays", refused, b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        ("deep arrays without an end", refused, b'{"a":' + b"[" * 200_000),
        ("deep objects", refused, b'{"a":' * 200_000 + b"1" + b"}" * 200_000),
        ("the deepest arguments", 0, b'{"a":' * 100 + b"1" + b"}" * 100),
        ("long arguments", 0, b'{"a":"' + b"x" * 900_000 + b'"}'),
    ]:
        case = Case(name)
        given = [*text("tools/call"), *text("x"), *text(arguments), {"out": 32, "as": "context"}, NULL]
        case.call("request_context", *given, returns=returns)
        yield case
    case = Case("a size that no memory has")
    given = [*text("tools/call"), *text("x"), {"bytes": "7b7d"}, size(-1), {"out": 32, "as": "context"}, NULL]
    case.call("request_context", *given, returns=refused)
    yield case

    case = Case("deep documents of the engine")
    key = json.loads(VECTORS[0].read_text())["keys"][0]["text"]
    case.make("ring", "ring_parse", *text(key))
    case.make("codec", "codec_new", {"load": "ring"}, *text("https://mcp.example.com"), NULL)
    case.machine("none", NULL, frame("GUARD", "[" * 200_000), returns=refused)
    case.machine("guard", NULL, frame("GUARD", "{}"))
    for at, depth in enumerate([100, 127, 200_000]):
        body = '{"a":' * depth + "1" + "}" * depth
        case.machine(f"exchange {at}", {"load": "guard"}, frame("HTTP", "POST", None, None, None, body))
    yield case


SECTIONS = {
    "keys": keys,
    "derived": derived,
    "environments": environments,
    "key_rings": key_rings,
    "sealed": sealed,
    "session_ids": session_ids,
    "handles": handles,
    "request_contexts": request_contexts,
    "request_context_reject": request_contexts,
    "accept": opening,
    "reject": opening,
}


def main():
    for path in VECTORS:
        content = json.loads(path.read_text())
        # Each tag is inside of a token that comes out the same only if the tag is right.
        content.pop("principal_tags")
        # The guard's engine alone makes them.
        for section in ("consents", "short_handles"):
            content.pop(section, None)
        for section, vectors in content.items():
            for at, vector in enumerate(vectors if isinstance(vectors, list) else []):
                case = Case(f"{section}: {vector.get('id', at)}")
                SECTIONS[section](case, content["keys"], vector)
                print(case.json())
    for case in hostile():
        print(case.json())


main()
