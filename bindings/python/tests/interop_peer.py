"""One language of the interop run: a request a line on stdin, its answer a line on stdout."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import sealwax

if TYPE_CHECKING:
    from collections.abc import Callable


def text(of: str) -> str:
    return bytes.fromhex(of).decode()


#: What stands between tabs, and how it is read.
FIELDS: dict[str, Callable[[str], Any]] = {
    "op": str,
    "ring": text,
    "audience": text,
    "principal": lambda of: None if of == "anonymous" else text(of),
    "kind": str,
    "label": text,
    "session_id": text,
    "context": bytes.fromhex,
    "ttl": str,
    "payload": bytes.fromhex,
    "token": text,
    "max_age": lambda of: int(of) if of else None,
}


class Request(SimpleNamespace):
    @classmethod
    def parse(cls, line: str) -> Request:
        fields = zip(FIELDS.items(), line.rstrip("\n").split("\t"), strict=True)
        return cls(**{name: read(of) for (name, read), of in fields})

    def view(self) -> sealwax.View:
        codec = sealwax.Codec(keys=self.ring, audience=self.audience)
        if self.principal is None:
            return codec.view(anonymous=True)
        issuer, client, subject = (part or None for part in self.principal.split("\0"))
        return codec.view(issuer=issuer, client=client, subject=subject)

    def sealer(self) -> sealwax.Sealer:
        view = self.view()
        if self.kind == "state":
            return view.state(self.session_id)
        if self.kind == "request-state":
            return view.request_state(self.context)
        if self.kind == "session":
            return view.session()
        if self.kind == "cursor":
            return view.cursor(self.label)
        if self.kind == "handle-state":
            return view.handle_state(self.label)
        session_id, context = self.session_id or None, self.context or None
        return view.custom(self.label, session_id=session_id, context=context)

    def lifetime(self) -> dict[str, Any]:
        if self.ttl == "none":
            return {"no_expiry": True}
        return {"ttl": int(self.ttl)} if self.ttl else {}


def answer(request: Request) -> tuple[Any, ...]:
    op = request.op
    if op == "seal":
        return (request.sealer().seal(request.payload, **request.lifetime()),)
    if op in ("open", "renew"):
        sealer = request.sealer()
        opened = sealer.open(request.token, max_age=request.max_age)
        if op == "renew":
            return (sealer.renew(opened, request.payload, **request.lifetime()),)
        needs_reseal = int(opened.needs_reseal)
        return opened.payload.hex(), opened.generation, needs_reseal, opened.token_id
    if op == "mint-session-id":
        return (request.view().mint_session_id(),)
    if op == "mint-handle":
        return (request.view().mint_handle(request.label),)
    if op == "verify-session-id":
        found = request.view().verify_session_id(request.token, max_age=request.max_age)
        return found.created_at_ms, int(found.needs_reseal)
    if op == "verify-handle":
        view = request.view()
        handle = view.verify_handle(request.label, request.token, max_age=request.max_age)
        return handle.created_at_ms, int(handle.needs_reseal)
    sessions = request.view().sessions(**request.lifetime())
    if op == "session-create":
        return (json.dumps(sessions.create(request.payload)),)
    session = sessions.open(json.loads(request.token))
    if op == "session-renew":
        return (json.dumps(sessions.renew(session, request.payload)),)
    if op == "session-fork":
        return (json.dumps(sessions.fork(session)),)
    return session.payload.hex(), session.generation


for line in sys.stdin:
    try:
        print("ok", *answer(Request.parse(line)), sep="\t", flush=True)
    except sealwax.SealwaxError as error:
        print("error", error.code, sep="\t", flush=True)
