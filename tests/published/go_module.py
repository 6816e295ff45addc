"""Use the Go module as a reader does, outside of this repository: `go_module.py REPOSITORY FOLDER`.

REPOSITORY is what `make -C release go` has written. Git gets it in place of the one on GitHub, so that `go get` reads its tag, and
everything else comes as always. The programs of the module's README and of docs/start/go.md are built; those without a server run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "bindings/go/README.md", ROOT / "docs/start/go.md"]
PROGRAM = re.compile(r"^```go\n(package main\n.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = "github.com/sealwax/sealwax-go"
# The first of the vectors.
KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"


def main(repository, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = {
        **os.environ,
        "SEALWAX_KEYS": KEY,
        # No proxy and no database of sums has it.
        "GOPRIVATE": MODULE,
        "GOMODCACHE": str(folder / "modules"),
        "GOFLAGS": "-modcacherw",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.file://{repository}.insteadOf",
        "GIT_CONFIG_VALUE_0": f"https://{MODULE}",
    }

    def go(*arguments, at):
        return subprocess.run(
            ["go", *arguments], cwd=at, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )

    version = subprocess.run(
        ["git", "describe", "--tags"], cwd=repository, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    programs = [program for page in PAGES for program in PROGRAM.findall(page.read_text())]
    assert programs, "no program in the pages"
    for number, program in enumerate(programs, 1):
        project = folder / f"program_{number}"
        project.mkdir()
        (project / "main.go").write_text(program)
        go("mod", "init", f"example.com/program_{number}", at=project)
        go("get", f"{MODULE}@{version}", at=project)
        go("mod", "tidy", at=project)
        go("vet", ".", at=project)
        go("build", "-o", "program", ".", at=project)
        if "Serve" not in program and "Run(" not in program:
            print(go("run", ".", at=project).stdout, end="")
    # What its own tests need is in it.
    released = go("list", "-m", "-f", "{{.Dir}}", MODULE, at=folder / "program_1").stdout.strip()
    go("test", "-short", "./...", at=released)
    print(f"{len(programs)} programs, and the module's tests: {len(programs) + 1} passed, 0 failed")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).absolute() for argument in sys.argv[1:]))
