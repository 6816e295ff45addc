"""Servers of MCP as processes, that say on stderr where they listen."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from typing import Any
from urllib.parse import urlsplit


class Server:
    """A server on a port of its own, from `with` on."""

    def __init__(self, name: str, command: list[str], env: dict[str, str]) -> None:
        self.name = name
        self.url = ""
        #: What it wrote on stderr.
        self.said: list[str] = []
        self._command = command
        self._env = {**os.environ, "PORT": "0", **env}

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            self._command, env=self._env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for line in self._process.stderr:
            self.said.append(line)
            if found := re.search(r"listening on (http://\S+)", line):
                self.url = found[1]
                # A full pipe would stop it.
                threading.Thread(target=self.said.extend, args=[self._process.stderr], daemon=True).start()
                return self
        sys.exit(f"{self.name} ended before it listened:\n{''.join(self.said)}")

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it as a machine ends that loses its power."""
        self._process.kill()
        self._process.wait()


def post(url: str, path: str, headers: dict[str, str], message: dict[str, Any]) -> dict[str, Any]:
    """Send a JSON-RPC message to a server, and return the one that answers it; a response may be a stream of events."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
    connection.request("POST", path, json.dumps(message), headers)
    body = connection.getresponse().read().decode()
    events = [line.removeprefix("data:") for line in body.splitlines() if line.startswith("data:")]
    return json.loads(next((event for event in reversed(events) if '"jsonrpc"' in event), body))


def key_id(sealwax: str, text: str) -> str:
    """Return the id of the key that made a token, or of a key, by the command."""
    command = [*shlex.split(sealwax), "inspect", "--json"]
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return json.loads(found)["key_id"]


def keygen(sealwax: str) -> str:
    """Make a key by the command."""
    return subprocess.run([*shlex.split(sealwax), "keygen"], capture_output=True, text=True, check=True).stdout.strip()
