"""The content of a transport session's token."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._documents import DeliverStep


@dataclass(frozen=True, slots=True)
class Negotiated:
    """The negotiation of client and server when the session began."""

    protocol_version: str
    client_capabilities: dict[str, Any]
    #: ``name`` and ``version``.
    client_info: dict[str, str]
    server_capabilities: dict[str, Any]
    #: The id of the session's token, for logs.
    id: str
    #: The session's end, in Unix seconds.
    expires_at: int | None


def negotiated(step: DeliverStep) -> Negotiated | None:
    """Return the negotiation of a message's session, if it has one."""
    text, token_id = step.get("negotiated"), step.get("id")
    if text is None or token_id is None:
        return None
    settled = json.loads(text)
    return Negotiated(
        settled["protocolVersion"],
        settled.get("clientCapabilities"),
        settled.get("clientInfo"),
        settled.get("serverCapabilities"),
        token_id,
        step.get("expiresAt"),
    )
