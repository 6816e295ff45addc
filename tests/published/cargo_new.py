"""Compiles the Rust programs of docs/ as a reader would: after `cargo new`, and with the `cargo add` lines of docs/start/rust.md; and
runs the client of that page, whose server is the program of the page of sealwax-rmcp.

The crates of this repository are taken from it, and their dependencies from its lock file and target directory.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs/start/rust.md", ROOT / "adapters/rmcp/README.md", *sorted((ROOT / "docs").glob("*.md"))]
OURS = {"sealwax": ROOT, "sealwax-rmcp": ROOT / "adapters/rmcp"}
BLOCK = re.compile(r"^```rust(?:,no_run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADD = re.compile(r"^cargo add (.+)$", re.MULTILINE)


# Of the vectors.
KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"


def cargo(*arguments, folder, stdout=None):
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "SEALWAX_KEYS": KEY}
    run = subprocess.run(["cargo", *arguments], cwd=folder, env=environment, check=True, stdout=stdout, text=True)
    return run.stdout


def main(work):
    # Outside of this repository: inside, it would be a member of the workspace.
    cargo("new", "--quiet", "--vcs", "none", "notes", folder=work)
    project = pathlib.Path(work) / "notes"
    # The profile by which the dependencies have been compiled.
    manifest = (ROOT / "Cargo.toml").read_text()
    with (project / "Cargo.toml").open("a") as file:
        file.write('\n[lints.rust]\nwarnings = "deny"\n\n' + manifest[manifest.index("[profile.dev]") :])
    shutil.copy(ROOT / "Cargo.lock", project)
    pages = [page.read_text() for page in PAGES]
    for line in ADD.findall(pages[0]):
        words = line.split()
        for name in [word for word in words if word in OURS]:
            words.remove(name)
            cargo("add", "--quiet", "--path", OURS[name], folder=project)
        if words:
            cargo("add", "--quiet", *words, folder=project)
    (project / "src/bin").mkdir()
    programs = [(page, program) for page, text in zip(PAGES, pages, strict=True) for program in BLOCK.findall(text)]
    for number, (page, program) in enumerate(programs):
        named = re.match(r"// (src/bin/\w+\.rs)\n", program)
        file = named[1] if named else f"src/bin/program_{number}.rs" if page != PAGES[1] else "src/main.rs"
        (project / file).write_text(program)
    cargo("build", "--quiet", "--bins", folder=project)
    asked = cargo("run", "--quiet", "--bin", "ask", folder=project, stdout=subprocess.PIPE)
    if asked not in pages[0]:
        sys.exit(f"ask: expected what the page says, found:\n{asked}")
    print(f"{len(programs)} programs: {len(programs)} passed, 0 failed")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder)
