"""Prints the notices that the licences of a crate's dependencies require it to include.

`crate_notices.py PACKAGE [options of cargo tree]`; it needs nothing but cargo.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
#: How the names of licence files begin.
NAMES = ("copying", "copyright", "licence", "license", "notice", "unlicense")
#: For crates without a licence file, and for the standard library.
MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE."""


def notices(package: str, *options: str) -> str:
    """Return them, as the text of a file."""
    # `cargo metadata` lists the crates of the whole workspace.
    tree = cargo("tree", "--edges=normal", "--prefix=none", "--format={p}", "--package", package, *options)
    used = {f"{name} {version}" for name, version in re.findall(r"^(\S+) v(\S+)", tree, re.MULTILINE)}
    standard = "the Rust standard library"
    listed = [f"{standard}: MIT OR Apache-2.0 https://github.com/rust-lang/rust"]
    # Many crates share one text.
    crates = collections.defaultdict(list, {f"Copyright (c) The Rust Project Contributors\n\n{MIT}": [standard]})
    for crate in json.loads(cargo("metadata", "--format-version=1"))["packages"]:
        named = f"{crate['name']} {crate['version']}"
        # Those of the workspace have no source.
        if crate["source"] is None or named not in used:
            continue
        for text in texts(crate):
            crates[text].append(named)
        listed.append(f"{named}: {crate['license'] or 'see below'} {crate['repository'] or ''}".rstrip())
    parts = [f"{package} is built from these, under their licences:\n\n" + "\n".join(sorted(listed))]
    parts += [f"\n{'-' * 80}\nOf {', '.join(sorted(set(crates[text])))}:\n\n{text}" for text in sorted(crates)]
    return "\n".join(parts) + "\n"


def texts(crate: dict) -> list[str]:
    """Return the texts of a crate's licences, and of those of code that it bundles."""
    folder = pathlib.Path(crate["manifest_path"]).parent
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.name.lower().startswith(NAMES) and file.suffix != ".rs" and file.is_file()
    )
    found = [
        "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8").strip().splitlines()) for file in files
    ]
    if found:
        return found
    if "MIT" not in re.split("[ /]", crate["license"] or ""):
        sys.exit(f"{crate['name']} {crate['version']}: expected the text of {crate['license']!r}, found none")
    holders = ", ".join(crate["authors"]) or f"the authors of {crate['name']}"
    return [f"Copyright (c) {holders}\n\n{MIT}"]


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.stdout.write(notices(*sys.argv[1:]))
