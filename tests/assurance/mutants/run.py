"""Makes the mutants of cargo-mutants, one after another, in a copy of the repository, and looks whether some test fails.

Usage: python3 run.py SET K/N, of N parts of the set the one of number K. What became of each stands in build/mutants/SET.txt.

Why no test fails for those that may survive: survivors.txt. Any other one is told, and the exit status is 1.

A mutant is compiled first; then come the tests that kill most in a second or two, and for what is left all tests of its crate.
"""

import collections
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/mutants"
TREE = BUILD / "tree"
#: For libtest's option, which stable Rust has under this name.
FAIL_FAST = ("--", "-Zunstable-options", "--fail-fast")
SLOW = ("nonces::", "clones::", "keys_file::", "no_changed_character")
NOT_IN_WASM = ("nonces::", "canonical::")
#: A `Debug` that prints nothing: that it prints no secret is shown elsewhere.
DEBUG = "impl .*Debug for .*::fmt"
WASM = {
    "CARGO_BUILD_TARGET": "wasm32-wasip1",
    "CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS": "-Ctarget-feature=+simd128",
    "CARGO_TARGET_WASM32_WASIP1_RUNNER": f"node --no-warnings {ROOT}/tests/wasi.mjs",
}


def skipping(names: tuple[str, ...]) -> list[str]:
    return [part for name in names for part in ("--skip", name)]


@dataclasses.dataclass
class Set:
    files: tuple[str, ...]
    options: tuple[str, ...]
    #: What is compiled first, and what is run: a program, or options of `cargo test`.
    compiled: tuple[str, ...] = ("test", "--no-run", "--test=codec")
    quick: tuple[str, ...] = ("--test=codec", *FAIL_FAST, *skipping(SLOW))
    #: How many seconds that may take.
    limit: int = 120
    whole: tuple[str, ...] | None = ("--tests", *FAIL_FAST)
    #: What is not mutated.
    elsewhere: str = DEBUG
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


CORE = ("--package=sealwax", "--profile=mutants")
ENGINE = ("--package=sealwax-mcp", "--profile=mutants-mcp")
PLAY = ("python3", "tests/driver/run.py", "engine", "target/mutants-mcp/examples/engine-scenario", "--first")
SETS = {
    "core": Set(
        ("src/**",), (*CORE, "--features=serde,testing"), elsewhere=f"cipher/(by_(host|ring|simd128)|chacha20)|{DEBUG}"
    ),
    # Code that a feature turns on.
    "features": Set(("src/format/cipher/by_ring.rs", "src/format/base64url.rs"), (*CORE, "--features=ring,simd")),
    "wasm": Set(
        ("src/format/cipher/chacha20.rs", "src/format/cipher/by_simd128.rs"),
        (*CORE, "--features=hazmat"),
        quick=("--test=codec", "--", *skipping(NOT_IN_WASM)),
        limit=600,
        whole=None,
        environment=WASM,
    ),
    "engine": Set(
        ("mcp/src/**",), (*ENGINE, "--all-features"), compiled=("build", "--example=engine-scenario"), quick=PLAY
    ),
}


def run(command: list[str], seconds: int) -> bool:
    """Run a command, and return whether it succeeds in time: a mutant may run for ever."""
    return (
        subprocess.run(["timeout", str(seconds), *command], cwd=TREE, capture_output=True, check=False).returncode == 0
    )


class Trial:
    def __init__(self, of: Set) -> None:
        self._of = of

    def _cargo(self, command: str, *rest: str) -> list[str]:
        return ["cargo", command, "--quiet", "--config=tests/assurance/mutants/profile.toml", *self._of.options, *rest]

    def outcome(self) -> str:
        """Return what becomes of the tree as it is."""
        of = self._of
        if not run(self._cargo(*of.compiled), 600):
            return "does not compile"
        if not run([*of.quick] if of.quick is PLAY else self._cargo("test", *of.quick), of.limit):
            return "killed"
        if of.whole and not run(self._cargo("test", *of.whole), 300):
            return "killed"
        return "survived"

    def with_mutant(self, mutant: dict[str, str]) -> str:
        file = TREE / mutant["file"]
        right = file.read_bytes()
        try:
            subprocess.run(["patch", "--quiet", file], input=mutant["diff"], text=True, check=True)
            return self.outcome()
        finally:
            file.write_bytes(right)


def copied() -> None:
    """Copy the repository; what was compiled of an earlier commit stays."""
    TREE.mkdir(parents=True, exist_ok=True)
    for path in TREE.iterdir():
        if path.is_file():
            path.unlink()
        elif path.name != "target":
            shutil.rmtree(path)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, TREE / name)


def mutants(of: Set) -> list[dict[str, str]]:
    files = [part for file in of.files for part in ("--file", file)]
    command = ["cargo", "mutants", "--list", "--json", "--diff", of.options[0], *files]
    found = json.loads(subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout)
    return [one for one in found if not re.search(of.elsewhere, one["name"])]


def main(name: str, part: str) -> None:
    of = SETS[name]
    copied()
    # Random cases are for what no example was thought of; sixteen of each find most faults, and all run in `make test`.
    os.environ.update({"PROPTEST_CASES": "16", "CARGO_INCREMENTAL": "1", **of.environment})
    if name != "wasm":
        # A mutant may allocate for ever. A module in Node cannot, and Node reserves more than it uses.
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    trial = Trial(of)
    if of.quick is PLAY:
        # It makes the tokens of the transcripts.
        peer = ["cargo", "build", "--quiet", "--package=sealwax-mcp", "--example=interop-peer"]
        subprocess.run(peer, cwd=TREE, check=True)
    if trial.outcome() != "survived":
        sys.exit("the tests fail without any mutant")
    number, parts = map(int, part.split("/"))
    counts: collections.Counter[str] = collections.Counter()
    argued = pathlib.Path(__file__).with_name("survivors.txt").read_text().splitlines()
    unargued = []
    with (BUILD / f"{name}.txt").open("w") as told:
        for mutant in mutants(of)[number::parts]:
            outcome = trial.with_mutant(mutant)
            counts[outcome] += 1
            print(f"{outcome}: {mutant['name']}", file=told, flush=True)
            if outcome == "survived" and re.sub(r":\d+:\d+", "", mutant["name"]) not in argued:
                unargued.append(mutant["name"])
    for outcome, count in counts.items():
        print(f"figure: {count} {outcome}")
    if unargued:
        sys.exit("\n".join(["survived, and are not in survivors.txt:", *unargued]))


if __name__ == "__main__":
    main(*sys.argv[1:])
