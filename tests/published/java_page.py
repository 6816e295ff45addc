"""Type docs/start/java.md in an empty folder, and run it, as a user would: `java_page.py FOLDER`.

A block that begins with a path is that file. Sealwax is what `make java` has installed for Maven.
"""

import pathlib
import re
import shutil
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/start/java.md"
FILE = re.compile(r"^```\w+\n((?://|<!--) (\S+\.\w+)\b.*?\n)^```$", re.MULTILINE | re.DOTALL)
STEPS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"`(java \w+)`:\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main(folder: pathlib.Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    page = PAGE.read_text()
    for content, name in FILE.findall(page):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    (steps,) = STEPS.findall(page)
    programs = PROGRAM.findall(page)
    assert len(programs) == 2, f"expected 2 programs that print, found {len(programs)}"
    # Some builds of Maven write to stdout when they are quiet.
    typed = "\n".join([f"{{ {steps}}} >&2", *(command for command, _ in programs)])
    run = subprocess.run(["sh", "-ec", typed], cwd=folder, capture_output=True, text=True, check=False)
    expected = "".join(text for _, text in programs)
    if run.returncode or run.stdout != expected or "WARN sealwax: unauthentic" not in run.stderr:
        sys.exit(f"{PAGE.name}: expected\n{expected}found exit status {run.returncode}\n{run.stdout}{run.stderr}")
    print(f"{len(programs)} programs of {PAGE.name} print what is said")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).absolute())
