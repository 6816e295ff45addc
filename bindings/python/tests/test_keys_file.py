"""Keys that change while a codec is in use: set, or in a file that it follows."""

import functools
import gc
import itertools
import json
import logging
import os
import signal
import threading
import time
import traceback
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import sealwax
from sealwax import Codec, Key, KeyRing, View
from sealwax._codec import taking_keys

A, B = Key.generate(), Key.generate()
AUDIENCE = "https://mcp.example.com"
LONG = 60
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


def text_of(*keys: Key) -> str:
    return "\n".join(str(key.to_text()) for key in keys)


def replace(path: Path, text: str) -> None:
    new = path.with_name("new")
    new.write_text(text)
    new.replace(path)


def alice(codec: Codec) -> View:
    return codec.view(subject="alice")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(text_of(A))
    return path


def followed(path: Path) -> Codec:
    return Codec(keys_file=path, keys_interval=0.01, audience=AUDIENCE)


def seals(codec: Codec, key: Key) -> bool:
    return sealwax.inspect(alice(codec).session().seal(b"")).key_id == key.id


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_no_view_of_old_keys_is_kept_while_threads_make_views() -> None:
    codec, done = Codec(keys=text_of(A), audience=AUDIENCE), threading.Event()
    rings = KeyRing([B]), KeyRing([A])

    def make() -> None:
        while not done.is_set():
            for user in range(100):
                codec.view(subject=str(user))

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for turn in range(300):
            assert codec.set_keys(rings[turn % 2])
            for user in range(5):
                token = codec.view(subject=str(user)).session().seal(b"")
                assert sealwax.inspect(token).key_id == rings[turn % 2].ids[0]
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_the_logger_hears_of_new_keys_and_once_of_a_bad_file(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "sealwax")
    said, codec = caplog.records, followed(path)
    token = alice(codec).session().seal(b"kept")
    replace(path, text_of(B, A))
    until(lambda: len(said) == 1)
    message = f"keys file {path}: {B.id} seals, {B.id} {A.id} open"
    assert said[0].getMessage() == f"sealwax: keys_changed message={json.dumps(message)}"
    assert (said[0].levelno, vars(said[0])["sealwax_message"]) == (logging.INFO, message)
    half = text_of(A, B)[:80]
    replace(path, half)
    until(lambda: len(said) == 2)
    assert (said[1].levelno, vars(said[1])["sealwax_code"]) == (logging.WARNING, "invalid_key")
    found = vars(said[1])["sealwax_message"]
    assert found.startswith(f"keys file {path}: key 2 of the ring: expected a key text")
    assert found.endswith("; the present keys stay in use")
    assert half[5:30] not in found
    assert alice(codec).session().open(token).needs_reseal
    # It is read again, and said once.
    time.sleep(0.05)
    assert len(said) == 2


def test_a_log_that_fails_does_not_end_the_watch(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(_: logging.LogRecord) -> bool:
        raise RuntimeError("of a test")

    caplog.set_level(logging.INFO, "sealwax")
    codec, logger = followed(path), logging.getLogger("sealwax")
    logger.addFilter(fails)
    try:
        for key in (B, A, B):
            replace(path, text_of(key))
            until(functools.partial(seals, codec, key))
    finally:
        logger.removeFilter(fails)


def test_the_watch_ends_with_its_codec(path: Path) -> None:
    def watches() -> int:
        gc.collect()
        return sum(thread.name == "sealwax-keys" for thread in threading.enumerate())

    # Those of other tests.
    until(lambda: watches() == 0)
    codec = followed(path)
    assert watches() == 1
    gone = weakref.ref(codec)
    del codec
    until(lambda: watches() == 0)
    assert gone() is None


def in_child(check: Callable[[], None]) -> None:
    """Fork, and run `check` in the child."""
    child = os.fork()
    if child == 0:
        signal.alarm(LONG)
        status = 1
        try:
            check()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


@FORKS
def test_processes_that_were_forked_follow_the_file_too(path: Path) -> None:
    # As in a server that loads the application and then forks, while other threads are at work.
    codec, done = followed(path), threading.Event()
    token = alice(codec).session().seal(b"kept")
    rings = itertools.cycle([KeyRing([B]), KeyRing([A])])

    def work() -> None:
        while not done.is_set():
            codec.set_keys(next(rings))
            for _ in range(20):
                codec.view(subject=str(time.monotonic()))

    def has(key: Key) -> None:
        until(lambda: repr(codec).endswith(f"keys {key.id} {A.id}>"))
        assert alice(codec).session().open(token).needs_reseal

    def worker() -> None:
        done.set()
        replace(path, text_of(B, A))
        has(B)
        in_child(lambda: has(B))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            replace(path, text_of(A))
            in_child(worker)
    finally:
        done.set()
        thread.join()
    has(B)


@FORKS
def test_no_fork_happens_while_a_codec_takes_keys() -> None:
    begun, steps = threading.Event(), list[str]()

    def take() -> None:
        with taking_keys:
            begun.set()
            time.sleep(0.1)
            steps.append("taken")

    def check() -> None:
        assert steps == ["taken"]
        # The child can change its keys, too.
        assert Codec(keys=text_of(A), audience=AUDIENCE).set_keys(text_of(B))

    thread = threading.Thread(target=take)
    thread.start()
    begun.wait()
    in_child(check)
    thread.join()


def test_options_of_a_file_are_checked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="found both"):
        Codec(keys=text_of(A), keys_file=path, audience=AUDIENCE)
    for interval in (0, 1e9, float("nan")):
        with pytest.raises(sealwax.InvalidArgument, match="keys_interval"):
            Codec(keys_file=path, keys_interval=interval, audience=AUDIENCE)
    monkeypatch.delenv("SEALWAX_KEYS", raising=False)
    monkeypatch.setenv("SEALWAX_KEYS_FILE", str(path))
    codec = Codec.from_env(audience=AUDIENCE, keys_interval=0.01)
    replace(path, text_of(B))
    until(lambda: repr(codec).endswith(f"keys {B.id}>"))
    assert KeyRing.from_env().ids == KeyRing.read(path).ids == (B.id,)
