"""Code that a type checker accepts; an ignore that hides no error is an error itself."""

from __future__ import annotations

import sealwax


def accepted(codec: sealwax.Codec) -> None:
    alice: sealwax.View = codec.view(subject="alice", issuer="https://idp.example.com")
    token: str = alice.cursor("tools/list").seal(bytearray(b"page 2"), ttl=60)
    payload: bytes = alice.cursor("tools/list").open(token, max_age=60).payload
    expires_at: int | None = alice.session().open(token).expires_at
    created: sealwax.SessionMetadata = alice.sessions(no_expiry=True).create(payload)
    session_id: str = created["sessionId"]
    sealwax.answer("data-layer", sealwax.Expired(), session_id=session_id)
    print(expires_at)


def refused(codec: sealwax.Codec) -> None:
    codec.view("alice")  # type: ignore[call-overload]
    codec.view(subject="alice", anonymous=True)  # type: ignore[call-overload]
    codec.view(anonymous=True).session().seal("text")  # type: ignore[arg-type]
    codec.view(anonymous=True).state()  # type: ignore[call-arg]
    codec.view(anonymous=True).session().seal(b"", 60)  # type: ignore[call-arg]
    sealwax.answer("http")  # type: ignore[arg-type]
