"""One exception for each code."""

from __future__ import annotations


class SealwaxError(Exception):
    """The reason why something failed: for the server's log, never for the client.

    The client gets a fixed answer: see :func:`answer`. No message holds a key, a token or a
    payload.

    >>> import sealwax
    >>> try:
    ...     sealwax.KeyRing.parse("swk1_short")
    ... except sealwax.SealwaxError as error:
    ...     print(error.code)
    invalid_key
    """

    #: Stable: the same in every language and every release.
    code: str


class InvalidArgument(SealwaxError):
    """The caller's own mistake; the message says what was expected."""

    code = "invalid_argument"


class InvalidKey(SealwaxError):
    """A key text or a ring that cannot be used."""

    code = "invalid_key"


class EntropyUnavailable(SealwaxError):
    """The system gave no randomness, so nothing was sealed."""

    code = "entropy_unavailable"


class InternalError(SealwaxError):
    """A fault in sealwax itself."""

    code = "internal_error"


class Refused(SealwaxError):
    """A token was refused, as opposed to a mistake or a failure on the server's side.

    Only a refusal may make a client discard its session.
    """


class TooLarge(Refused):
    """A token, or a payload, over its limit."""

    code = "too_large"


class Unsupported(Refused):
    """A later version of the format, or a kind of token that version 1 does not define."""

    code = "unsupported"


class Malformed(Refused):
    """Not a token of this format, or not in its one valid spelling."""

    code = "malformed"


class WrongPurpose(Refused):
    """A token of another kind, or a handle of another type, than asked for."""

    code = "wrong_purpose"


class UnknownKey(Refused):
    """Sealed under a key that the ring does not hold: retired, or never known here."""

    code = "unknown_key"


class Unauthentic(Refused):
    """Forged, altered, or bound to something else; these cannot be told apart."""

    code = "unauthentic"


class PrincipalMismatch(Refused):
    """Authentic, but issued to somebody else."""

    code = "principal_mismatch"


class NotYetValid(Refused):
    """Issued further in the future than the allowed clock tolerance."""

    code = "not_yet_valid"


class Expired(Refused):
    """Past its own lifetime or the given maximum age."""

    code = "expired"


by_code = {
    error.code: error
    for parent in (SealwaxError, Refused)
    for error in parent.__subclasses__()
    if error is not Refused
}
