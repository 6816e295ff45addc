"""The people, keys, tokens, sessions and handles that the transcripts name, made by the core's own peer."""

import json
import pathlib

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "vectors"
FILE = json.loads((VECTORS / "guard.json").read_text())
#: The name of each key by its id.
KEY_NAMES = {
    key["kid"]: name
    for name, text in FILE["keys"].items()
    for key in json.loads((VECTORS / "v1.json").read_text())["keys"]
    if key["text"] == text
}
#: The time when a transcript begins, in Unix seconds.
NOW = 1_800_000_000


def ring(name):
    """``both`` is the guard's own."""
    keys = FILE["keys"]
    return f"{keys['new']} {keys['old']}" if name == "both" else keys[name]


def changed(text, change):
    if change == "flip":
        # Not the last character, of which some bits may be unused.
        place = len(text) - 5
        return text[:place] + ("b" if text[place] == "a" else "a") + text[place + 1 :]
    return {None: text, "pad": f"{text}=", "cut": text[:-1], "double": text * 2}[change]


class World:
    """What a transcript keeps between its events."""

    def __init__(self, peer):
        self._peer = peer
        self.tokens = {}
        #: Every metadata that was seen of a session.
        self.sessions = {}
        self.handles = {}
        #: Keys and ids, by what a transcript calls them.
        self.named = {}
        self.now = NOW

    def asked(self, op, made, age=0, **request):
        """Ask the peer for what `made` describes, `age` seconds ago."""
        person = FILE["people"][made.get("as", "alice")]
        parts = "\0".join(person.get(name, "") for name in ("issuer", "client", "subject"))
        return self._peer.ok(
            op=op,
            ring=ring(made.get("key", "new")),
            audience=made.get("audience", FILE["audience"]),
            principal="anonymous" if "anonymous" in person else parts,
            now=self.now - age,
            **request,
        )

    def purpose(self, token):
        """Return the kind of a token, its label, and what it is bound to."""
        purpose = {"kind": token["kind"], "label": token.get("label", "")}
        if "context" in token:
            method, target, arguments = token["context"]
            arguments = "" if arguments is None else json.dumps(arguments)
            (context,) = self._peer.ok(op="context", label=method, session_id=target, payload=arguments)
            purpose["context"] = bytes.fromhex(context)
        return purpose

    def resolved(self, value):
        """Return a value of a transcript, with what it names put in."""
        if isinstance(value, list):
            return [self.resolved(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$token" in value:
            return self._token(value["$token"])
        if "$session" in value:
            return self._session(value)
        if "$handle" in value:
            return self._handle(value["$handle"])
        return {name: self.resolved(member) for name, member in value.items()}

    def _token(self, token):
        if isinstance(token, str):
            return self.tokens[token]
        of = {**self.purpose(token), "payload": token.get("payload", ""), "ttl": token.get("ttl", "")}
        op = "mint-consent" if token["kind"] == "consent" else "seal"
        (made,) = self.asked(op, token, token.get("age", 0), **of)
        made = changed(made, token.get("change"))
        if "name" in token:
            self.tokens[token["name"]] = made
        return made

    def _session(self, named):
        which = named["$session"]
        if isinstance(which, str):
            made, metadata = named, dict(self.sessions[which][named.get("version", -1)])
        else:
            made, metadata = which, self._made_session(which)
        for member in made.get("without", ()):
            metadata.pop(member)
        return metadata[named["member"]] if "member" in named else metadata

    def _made_session(self, made):
        def created(age):
            of = {"payload": made.get("payload", "1"), "ttl": made.get("ttl", "")}
            return json.loads(self.asked("session-create", made, made.get(age, 0), **of)[0])

        metadata = created("idAge" if "idAge" in made else "age")
        if "idAge" in made or "stateOf" in made:
            # An old session whose state is fresh, or the state of another one.
            metadata["state"] = created("age")["state"]
        metadata["state"] = made.get("state", metadata["state"])
        for member, change in (("sessionId", "changeId"), ("state", "changeState")):
            if isinstance(metadata[member], str):
                metadata[member] = changed(metadata[member], made.get(change))
        if "name" in made:
            self.sessions.setdefault(made["name"], []).append(metadata)
        return metadata

    def _handle(self, named):
        if isinstance(named, str):
            return self.handles[named]
        age, label = named.get("age", 0), named["type"]
        if "payload" in named:
            (made,) = self.asked("seal", named, age, kind="handle-state", label=label, payload=named["payload"])
        else:
            op, of = "mint-handle", {}
            if "number" in named:
                op, of = "mint-short-handle", {"payload": str(named["number"])}
            (made,) = self.asked(op, named, age, label=label, **of)
        return changed(made, named.get("change"))
