"""Stands between an official client and a server on stdio, and speaks SEP-1359 for the client.

`sep1359_shim.py TRANSCRIPT COMMAND...`. What the server says is written to the transcript. A call
of the tool `restart` is answered here: it kills the server and starts another.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any


class Shim:
    def __init__(self, transcript: str, command: list[str]) -> None:
        self._transcript, self._command = transcript, command
        self._session: str | None = None
        self._writing = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._server = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._relay, args=(self._server.stdout,))
        self._reader.start()

    def _relay(self, lines: Any) -> None:
        for line in lines:
            with open(self._transcript, "a") as transcript:
                transcript.write(line)
            message = json.loads(line)
            message.pop("sessionId", None)
            if isinstance(message.get("result"), dict):
                found = message["result"].pop("sessionId", None)
                message["result"].pop("sessionTimeout", None)
                self._session = found or self._session
            self._say(message)

    def _say(self, message: Any) -> None:
        with self._writing:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def run(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if (message.get("params") or {}).get("name") == "restart":
                self._stop()
                self._start()
                result = {"content": [], "isError": False}
                self._say({"jsonrpc": "2.0", "id": message["id"], "result": result})
                continue
            if self._session is not None:
                message["sessionId"] = self._session
            assert self._server.stdin is not None
            self._server.stdin.write(json.dumps(message) + "\n")
            self._server.stdin.flush()
        self._stop()

    def _stop(self) -> None:
        self._server.kill()
        self._server.wait()
        self._reader.join()


if __name__ == "__main__":
    Shim(sys.argv[1], sys.argv[2:]).run()
