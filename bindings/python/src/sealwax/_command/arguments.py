"""The command line, by ``cli/commands.json`` of the repository."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = "python -m sealwax"


class Usage(Exception):
    """The arguments are wrong."""


class _Once(argparse.Action):
    """Refuses a second value: the last one would count, without a word of the others."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        given = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            parser.error(f"{option} cannot be used multiple times")
        given.add(self.dest)
        setattr(namespace, self.dest, True if self.nargs == 0 else values)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message}\n  tip: see {self.prog} --help")


def parsed(version: str) -> tuple[str, dict[str, str]]:
    """Return the words of the command that was given, and its options by name."""
    text = Path(__file__).with_name("commands.json").read_text(encoding="utf-8")
    spec = json.loads(text)
    notes = "\n\n".join(textwrap.fill(note, 79) for note in spec["notes"])
    parser = _Parser(
        PROGRAM,
        description=spec["about"],
        epilog=notes,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"sealwax {version}")
    _add_commands(parser, spec, spec["commands"], "command")
    words, options = [], {}
    for name, value in vars(parser.parse_args()).items():
        if name.startswith("command"):
            words.append(value)
        elif name != "_given" and value is not None and value is not False:
            # What is no UTF-8 is no text of ours either.
            given = "" if value is True else value
            options[name] = given.encode(errors="surrogateescape").decode(errors="replace")
    return " ".join(words), options


def _add_commands(parser: _Parser, spec: Any, entries: Any, level: str) -> None:
    commands = parser.add_subparsers(dest=level, required=True, metavar="COMMAND")
    for entry in entries:
        made = commands.add_parser(
            entry["name"],
            help=_escaped(entry["help"]),
            description=entry["help"],
            allow_abbrev=False,
        )
        for item in _items(spec, entry.get("arguments", ())):
            optional = None if item.get("required") else "?"
            made.add_argument(item["name"], metavar=item["value"], help=_help(item), nargs=optional)
        for item in _items(spec, entry.get("options", ())):
            name = f"--{item['name']}"
            if "value" in item:
                made.add_argument(
                    name,
                    dest=item["name"],
                    metavar=item["value"],
                    help=_help(item),
                    required=item.get("required", False),
                    default=item.get("default"),
                    action=_Once,
                )
            else:
                made.add_argument(name, dest=item["name"], help=_help(item), action=_Once, nargs=0)
        if "commands" in entry:
            _add_commands(made, spec, entry["commands"], f"{level} {entry['name']}")


def _items(spec: Any, listed: Any) -> Iterator[Any]:
    for one in listed:
        if not isinstance(one, str):
            yield one
        elif one in spec["arguments"]:
            yield spec["arguments"][one]
        else:
            yield from _items(spec, spec["groups"][one])


def _help(item: Any) -> str:
    values = f" [one of {', '.join(item['values'])}]" if "values" in item else ""
    default = f" [default: {item['default']}]" if "default" in item else ""
    return _escaped(f"{item['help']}{values}{default}")


def _escaped(text: str) -> str:
    return text.replace("%", "%%")
