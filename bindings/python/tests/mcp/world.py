"""The people, keys, tokens, sessions and handles that the transcripts name."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import at

import sealwax
from sealwax.mcp import Principal

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE: dict[str, Any] = json.loads(
    (Path(__file__).parents[4] / "tests/vectors/guard.json").read_text()
)
#: The time when a transcript begins, in Unix seconds.
NOW = 1_800_000_000


def codec(made: dict[str, Any], **limits: Any) -> sealwax.Codec:
    """`key` is ``new`` unless it says ``old`` or ``unknown``; ``both`` is the guard's own ring."""
    keys, name = FILE["keys"], made.get("key", "new")
    ring = f"{keys['new']} {keys['old']}" if name == "both" else keys[name]
    return sealwax.Codec(keys=ring, audience=made.get("audience", FILE["audience"]), **limits)


def principal(who: str) -> Principal | None:
    parts = FILE["people"].get(who)
    return None if parts is None else Principal(**parts)


def view(made: dict[str, Any]) -> sealwax.View:
    limits = {} if made.get("key") == "both" else {"payload_limit": 1 << 16}
    whose = FILE["people"][made.get("as", "alice")]
    return codec(made, **limits).view(**whose)


def context(told: list[Any]) -> bytes:
    method, target, arguments = told
    return sealwax.request_context(method, target, arguments)


def sealer(view: sealwax.View, token: dict[str, Any]) -> sealwax.Sealer:
    if token["kind"] == "request-state":
        return view.request_state(context(token["context"]))
    return view.cursor(token["label"]) if token["kind"] == "cursor" else view.session()


def changed(text: str, change: str | None) -> str:
    if change == "flip":
        # Not the last character, of which some bits may be unused.
        place = len(text) - 5
        return text[:place] + ("b" if text[place] == "a" else "a") + text[place + 1 :]
    return {None: text, "pad": f"{text}=", "cut": text[:-1], "double": text * 2}[change]


class World:
    """The state that a transcript keeps between its events."""

    def __init__(self) -> None:
        self.tokens: dict[str, str] = {}
        #: Every metadata that was seen of a session.
        self.sessions: dict[str, list[dict[str, Any]]] = {}
        self.handles: dict[str, str] = {}
        self.now = NOW

    @contextmanager
    def ago(self, seconds: int) -> Iterator[None]:
        with at((self.now - seconds) * 1000):
            yield

    def resolved(self, value: Any) -> Any:
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

    def _token(self, token: Any) -> str:
        if isinstance(token, str):
            return self.tokens[token]
        with self.ago(token.get("age", 0)):
            made = sealer(view(token), token).seal(token["payload"].encode(), ttl=token.get("ttl"))
        made = changed(made, token.get("change"))
        if "name" in token:
            self.tokens[token["name"]] = made
        return made

    def _session(self, named: dict[str, Any]) -> Any:
        which = named["$session"]
        if isinstance(which, str):
            made = named
            metadata = dict(self.sessions[which][named.get("version", -1)])
        else:
            made, metadata = which, self._made_session(which)
        for member in made.get("without", ()):
            metadata.pop(member)
        return metadata[named["member"]] if "member" in named else metadata

    def _made_session(self, made: dict[str, Any]) -> dict[str, Any]:
        payload = made.get("payload", "1").encode()

        def created(age: str) -> dict[str, Any]:
            with self.ago(made.get(age, 0)):
                return dict(view(made).sessions(ttl=made.get("ttl")).create(payload))

        metadata = created("idAge" if "idAge" in made else "age")
        if "idAge" in made or "stateOf" in made:
            metadata["state"] = created("age")["state"]
        metadata["state"] = made.get("state", metadata["state"])
        for member, change in (("sessionId", "changeId"), ("state", "changeState")):
            if isinstance(metadata[member], str):
                metadata[member] = changed(metadata[member], made.get(change))
        if "name" in made:
            self.sessions.setdefault(made["name"], []).append(metadata)
        return metadata

    def _handle(self, named: Any) -> str:
        if isinstance(named, str):
            return self.handles[named]
        with self.ago(named.get("age", 0)):
            of = view(named)
            if "payload" in named:
                made = of.handle_state(named["type"]).seal(named["payload"].encode())
            else:
                made = of.mint_handle(named["type"])
        return changed(made, named.get("change"))
