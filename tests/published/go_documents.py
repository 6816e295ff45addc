"""Run the examples of Go in the documents, as a user would: `go_documents.py FOLDER [REPOSITORY]`.

A block that begins with `// NAME/FILE.go` is that file. All are vetted. A block of text is what the program
before it prints.

With REPOSITORY, which `make -C release go` has written, the module is not that of this repository: `go get` reads it there, by its
tag, as if it were the one on GitHub. Its own tests run too.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ("docs/start/go.md",)
MODULE = "github.com/sealwax/sealwax-go"
# A key for these programs alone.
ENVIRONMENT = {**os.environ, "SEALWAX_KEYS": "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"}


def run(*command: str, folder: pathlib.Path) -> str:
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True, check=True).stdout


def from_repository(repository: pathlib.Path, folder: pathlib.Path) -> str:
    """Let git and Go find the module there; return its version."""
    ENVIRONMENT.update(
        # No proxy and no database of sums has it.
        GOPRIVATE=MODULE,
        GOMODCACHE=str(folder / "modules"),
        GOFLAGS="-modcacherw",
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0=f"url.file://{repository.absolute()}.insteadOf",
        GIT_CONFIG_VALUE_0=f"https://{MODULE}",
    )
    return run("git", "describe", "--tags", folder=repository).strip()


def try_document(document: str, folder: pathlib.Path, version: str | None) -> int:
    folder.mkdir(parents=True)
    run("go", "mod", "init", "example.com/notes", folder=folder)
    if version:
        run("go", "get", f"{MODULE}@{version}", folder=folder)
    else:
        run("go", "mod", "edit", f"-replace={MODULE}={ROOT / 'bindings/go'}", folder=folder)
    text = (ROOT / document).read_text()
    outputs = {}
    name = None
    for kind, content in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if kind == "go" and (found := re.match(r"// (\w+)/(\w+\.go)\n", content)):
            name = found[1]
            (folder / name).mkdir()
            (folder / name / found[2]).write_text(content)
        elif kind == "text" and name:
            outputs[name] = content
    run("go", "mod", "tidy", folder=folder)
    run("go", "vet", "./...", folder=folder)
    run("go", "test", "./...", folder=folder)
    if (folder / "keygen").is_dir():
        ENVIRONMENT["SEALWAX_KEYS"] = run("go", "run", "./keygen", folder=folder).strip()
    for name, expected in outputs.items():
        printed = run("go", "run", f"./{name}", folder=folder)
        assert printed == expected, f"{document}, {name}: expected {expected!r}, found {printed!r}"
    return len(outputs)


def main(folder: pathlib.Path, repository: pathlib.Path | None = None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    version = from_repository(repository, folder) if repository else None
    projects = [folder / pathlib.Path(document).stem for document in DOCUMENTS]
    printed = sum(try_document(document, folder, version) for document, folder in zip(DOCUMENTS, projects, strict=True))
    assert printed == 1, f"expected a program that prints, found {printed}"
    if version:
        released = run("go", "list", "-m", "-f", "{{.Dir}}", MODULE, folder=projects[0]).strip()
        run("go", "test", "-short", "./...", folder=pathlib.Path(released))
    print(f"{printed} program of the documents prints what is said")


if __name__ == "__main__":
    main(*(pathlib.Path(argument).absolute() for argument in sys.argv[1:]))
