"""A codec for servers that keep the SDK's own boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.request_state import InvalidRequestState

from .. import InvalidArgument, Principal, SealwaxError

if TYPE_CHECKING:
    from .. import Codec, Sealer
    from ._principal import Anonymous

_LABEL = "mcp-request-state-envelope"


class EnvelopeCodec:
    """Seals the envelope of the SDK's boundary, for its ``RequestStateSecurity(codec=...)``.

    Prefer a :class:`Guard`. This codec adds the keys of ``SEALWAX_KEYS``, their rotation, and a
    limit on the size. It binds tokens to the codec's audience and keys, and to one `principal` for
    all requests. The SDK writes the request, the user and the expiry into its envelope and checks
    them in its own format, so replicas in other languages cannot read it. Cursors and handles are
    not sealed.

    Not for FastMCP: ``ctx.request_state`` of FastMCP 4.1 also takes a client's ``request_state``,
    which the SDK's boundary does not open, so that anyone can forge it. A :class:`Guard` refuses
    such a request.

    >>> import sealwax, sealwax.mcp
    >>> from mcp.server import MCPServer
    >>> from mcp.server.request_state import RequestStateSecurity
    >>> keys = sealwax.KeyRing([sealwax.Key.generate()])
    >>> codec = sealwax.Codec(keys=keys, audience="https://mcp.example.com")
    >>> envelope = sealwax.mcp.EnvelopeCodec(codec=codec, principal="anonymous")
    >>> security = RequestStateSecurity(codec=envelope)
    >>> server = MCPServer("notes", request_state_security=security)
    """

    def __init__(self, *, codec: Codec, principal: Principal | Anonymous) -> None:
        if principal != "anonymous" and not isinstance(principal, Principal):
            raise InvalidArgument('principal: expected a Principal, or "anonymous" by that name')
        self._codec = codec
        self._parts: Any = {"anonymous": True} if principal == "anonymous" else principal._asdict()
        self._sealer()

    def _sealer(self) -> Sealer:
        # Each time: the codec's keys may change.
        return self._codec.view(**self._parts).custom(_LABEL)

    def seal(self, payload: bytes) -> str:
        """Seal an envelope, which has its own time to live."""
        return self._sealer().seal(payload, no_expiry=True)

    def unseal(self, token: str) -> bytes:
        """Open an envelope, or raise the SDK's ``InvalidRequestState`` with our code."""
        try:
            return self._sealer().open(token).payload
        except SealwaxError as error:
            raise InvalidRequestState(error.code) from error
