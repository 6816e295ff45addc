"""No two nonces alike: threads that share a codec, and a child process that inherits it."""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode
from concurrent.futures import ThreadPoolExecutor

import pytest

import sealwax

EACH = 20_000
SEALER = (
    sealwax.Codec(keys=sealwax.KeyRing([sealwax.Key.generate()]), audience="a")
    .view(anonymous=True)
    .session()
)


def nonces(count: int) -> list[bytes]:
    """The first 19 bytes of the nonce of each token, from what the text begins with."""
    return [urlsafe_b64decode(SEALER.seal(b"")[4:36])[5:] for _ in range(count)]


def test_threads_share_a_codec() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = [nonce for part in threads.map(nonces, [EACH // 8] * 8) for nonce in part]
    assert len(set(found)) == EACH


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_a_child_shares_no_nonce_with_its_parent() -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(b"".join(nonces(EACH)))
        os._exit(0)
    os.close(writing)
    mine = nonces(EACH)
    with os.fdopen(reading, "rb") as pipe:
        written = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    size = len(mine[0])
    theirs = [written[at : at + size] for at in range(0, len(written), size)]
    assert len(theirs) == EACH
    assert len({*mine, *theirs}) == 2 * EACH
