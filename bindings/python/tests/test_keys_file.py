"""Keys that change while a codec is in use: set, or in a file that it follows."""

import gc
import itertools
import json
import logging
import os
import queue
import re
import signal
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sealwax
from sealwax import Codec, Key, KeyRing, View
from sealwax._codec import taking_keys

A, B = Key.generate(), Key.generate()
AUDIENCE = "https://mcp.example.com"
LONG = 60
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
#: What Linux and macOS, Wine, and Windows say of a file that is not there.
ABSENT = re.compile("No such file|(File|Path) not found|The system cannot find")


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


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (b"\xef\xbb\xbf%s", "byte order mark"),
        (b"%s\r", "a CR without LF"),
        (b"# retired\r%s", "a CR without LF"),
        (b"%s # \xff", "UTF-8"),
    ],
)
def test_a_text_that_others_read_otherwise_is_refused(
    wrong: bytes, said: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a file, in the environment, or as a text: the command reads the same keys as a server."""
    path.write_bytes(wrong.replace(b"%s", text_of(A).encode()))
    with pytest.raises(sealwax.InvalidKey, match=said):
        KeyRing.read(path)
    monkeypatch.setenv("SEALWAX_KEYS", os.fsdecode(path.read_bytes()))
    with pytest.raises(sealwax.InvalidKey, match=said):
        KeyRing.from_env()
    if said != "UTF-8":
        with pytest.raises(sealwax.InvalidKey, match=said):
            KeyRing.parse(path.read_bytes().decode())


class Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.said: queue.Queue[logging.LogRecord] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.said.put(record)

    def next(self) -> logging.LogRecord:
        return self.said.get(timeout=LONG)


@pytest.fixture
def log() -> Iterator[Log]:
    log, logger = Log(), logging.getLogger("sealwax")
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    yield log
    logger.removeHandler(log)
    logger.setLevel(logging.NOTSET)


def followed(path: Path) -> Codec:
    return Codec(keys_file=path, keys_interval=0.01, audience=AUDIENCE)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_keys_that_are_set_are_those_of_new_views() -> None:
    codec = Codec(keys=text_of(A), audience=AUDIENCE)
    before, nobody = alice(codec), codec.view(anonymous=True)
    token, public = before.session().seal(b"kept"), nobody.session().seal(b"kept")
    assert not codec.set_keys(text_of(A))
    assert alice(codec) is before
    assert codec.set_keys(KeyRing([B]))
    assert before.session().open(token).payload == b"kept"
    with pytest.raises(sealwax.UnknownKey):
        alice(codec).session().open(token)
    with pytest.raises(sealwax.UnknownKey):
        codec.view(anonymous=True).session().open(public)
    with pytest.raises(sealwax.InvalidKey):
        codec.set_keys("swk1_short")
    assert repr(codec) == f"<Codec {AUDIENCE!r}, keys {B.id}>"
    assert codec.set_keys(f"{B.to_text()} # seals\n{A.to_text()}")
    assert alice(codec).session().open(token).needs_reseal


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


def test_a_codec_follows_its_file_and_keeps_its_keys_while_the_file_is_bad(
    path: Path, log: Log
) -> None:
    codec = followed(path)
    token = alice(codec).session().seal(b"kept")
    replace(path, text_of(B, A))
    record = log.next()
    message = f"keys file {path}: {B.id} seals, {B.id} {A.id} open"
    assert record.levelno == logging.INFO
    assert record.getMessage() == f"sealwax: keys_changed message={json.dumps(message)}"
    assert record.__dict__["sealwax_code"] == "keys_changed"
    assert record.__dict__["sealwax_message"] == message
    assert alice(codec).session().open(token).needs_reseal

    half = text_of(A, B)[:80]
    for bad, said in (
        (half, "key 2 of the ring: expected a key text"),
        ("", "expected 1 to 16 keys, found none"),
        (None, None),
        ("#" * 70_000, "expected at most 65,536 bytes"),
    ):
        if bad is None:
            path.unlink()
        else:
            replace(path, bad)
        record = log.next()
        found = record.__dict__["sealwax_message"]
        assert record.levelno == logging.WARNING
        assert record.__dict__["sealwax_code"] == "invalid_key"
        reason = found.removeprefix(f"keys file {path}: ")
        assert ABSENT.match(reason) if said is None else reason.startswith(said)
        assert found.endswith("; the present keys stay in use")
        assert half[5:30] not in found
        assert alice(codec).session().open(token).needs_reseal
        # It is read again, and said once.
        time.sleep(0.05)
        assert log.said.empty()
    replace(path, text_of(B))
    assert log.next().levelno == logging.INFO
    with pytest.raises(sealwax.UnknownKey):
        alice(codec).session().open(token)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_mounted_secret_is_followed_through_its_links(tmp_path: Path, log: Log) -> None:
    for name, keys in (("one", [A]), ("two", [B, A])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "keys").write_text(text_of(*keys))
    (tmp_path / "..data").symlink_to("one")
    (tmp_path / "keys").symlink_to("..data/keys")
    codec = followed(tmp_path / "keys")
    (tmp_path / "..data_tmp").symlink_to("two")
    (tmp_path / "..data_tmp").replace(tmp_path / "..data")
    assert "keys_changed" in log.next().getMessage()
    assert B.id in repr(codec)


def test_the_watch_ends_with_its_codec(path: Path, log: Log) -> None:
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
    replace(path, "none")
    assert log.said.empty()


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
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
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
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
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


def test_the_environment_names_a_file_or_has_the_keys(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_text(text_of(B, A))

    def codec_of(keys: str, file: str) -> Codec:
        monkeypatch.setenv("SEALWAX_KEYS", keys)
        monkeypatch.setenv("SEALWAX_KEYS_FILE", file)
        return Codec.from_env(audience=AUDIENCE, skew=30, keys_interval=0.01)

    token = alice(codec_of(text_of(A), "")).session().seal(b"kept")
    codec = codec_of("", str(path))
    assert alice(codec).session().open(token).needs_reseal
    assert KeyRing.from_env().ids == KeyRing.read(path).ids == (B.id, A.id)
    replace(path, text_of(A))
    until(lambda: repr(codec).endswith(f"keys {A.id}>"))
    for keys, file, said in (
        (text_of(A), str(path), "found more than one"),
        ("", "", "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE"),
        ("", text_of(A), "^keys file: expected a path, found the text of a key: that belongs"),
        ("", "/nowhere/keys", f"keys file /nowhere/keys: ({ABSENT.pattern})"),
    ):
        with pytest.raises(sealwax.InvalidKey, match=said):
            codec_of(keys, file)


def test_options_of_a_file_are_checked(path: Path) -> None:
    with pytest.raises(sealwax.InvalidArgument, match="found both"):
        Codec(keys=text_of(A), keys_file=path, audience=AUDIENCE)
    for interval in (0, -1, 1e9, float("nan")):
        with pytest.raises(sealwax.InvalidArgument, match="keys_interval"):
            Codec(keys_file=path, keys_interval=interval, audience=AUDIENCE)
