"""What depends on keys, by valgrind: each branch and each address, by the line of this project's sources that it is in.

tainted.py EXPECTED PROGRAM: EXPECTED has those lines, and why each is harmless. Another one is a failure, and so is one
that is not found any more. Before, valgrind has to report a comparison that is wrong.
"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Where the compiler puts the sources of crates, relative to the folder that it compiled them in.
KINDS = {"UninitCondition": "branch", "UninitValue": "address"}


def reports(*command):
    """Returns the kind of each report and its frames, innermost first."""
    with tempfile.NamedTemporaryFile(suffix=".xml") as xml:
        options = ["--error-limit=no", "--num-callers=40", "--xml=yes", f"--xml-file={xml.name}"]
        subprocess.run(["valgrind", "--quiet", *options, *command], check=True, stdout=subprocess.DEVNULL)
        for error in ET.parse(xml.name).getroot().iter("error"):
            yield error.findtext("kind"), error.find("stack").findall("frame")


def ours(frames):
    """Returns the innermost line of this project."""
    for frame in frames:
        path = pathlib.Path(frame.findtext("dir", ""), frame.findtext("file", ""))
        if path.is_relative_to(ROOT) and path.is_file():
            line = path.read_text().splitlines()[int(frame.findtext("line")) - 1].strip()
            return f"{path.relative_to(ROOT)}: {line}"
    return f"? {frames[0].findtext('fn')}"


def main(expected, program):
    assert any(kind == "UninitCondition" for kind, _ in reports(program, "naive")), "valgrind sees nothing"
    found = {f"{KINDS.get(kind, kind)} {ours(frames)}" for kind, frames in reports(program)}
    known = {line for line in pathlib.Path(expected).read_text().splitlines() if line and not line.startswith("#")}
    for line in sorted(found - known):
        print(f"depends on a key, and is not in {expected}: {line}")
    for line in sorted(known - found):
        print(f"in {expected}, and found no more: {line}")
    if found != known:
        raise SystemExit(1)
    print(f"figure: {len(found)} lines with {pathlib.Path(expected).stem}")


main(*sys.argv[1:])
