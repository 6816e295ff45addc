"""Runs the fuzz targets, and keeps the inputs that are worth it: what `make -C tests/fuzz` calls.

    fuzz.py FOLDER run PROGRAM SECONDS JOBS   all targets in turn, JOBS at once, from the kept inputs on; prints a table
    fuzz.py FOLDER keep PROGRAM               adds a smallest part of what was found to `inputs`, by the edges it reaches
    fuzz.py FOLDER unpack                     writes the kept inputs as files

An input is a line of hex in `inputs/TARGET.hex`, where a new target begins with an empty file; libFuzzer has them as files in
`FOLDER/corpus/TARGET`.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
TARGETS = sorted(path.stem for path in (HERE / "inputs").glob("*.hex"))
# Longer inputs find little more, and take longer.
MAX_LEN = 600
LONGEST = f"-max_len={MAX_LEN}"


def kept(target: str) -> list[bytes]:
    return [bytes.fromhex(line) for line in (HERE / "inputs" / f"{target}.hex").read_text().splitlines()]


def strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            yield from (text for item in value for text in strings(item))
        case dict():
            yield from (text for item in value.values() for text in strings(item))


def seeds(target: str) -> list[bytes]:
    """Return what no fuzzer guesses, of the vectors, as their targets read it."""
    vectors = json.loads((HERE.parent / "vectors/v1.json").read_text())
    texts = [text for text in strings(vectors) if len(text) < MAX_LEN]
    match target:
        case "foreign":
            return [text.encode() for text in texts if re.match(r"sw|[a-z0-9]+_", text) or "swk1_" in text]
        case "arguments":
            # No member is named.
            return [bytes(5) + text.encode() for text in texts if text.startswith(("{", "["))]
        case "wire":
            return list(wired())
    return []


def wired() -> Iterator[bytes]:
    """Yield the bytes of the wire's cases, as its target reads them: over HTTP, in two ways, and as lines of stdio."""
    cases = json.loads((HERE.parent / "vectors/wire.json").read_text())["cases"]
    for case in cases:
        texts = [text.encode() for text in strings(case) if text[:1] in "{[:dei\ufeff" and len(text) > 5]
        came = texts[: len(case.get("lines", "1"))]
        for bits in (0x0202, 0x060A, 0x8002):
            head = bits.to_bytes(2, "little") + bytes([3, 1, 4, 1, 5, 9])
            yield head + b"\n".join(came) + b"\xff" + b"\n".join(texts)


def unpack(corpus: pathlib.Path) -> None:
    for target in TARGETS:
        folder = corpus / target
        folder.mkdir(parents=True, exist_ok=True)
        for line in kept(target) + seeds(target):
            (folder / hashlib.sha1(line).hexdigest()).write_bytes(line)


def environment(target: str) -> dict[str, str]:
    return {**os.environ, "TARGET": target}


def one(folder: pathlib.Path, program: pathlib.Path, target: str, seconds: int) -> tuple[str, int]:
    log = folder / "logs" / f"{target}.txt"
    command = [program, f"-max_total_time={seconds}", LONGEST, "-len_control=10", "-timeout=20", "-rss_limit_mb=2048"]
    command += ["-print_final_stats=1", "-use_value_profile=1", f"-artifact_prefix={folder}/crashes/{target}-"]
    with log.open("w") as out:
        command.append(folder / "corpus" / target)
        ended = subprocess.run(command, env=environment(target), stdout=out, stderr=out, check=False)
    return log.read_text(errors="replace"), ended.returncode


def row(target: str, said: str, status: int) -> str:
    last = ([line for line in said.splitlines() if re.match(r"#\d+\t", line)] or [""])[-1]
    number = lambda name: (re.findall(rf"{name}:? (\d+)", last) or ["?"])[0]  # noqa: E731
    runs = (re.findall(r"^#(\d+)\t", last) or ["?"])[0]
    return f"{target:12} {runs:>12} {number('cov'):>8} {number('ft'):>8} {number('corp'):>8}   {'ok' if status == 0 else 'FAULT'}"


def run(folder: pathlib.Path, program: pathlib.Path, seconds: int, jobs: int) -> int:
    for part in ("logs", "crashes"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    unpack(folder / "corpus")
    share = max(1, seconds * jobs // len(TARGETS))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        ended = list(pool.map(lambda target: (target, *one(folder, program, target, share)), TARGETS))
    table = [f"{'target':12} {'executions':>12} {'edges':>8} {'features':>8} {'corpus':>8}   {share} s each"]
    table += [row(*each) for each in ended]
    text = "\n".join(table) + "\n"
    (folder / "table.txt").write_text(text)
    print(text, end="")
    for target, said, status in ended:
        if status:
            print(f"\n{target}:\n" + said[-4000:])
    failed = any(status for *_, status in ended)
    if not failed:
        runs = sum(int(line.split()[1]) for line in table[1:])
        print(f"figure: {len(ended)} targets, {runs:,} executions in {share} s each")
    return int(failed)


def keep(folder: pathlib.Path, program: pathlib.Path) -> None:
    unpack(folder / "corpus")
    for target in TARGETS:
        small = folder / "small" / target
        small.mkdir(parents=True, exist_ok=True)
        for old in small.iterdir():
            old.unlink()
        command = [program, "-set_cover_merge=1", "-use_counters=0", LONGEST, small, folder / "corpus" / target]
        nothing = subprocess.DEVNULL
        subprocess.run(command, env=environment(target), stdout=nothing, stderr=nothing, check=True)
        # The smallest first.
        found = {file.read_bytes() for file in small.iterdir()}
        # Edges tell little of what this one reads.
        found |= set(seeds(target)) if target == "arguments" else set()
        inputs = sorted(found, key=lambda line: (len(line), line))
        (HERE / "inputs" / f"{target}.hex").write_text("".join(line.hex() + "\n" for line in inputs))
        print(f"{target}: {len(inputs)} inputs, {sum(map(len, inputs))} bytes")


def main() -> int:
    folder, what, *rest = sys.argv[1:]
    path = pathlib.Path(folder).resolve()
    os.environ.setdefault("RUST_BACKTRACE", "0")
    match what, rest:
        case "run", [program, seconds, jobs]:
            return run(path, pathlib.Path(program), int(seconds), int(jobs))
        case "keep", [program]:
            keep(path, pathlib.Path(program))
        case "unpack", []:
            unpack(path / "corpus")
        case _:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
