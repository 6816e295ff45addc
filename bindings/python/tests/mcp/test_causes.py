"""What the log says of what failed: a code and a class, and none of its text."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import pytest

from sealwax._cause import named

SECRET = "hunter2"


class Failed(Exception):
    """An error of an author's."""

    def __init__(self, **members: Any) -> None:
        super().__init__(SECRET)
        vars(self).update(members)


class Raising(Exception):
    @property
    def code(self) -> str:
        raise RuntimeError(SECRET)


def caused(error: BaseException, *, by: BaseException, how: str) -> BaseException:
    """Return an error that was raised from another, or while that was handled."""
    try:
        try:
            raise by
        except BaseException:
            if how == "context":
                raise error  # noqa: B904
            raise error from (by if how == "cause" else None)
    except BaseException as raised:
        return raised


def refused() -> OSError:
    """Return the error of a port at which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(OSError) as raised:  # noqa: PT011
            socket.create_connection(bound.getsockname(), timeout=5)
    return raised.value


def untrusted() -> ssl.SSLError:
    error = ssl.SSLCertVerificationError(1, SECRET)
    error.reason = "CERTIFICATE_VERIFY_FAILED"
    return error


@pytest.mark.parametrize("how", ["cause", "context"])
def test_the_code_is_that_of_what_caused_it(how: str) -> None:
    assert named(refused()) == "ECONNREFUSED (ConnectionRefusedError)"
    error = caused(Failed(), by=caused(ValueError(SECRET), by=refused(), how=how), how=how)
    assert named(error) == "ECONNREFUSED (Failed)"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (Failed(), "Failed"),
        (Failed(code=SECRET, reason=7), "Failed"),
        (Failed(code="WRONGPASS"), "WRONGPASS (Failed)"),
        (Failed(code=f"WRONGPASS {SECRET}"), "Failed"),
        (Failed(exceptions=[Failed(code="LOADING")]), "LOADING (Failed)"),
        (Failed(exceptions=SECRET), "Failed"),
        (Raising(), "Raising"),
        (TimeoutError(), "TimeoutError"),
        (socket.gaierror(socket.EAI_NONAME, SECRET), "EAI_NONAME (gaierror)"),
        (untrusted(), "CERTIFICATE_VERIFY_FAILED (SSLCertVerificationError)"),
        # What it was raised from none of has nothing to do with it.
        (caused(Failed(), by=OSError(111, SECRET), how="none"), "Failed"),
    ],
)
def test_what_is_no_code_is_not_told(error: BaseException, said: str) -> None:
    assert named(error) == said


def test_causes_in_a_circle_end() -> None:
    one, other = Failed(), Failed()
    one.__cause__, other.__cause__ = other, one
    assert named(one) == "Failed"
