"""Tries all tests of their crate on the mutants that were missed, and the transcripts on those of the engine.

Usage: python3 survivors.py TREE OUTPUT CRATE OPTION…, the options of `cargo test`. Those that are killed move from missed.txt to
caught.txt in OUTPUT, which is cargo-mutants' own. (It cannot try a chosen few: `--re` chooses every deleted field.)
"""

import json
import pathlib
import subprocess
import sys

EXAMPLE = ("cargo", "build", "--quiet", "--package=sealwax-mcp", "--all-features", "--example")
PLAY = ("python3", "tests/driver/run.py", "engine", "target/debug/examples/engine-scenario", "--first")


def passes(tree: pathlib.Path, crate: str, options: list[str]) -> bool:
    # A mutant may run for ever.
    tests = ["timeout", "600", "cargo", "test", "--quiet", f"--package={crate}", *options, "--tests"]
    if subprocess.run(tests, cwd=tree, capture_output=True, check=False).returncode != 0:
        return False
    if crate != "sealwax-mcp":
        return True
    subprocess.run([*EXAMPLE, "engine-scenario"], cwd=tree, check=True)
    return subprocess.run(PLAY, cwd=tree, capture_output=True, check=False).returncode == 0


def survives(tree: pathlib.Path, file: pathlib.Path, diff: pathlib.Path, crate: str, options: list[str]) -> bool:
    right = file.read_bytes()
    try:
        subprocess.run(["patch", "--quiet", file, diff], check=True)
        return passes(tree, crate, options)
    finally:
        file.write_bytes(right)


def main(tree: pathlib.Path, output: pathlib.Path, crate: str, options: list[str]) -> None:
    # It makes the tokens of the transcripts.
    subprocess.run([*EXAMPLE, "interop-peer"], cwd=tree, check=True)
    if not passes(tree, crate, options):
        sys.exit("the tests fail without any mutant")
    for one in json.loads((output / "outcomes.json").read_text())["outcomes"]:
        if one["summary"] != "MissedMutant":
            continue
        mutant = one["scenario"]["Mutant"]
        if not survives(tree, tree / mutant["file"], output / one["diff_path"], crate, options):
            missed = (output / "missed.txt").read_text().replace(mutant["name"] + "\n", "")
            (output / "missed.txt").write_text(missed)
            with (output / "caught.txt").open("a") as caught:
                caught.write(mutant["name"] + "\n")


if __name__ == "__main__":
    tree, output, crate, *options = sys.argv[1:]
    main(pathlib.Path(tree), pathlib.Path(output), crate, options)
