"""Makes ledger.json: the replies and writes of a store, by a model that shares no code with the others (LEDGER.md).

A case has a command (`script`, `keys`, `args`), what lies under its keys (`values`, null for nothing), and what is expected: the
`reply`, and what lies under the keys then (`after`: value and end, or null). Times are written `@N`: the store's time plus N seconds.
`RUN` is the store's process, `-` where a store has none; `PROMOTED` is the same process before a promotion, `EVICTED` before it
evicted keys, `FORMER` as a version before this one wrote it, and `OTHER` another process.
"""

import hashlib
import json
import pathlib
import random
import sys

FILE = pathlib.Path(__file__).with_suffix(".json")
NAMESPACE = "swl1:{0123456789abcdef}"
NEVER = 0
#: Nothing lives for longer: 400 days.
CEILING = 400 * 86_400
TOLERANCE = 5
# The store's time in the model: the cases' times are relative to it.
NOW = 1_000_000_000


class Refused(Exception):
    """A reply other than `ok`."""


class Store:
    """One command at a store, as specified in LEDGER.md."""

    def __init__(self, keys: list[str], values: list[str | None]) -> None:
        # A record has a value, and an end that this model does not know before it writes.
        self.records = {key: (value, "kept") for key, value in zip(keys, values, strict=True) if value is not None}

    def get(self, key: str) -> str | None:
        return self.records.get(key, (None,))[0]

    def set(self, key: str, value: object, until: int = NEVER) -> None:
        self.records[key] = (str(value), until)

    def number(self, key: str) -> int | None:
        value = self.get(key)
        if value is not None and not (value.isascii() and value.isdigit()):
            raise Refused("broken", key)
        return None if value is None else int(value)

    def head(self, key: str) -> list | None:
        value = self.get(key)
        if value is None:
            return None
        parts = value.split(" ")
        if len(parts) != 4 or not all(part.isascii() and part.isdigit() for part in parts[1:3]):
            raise Refused("broken", key)
        return [parts[0], int(parts[1]), int(parts[2]), parts[3]]

    def set_head(self, key: str, token: str, generation: int, until: int, state: str) -> None:
        before = self.head(key)
        if before is not None:
            until = NEVER if NEVER in (before[2], until) else max(before[2], until)
        self.set(key, f"{token} {generation} {until} {state}", until)

    def fence(self, began_key: str, fence_key: str) -> tuple[int, int]:
        began = self.number(began_key)
        fence = self.get(fence_key)
        since, run, last = 0, "RUN", -1
        if fence is not None:
            parts = fence.split(" ")
            if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in (parts[0], parts[2])):
                raise Refused("broken", fence_key)
            since, run, last = int(parts[0]), parts[1], int(parts[2])
        lost = began is None or fence is None or last > NOW + 300 or run == "EVICTED"
        known = NOW if lost else max(NOW, last)
        if lost or run != "RUN":
            since = max(since, NOW, last if run != "RUN" else 0)
            last = -1
        if lost:
            began = max(began or 0, NOW)
            self.set(began_key, began)
        if last < NOW:
            self.set(fence_key, f"{since} RUN {known}")
        # The latest time of the store's clock, by which it deleted records.
        self.last = known
        return began, since

    def open(self, keys: list[str], _args: list[str]) -> list:
        began, since = self.fence(*keys)
        return ["ok", began, since, NOW, 0]

    def revoke(self, keys: list[str], args: list[str]) -> list:
        mark = max(self.number(keys[0]) or 0, NOW, int(args[1]))
        if int(args[1]) > NOW + 300:
            raise Refused("ahead")
        self.set(keys[0], mark, mark + int(args[0]) if int(args[0]) else NEVER)
        return ["ok", 0]

    def commit(self, keys: list[str], args: list[str]) -> list:
        head_key, end_key = keys
        seen, generation, token, until, state = args[0], int(args[1]), args[2], int(args[3]), args[4]
        if self.get(end_key) is not None:
            raise Refused("ended")
        if until != NEVER and until <= NOW:
            raise Refused("expired")
        head = self.head(head_key)
        if head is None:
            raise Refused("lost")
        if head[0] == token:
            return ["ok", 0]
        if head[0] == seen:
            self.set_head(head_key, token, generation + 1, until, state)
            return ["ok", 0]
        if head[1] < generation:
            raise Refused("lost")
        raise Refused("stale", head[0], head[1], head[3])

    def admit(self, keys: list[str], args: list[str]) -> list:
        began, since = self.fence(keys[0], keys[1])
        mark = self.number(keys[2])
        before = dict(self.records)
        try:
            for place in range((len(keys) - 3) // 2):
                about = (began, since, mark, args[0], int(args[2]))
                self.token(place, about, keys[3 + 2 * place : 5 + 2 * place], args[3 + 7 * place : 10 + 7 * place])
        except Refused:
            self.records = before
            raise
        return ["ok", 0]

    def token(self, place: int, about: tuple, keys: list[str], args: list[str]) -> None:
        began, since, mark, attempt, accept_since = about
        (key, end_key), mode = keys, args[0]
        issued, started, until = map(int, args[1:4])
        if until != NEVER and until <= self.last:
            raise Refused("expired", place)
        if mode != "force" and NOW - started >= CEILING:
            raise Refused("expired", place)
        if mode != "force":
            ended = self.get(end_key)
            if ended is not None and not (mode == "end" and ended == attempt):
                raise Refused("ended", place)
            if mark is not None and started <= mark + TOLERANCE:
                raise Refused("revoked", place)
            if issued > NOW + TOLERANCE:
                raise Refused("ahead", place)
        forgotten = started <= began + TOLERANCE and not (accept_since and issued >= accept_since)
        if mode == "once":
            user = self.get(key)
            if user is None and issued <= since + TOLERANCE:
                raise Refused("unknown", place, max(NOW - since, 0))
            if user not in (None, attempt):
                raise Refused("used", place)
            if user is None:
                self.set(key, attempt, until)
        elif mode == "head":
            head = self.head(key)
            if forgotten:
                raise Refused("unknown", place, max(NOW - began, 0))
            if head is None or (head[0] != args[4] and int(args[5]) > head[1]):
                self.set_head(key, args[4], int(args[5]), until, args[6])
            elif head[0] != args[4]:
                raise Refused("stale", place, head[0], head[1], head[3])
        elif mode == "unused" and self.get(key) is not None:
            raise Refused("used", place)
        elif mode != "force" and forgotten:
            raise Refused("unknown", place, max(NOW - began, 0))
        elif mode == "idle":
            idle, seen = int(args[4]), self.number(key)
            last = max(issued, seen or 0)
            if last + idle < NOW:
                raise Refused("ended", place)
            if seen is None or last + -(-idle // 10) <= NOW:
                self.set(key, NOW, NOW + idle + 1)
        elif mode in ("end", "force"):
            self.records.pop(key, None)
            self.set(end_key, attempt, until)


class Cases:
    """Random cases, each time as `@N`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def pick(self, *values):
        return self.random.choice(values)

    def time(self) -> str:
        return f"@{self.pick(-20000, -9995, -9995, -9994, -7000, -6995, -6994, -1000, 4, 5, 5, 6, 1000)}"

    def until(self) -> str:
        return self.pick("0", "@0", "@-10", "@90", "@1000", "@9000")

    def asked(self) -> str:
        return self.pick("0", "@-5000", "@0", "@300", "@301")

    def garbage(self) -> str | None:
        return self.pick("garbage", "", "-1", "1.5", "12x", "1 2", None)

    def head(self) -> str | None:
        known = f"{self.pick('aa', 'bb', 'cc')} {self.random.randrange(4)} {self.pick('0', '@90', '@5000')} {self.pick('S1', 'S2')}"
        return self.pick(None, known, known, known, self.garbage())

    def fence(self) -> tuple[str | None, str | None]:
        began = self.pick(None, "@-10000", "@-10000", "@-10000", "@-3", "@200", self.garbage())
        fence = self.pick(
            *["@-10000 RUN @-5"] * 10,
            *("@-10000 RUN @0", "@-10000 OTHER @-5", "@-10000 PROMOTED @0", "@-10000 EVICTED @0", "@-10000 FORMER @-5"),
            *("@-500 RUN @50", "@-500 RUN @300", "@-500 RUN @301", "@100 RUN @400"),
            *("@-500 OTHER @50", "@-500 PROMOTED @50", "@100 EVICTED @-5"),
            self.garbage(),
        )
        return began, fence

    def case(self) -> tuple[str, list, list, list]:
        script = self.pick("admit", "admit", "admit", "admit", "commit", "revoke", "open")
        began, fence = self.fence()
        mark = self.pick(None, None, None, None, "@-7000", "@200", self.garbage())
        keys = [f"{NAMESPACE}:began", f"{NAMESPACE}:fence"]
        if script == "open":
            return script, keys, [began, fence], []
        if script == "revoke":
            return script, [f"{NAMESPACE}:p:x"], [mark], [self.pick("0", "100", "5000"), self.asked()]
        if script == "commit":
            seen, token = self.random.sample(["aa", "bb", "cc", "dd"], 2)
            keys = [f"{NAMESPACE}:h:s:1", f"{NAMESPACE}:e:s:1"]
            values = [self.head(), self.pick(None, None, None, "at1")]
            return script, keys, values, [seen, str(self.random.randrange(4)), token, self.until(), "S3"]
        keys.append(f"{NAMESPACE}:p:x")
        values = [began, fence, mark]
        args = [self.pick("at1", "at2"), str(TOLERANCE), self.pick("0", "0", "@-8000")]
        for place in range(self.random.randrange(1, 4)):
            mode = self.pick("once", "once", "unused", "live", "idle", "head", "head", "end", "force")
            end_key = f"{NAMESPACE}:e:s:{place}"
            ended = self.pick(None, None, None, None, "at1", "at2")
            letter = {"once": "u", "unused": "u", "idle": "i", "head": "h"}.get(mode) or self.pick("e", "h")
            letter = "e" if mode == "live" else letter
            value = {
                "u": self.pick(None, None, "at1", "at2"),
                "i": self.pick(None, "@-50", "@-120", "@-5", self.garbage()),
                "h": self.head(),
                "e": ended,
            }[letter]
            keys += [f"{NAMESPACE}:{letter}:s:{place}", end_key]
            values += [value, ended]
            details = {
                "idle": [self.pick("60", "100", "1000"), "", ""],
                "head": [self.pick("aa", "bb", "dd"), str(self.random.randrange(4)), self.pick("S1", "S9")],
            }.get(mode, ["", "", ""])
            started = self.pick(*[self.time()] * 8, f"@{-CEILING}", f"@{1 - CEILING}")
            args += [mode, self.time(), started, self.until(), *details]
        return script, keys, values, args


def absolute(text: str | None) -> str | None:
    if text is None:
        return None
    return " ".join(str(NOW + int(part[1:])) if part.startswith("@") else part for part in text.split(" "))


def relative(text: object) -> str:
    """Write the times of a reply or a value as they are in the cases; no other number is as large."""
    parts = str(text).split(" ")
    return " ".join(f"@{int(part) - NOW}" if part.isdigit() and int(part) > NOW // 2 else part for part in parts)


def expected(script: str, keys: list[str], values: list, args: list[str]) -> dict:
    store = Store(keys, [absolute(value) for value in values])
    try:
        reply = getattr(store, script)(keys, [absolute(arg) for arg in args])
    except Refused as refused:
        reply = refused.args
    after = {}
    for key, before in dict(zip(keys, values, strict=True)).items():
        value, until = store.records.get(key, (None, None))
        if value is not None and until != "kept":
            after[key] = [relative(value), relative(until) if until else None]
        elif value is None and before is not None:
            after[key] = None
    return {"reply": [relative(part) for part in reply], "after": after}


def digest(length: int, *pieces: str) -> str:
    """Return the start of SHA-256 over PAE (SPEC.md)."""
    pieces = ("sealwax ledger 1", *pieces)
    packed = len(pieces).to_bytes(8, "little") + b"".join(
        len(piece.encode()).to_bytes(8, "little") + piece.encode() for piece in pieces
    )
    return hashlib.sha256(packed).hexdigest()[:length]


def names() -> list[dict]:
    people = [
        {"anonymous": True},
        {"subject": "alice"},
        {"issuer": "https://idp.example.com", "client": "cli-7", "subject": "älice"},
    ]
    return [
        {
            "audience": audience,
            "label": label,
            "principal": who,
            "namespace": f"swl1:{{{digest(16, 'ledger', audience, label)}}}",
            "mark": digest(32, "anonymous")
            if "anonymous" in who
            else digest(32, "principal", *(who.get(part, "") for part in ("issuer", "client", "subject"))),
        }
        for audience, label in [("https://mcp.example.com", ""), ("https://mcp.example.com", "blue"), ("a", "ä")]
        for who in people
    ]


def main() -> None:
    cases, made = Cases(1), []
    verdicts: dict[str, int] = {}
    for _ in range(20_000):
        script, keys, values, args = cases.case()
        found = expected(script, keys, values, args)
        verdict = f"{script} {found['reply'][0]}"
        if script == "admit":
            # Of each mode; of a refusal, that of its place.
            place = int(found["reply"][1]) if found["reply"][0] not in ("ok", "broken") else 0
            verdict += f" {args[3 + 7 * place]}"
            if found["reply"][0] == "expired":
                verdict += f" {absolute(args[6 + 7 * place]) != '0' and int(absolute(args[6 + 7 * place])) <= NOW}"
        if script == "open" or verdict in ("admit unknown once", "admit unknown live", "admit ok live"):
            # Of each process that a store may have been.
            verdict += " " + next((part for part in (values[1] or "").split(" ") if part.isalpha()), "")
        if verdict == "commit ok":
            # Of each end, before and after.
            verdict += f" {values[0].split(' ')[2]} {args[3]}"
        if verdicts.get(verdict, 0) >= (12 if script == "admit" else 25):
            continue
        verdicts[verdict] = verdicts.get(verdict, 0) + 1
        made.append({"script": script, "keys": keys, "values": values, "args": args, **found})
    lines = ",\n".join(f"  {json.dumps(case)}" for case in made)
    named = ",\n".join(f"  {json.dumps(name, ensure_ascii=False)}" for name in names())
    about = json.dumps("Made by ledger.py beside it, which says what everything means.")
    text = f'{{\n "about": {about},\n "names": [\n{named}\n ],\n "cases": [\n{lines}\n ]\n}}\n'
    if sys.argv[1:] == ["--check"]:
        sys.exit(FILE.read_text() != text and f"{FILE.name} is not what {pathlib.Path(__file__).name} writes")
    FILE.write_text(text)
    print(f"{len(made)} cases: {verdicts}")


if __name__ == "__main__":
    main()
