"""Requests, principals, inspection of texts, and the client's answer to a refusal."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _json
from ._errors import InvalidArgument, Refused
from ._native import (
    call,
    call_for_text,
    fail,
    ffi,
    lib,
    pair,
    plain,
    string,
    text,
    untrusted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The part of the protocol in which a refused token came.
Profile = Literal[
    "sep-1359",
    "data-layer",
    "data-layer-required",
    "request-state",
    "cursor",
    "mcp-session-id",
    "handle",
]


def answer(
    profile: Profile, error: BaseException | None = None, *, session_id: str | None = None
) -> dict[str, Any]:
    """Return the answer to send to the client.

    ``{"error": ...}`` holds a JSON-RPC error object, ``{"httpStatus": ...}`` a bare status, and
    ``{"toolResult": ...}`` the result of a tool call. All refusals of a profile get the same
    answer, also with no `error` given, so that a client cannot learn which check failed. Any other
    error is an internal error. `session_id` is the client's: it is echoed only if the profile does
    so, and only if it is well formed.

    >>> import sealwax
    >>> sealwax.answer("cursor")
    {'error': {'code': -32602, 'message': 'Invalid cursor'}}
    """
    # Not by its code: a ledger's refusals, and an author's own, have none of C's.
    is_refusal = error is None or isinstance(error, Refused)
    status = lib.SEALWAX_OK if is_refusal else lib.SEALWAX_INTERNAL_ERROR
    echoed = None if session_id is None else untrusted("session_id", session_id)
    arguments = *pair(text("profile", profile)), status, *pair(echoed)
    found: dict[str, Any] = json.loads(
        call_for_text(lib.sealwax_answer, *arguments, capacity=lib.SEALWAX_ANSWER_MAX)
    )
    return found


def request_context(
    method: str,
    target: str,
    arguments: Any = None,
    *,
    arguments_json: str | None = None,
    only: Sequence[str] | None = None,
) -> bytes:
    """Return the 32 bytes that identify a request.

    `target` is the ``name`` of ``tools/call`` and ``prompts/get``, the ``uri`` of
    ``resources/read``. `arguments` is any JSON value, or `arguments_json` its text as it came;
    ``None`` differs from ``{}``. `only` names the arguments that count; the others may differ from
    one round to the next, and are ignored.

    Raises :class:`InvalidArgument` for arguments that languages read differently: a number of
    magnitude 2^53 or more, NaN, a key twice in an object, a lone surrogate, more than 100 levels;
    and for arguments with none of the names in `only`.

    >>> import sealwax
    >>> asked = sealwax.request_context("tools/call", "delete_note", {"id": 7})
    >>> asked == sealwax.request_context("tools/call", "delete_note", arguments_json='{"id":7.0}')
    True
    """
    if arguments is not None and arguments_json is not None:
        raise TypeError("expected arguments or arguments_json, found both")
    if arguments_json is not None:
        written = text("arguments_json", arguments_json)
    else:
        written = _json.dumps("arguments", arguments)
    parts = *pair(text("method", method)), *pair(text("target", target)), *pair(written)
    try:
        out_params = _out_params.pop()
    except IndexError:
        place = ffi.new("uint8_t (*)[32]")
        out_params = place, ffi.new("sealwax_error *"), ffi.buffer(place)
    context, error, found = out_params
    if only is None:
        failed = _request_context(*parts, context, error)
    else:
        names = [ffi.new("char[]", _name(name)) for name in _names(only)]
        failed = lib.sealwax_request_context_only(*parts, names, len(names), context, error)
    if failed:
        fail(error)
    made: bytes = found[:]
    _out_params.append(out_params)
    return made


_request_context = lib.sealwax_request_context
#: Free outputs: a context, an error, and a buffer over the context. `pop` and `append` are atomic.
_out_params: list[tuple[Any, Any, Any]] = []


def _names(only: Sequence[str]) -> Sequence[str]:
    if isinstance(only, str):
        raise TypeError("only: expected a list of names, found str")
    return only


def _name(name: str) -> bytes:
    written = text("only", name)
    if b"\0" in written:
        raise InvalidArgument("only: expected names without NUL")
    return written


class TokenFields(NamedTuple):
    """The places where the messages of a method carry a token."""

    #: The kind of token; the label of a cursor is the method.
    kind: Literal["request-state", "cursor"]
    #: The member of ``params`` in which it comes back.
    param: str
    #: The member of the result in which it leaves.
    result: str
    #: The member of ``params`` that names the target of a ``requestState``'s request.
    target: str | None
    #: Whether its handler may make such a token, and does not run without a caller.
    needs_caller: bool


# Clients choose the methods, so the cache is bounded in number and in length.
_REMEMBERED = 64


@lru_cache(maxsize=_REMEMBERED)
def _token_fields(method: str) -> TokenFields | None:
    name = pair(untrusted("method", method))
    found = json.loads(
        call_for_text(lib.sealwax_token_fields, *name, capacity=lib.SEALWAX_TOKEN_FIELDS_MAX)
    )
    return found and TokenFields(
        found["kind"], found["param"], found["result"], found["target"], found["needsCaller"]
    )


def token_fields(method: str) -> TokenFields | None:
    """Return the places where the messages of `method` carry a token. For adapters.

    >>> import sealwax
    >>> sealwax.token_fields("tools/list").result
    'nextCursor'
    """
    method = plain("method", method)
    find = _token_fields if len(method) <= _REMEMBERED else _token_fields.__wrapped__
    return find(method)


class Principal(NamedTuple):
    """An authenticated caller: a subject, a client, or both. :meth:`Codec.view` takes the parts."""

    issuer: str | None = None
    client: str | None = None
    subject: str | None = None


def principal_from_claims(claims: Mapping[str, Any]) -> Principal:
    """Return the principal of the claims of a verified JWT, or of an introspection response.

    Takes ``iss`` and ``sub``, which are required, and ``client_id``, or else ``azp``, if present
    (RFC 9068 §2.2, RFC 7662 §2.2, OpenID Connect Core §2). Every language uses this rule, so that
    a user is the same principal at every replica.

    Raises :class:`InvalidArgument` if ``iss`` or ``sub`` is missing, and for a part that is not a
    text, is empty or is over 1,024 bytes.

    >>> import sealwax
    >>> claims = {"iss": "https://idp.example.com", "sub": "alice", "azp": "cli-7"}
    >>> sealwax.principal_from_claims(claims)
    Principal(issuer='https://idp.example.com', client='cli-7', subject='alice')
    """
    try:
        # No others: they may hold what is no JSON.
        known = ("iss", "sub", "client_id", "azp")
        written = _json.dumps("claims", {k: v for k, v in dict(claims).items() if k in known})
    except ValueError:
        raise TypeError(f"claims: expected a mapping, found {type(claims).__name__}") from None
    found = call_for_text(
        lib.sealwax_principal_from_claims, *pair(written), capacity=lib.SEALWAX_PRINCIPAL_MAX
    )
    return Principal(**json.loads(found))


class Inspected(NamedTuple):
    """The claims of a text about itself. None of them is verified."""

    #: The kind of text.
    what: Literal["token", "session-id", "handle", "key"]
    #: The id of the key that made it, or that it is; ``None`` for a handle.
    key_id: str | None = None
    #: The kind of a token, such as ``request-state``.
    kind: str | None = None
    #: The id of a token in hex digits: :attr:`Opened.token_id`.
    token_id: str | None = None
    #: The type of a handle.
    handle_type: str | None = None
    #: The creation time of a session id or a handle, in Unix milliseconds.
    created_at_ms: int | None = None


def inspect(value: str) -> Inspected:
    """Return what a text is: a sealed token, a session id, a handle or a key text.

    >>> import sealwax
    >>> key = sealwax.Key.generate()
    >>> sealwax.inspect(key.to_text()) == sealwax.Inspected("key", key.id)
    True
    """
    seen = ffi.new("sealwax_inspection *")
    call(lib.sealwax_inspect, *pair(untrusted("value", value)), seen)
    key_id = bytes(seen.key_id).hex()
    if seen.what == lib.SEALWAX_IS_TOKEN:
        kind, token_id = string(lib.sealwax_kind_name(seen.kind)), bytes(seen.token_id).hex()
        return Inspected("token", key_id, kind, token_id)
    if seen.what == lib.SEALWAX_IS_SESSION_ID:
        return Inspected("session-id", key_id, created_at_ms=seen.created_at_ms)
    if seen.what == lib.SEALWAX_IS_HANDLE:
        handle_type = bytes(seen.handle_type)[: seen.handle_type_len].decode()
        return Inspected("handle", handle_type=handle_type, created_at_ms=seen.created_at_ms)
    return Inspected("key", key_id)
