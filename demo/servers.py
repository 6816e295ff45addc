"""Servers of MCP as processes, that say on stderr where they listen."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import threading


class Server:
    """A server on a port of its own, from `with` on."""

    def __init__(self, name: str, command: list[str], env: dict[str, str]) -> None:
        self.name = name
        self.url = ""
        self._command = command
        self._env = {**os.environ, "PORT": "0", **env}

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            self._command, env=self._env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        said = []
        for line in self._process.stderr:
            said.append(line)
            if found := re.search(r"listening on (http://\S+)", line):
                self.url = found[1]
                # Nobody else reads what it logs, and a full pipe would stop it.
                threading.Thread(target=self._process.stderr.read, daemon=True).start()
                return self
        sys.exit(f"{self.name} ended before it listened:\n{''.join(said)}")

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End it as a machine ends that loses its power."""
        self._process.kill()
        self._process.wait()


def keygen(sealwax: str) -> str:
    """Make a key by the command."""
    return subprocess.run([*shlex.split(sealwax), "keygen"], capture_output=True, text=True, check=True).stdout.strip()
