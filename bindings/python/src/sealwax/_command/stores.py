"""The stores of ledgers, by the clients that the user has: ``redis`` or ``valkey``, ``sqlite3``."""

from __future__ import annotations

import importlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sealwax._cause import named
from sealwax.ledger import LedgerError, SQLite

#: The time limit to connect to a store, and for a command, in seconds.
_LIMIT = 5


class Stores:
    """What a command is connected to."""

    def __init__(self) -> None:
        self._connection: Any = None

    def redis(self, url: str, send: list[str]) -> dict[str, Any]:
        """Return the answer of a Redis or a Valkey to a command."""
        try:
            place = urlsplit(url)
            invalid = place.scheme != "unix" and (place.hostname is None or place.port == 0)
        except ValueError:
            invalid = True
        if invalid:
            return {"invalid": True}
        try:
            if self._connection is None:
                self._connection = _connected(url)
            self._connection.send_command(*send)
            found = self._connection.read_response()
        except ModuleNotFoundError:
            return {
                "failed": "no client for Redis: expected the package redis or valkey",
                "tip": "pip install redis",
            }
        except Exception as error:
            return _told_error(error)
        if found is None:
            return {"absent": True}
        if isinstance(found, int):
            return {"number": found}
        return {"texts": found} if isinstance(found, list) else {"text": found}

    def query(self, path: str, sql: str, parameters: list[str]) -> dict[str, Any]:
        """Return the first value of a query to a file, which is only read."""
        if not Path(path).exists():
            return {"absent": True}
        try:
            address = f"{Path(path).absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as file:
                row = file.execute(sql, parameters).fetchone()
        except sqlite3.Error as error:
            return {"failed": f"sqlite: {error}"}
        return {"texts": [] if row is None else [str(row[0])]}

    def run(self, path: str, command: dict[str, Any]) -> dict[str, Any]:
        """Return the reply of the ledger in a file, which is made if it is missing."""
        try:
            with closing(SQLite(path)) as ledger:
                return {"texts": ledger._run(command)}
        except (LedgerError, sqlite3.Error) as error:
            return {"failed": str(error)}


def _connected(url: str) -> Any:
    try:
        name, client = "redis", importlib.import_module("redis")
    except ModuleNotFoundError:
        name, client = "valkey", importlib.import_module("valkey")
    pool = client.ConnectionPool.from_url(
        url,
        decode_responses=True,
        socket_timeout=_LIMIT,
        socket_connect_timeout=_LIMIT,
        # Nothing is sent a second time.
        retry=importlib.import_module(f"{name}.retry").Retry(
            importlib.import_module(f"{name}.backoff").NoBackoff(), 0
        ),
    )
    connection = pool.make_connection()
    connection.connect()
    return connection


def _told_error(error: BaseException) -> dict[str, Any]:
    """Return the code of an error; the message of a client's may hold the URL."""
    kind = type(error)
    if "ResponseError" in [one.__name__ for one in kind.__mro__]:
        # The client's classes are named after the codes, which their texts lack.
        name = kind.__name__.removesuffix("Error").upper()
        return {"error": str(error) if name == "RESPONSE" else f"{name} {error}"}
    return {"failed": named(error)}
