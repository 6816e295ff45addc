"""Run the examples of Go in the documents, as a user would: `go_documents.py FOLDER`.

A block that begins with `// NAME/FILE.go` is that file. All are vetted, and tests are run. A block of text is what the program
before it prints.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ("docs/start/go.md", "docs/testing.md", "bindings/go/README.md")
GO_MOD = f"""module example.com/notes

go 1.25.0

require github.com/sealwax/sealwax-go v0.0.0

replace github.com/sealwax/sealwax-go => {ROOT / "bindings/go"}
"""
# A key for these programs alone.
KEYS = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"


def go(*arguments: str, folder: pathlib.Path) -> str:
    environment = {**os.environ, "SEALWAX_KEYS": KEYS}
    run = subprocess.run(["go", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout


def try_document(document: str, folder: pathlib.Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(GO_MOD)
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
    go("mod", "tidy", folder=folder)
    go("vet", "./...", folder=folder)
    go("test", "./...", folder=folder)
    for name, expected in outputs.items():
        printed = go("run", f"./{name}", folder=folder)
        assert printed == expected, f"{document}, {name}: expected {expected!r}, found {printed!r}"
    return len(outputs)


def main(folder: str) -> None:
    run = sum(try_document(document, pathlib.Path(folder) / pathlib.Path(document).stem) for document in DOCUMENTS)
    assert run == 3, f"expected 3 programs that print, found {run}"
    print(f"{run} programs of the documents print what is said")


if __name__ == "__main__":
    main(sys.argv[1])
