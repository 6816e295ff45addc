"""Shows that no source file imports one that stands above it, so that there is no circle of imports: in Rust, Python and TypeScript.
The format (src/format) imports nothing around it.

What a file of Rust imports is told by its `use` lines and paths; a file of Python or TypeScript by its import statements, also those for
types alone. Go's compiler refuses a circle of packages itself; Java's files are not read.
"""

import ast
import graphlib
import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUST = ["src", "mcp/src", "cli/src", "adapters/rmcp/src", "bindings/c/src", "bindings/wasm/src"]
PYTHON = ["bindings/python/src/sealwax"]
TYPESCRIPT = ["pkg/src"]
FORMAT = ROOT / "src/format"

Graph = dict[pathlib.Path, set[pathlib.Path]]


def modules(folder: pathlib.Path) -> dict[tuple[str, ...], pathlib.Path]:
    """Return the files of a crate by the paths of their modules."""
    found = {}
    for file in folder.rglob("*.rs"):
        parts = file.relative_to(folder).with_suffix("").parts
        found[parts[:-1] if parts[-1] in {"mod", "lib", "main"} else parts] = file
    return found


def paths(tree: str) -> Iterator[str]:
    """Return each path of a `use` tree, such as `a::{b, c::d}`."""
    head, _, rest = tree.partition("{")
    if not rest:
        yield head.split(" as ")[0].strip()
        return
    depth, start, inside = 0, 0, rest.rstrip().removesuffix("}")
    for at, char in enumerate(inside + ","):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            if branch := inside[start:at].strip():
                yield from paths(head.strip() + branch)
            start = at + 1


def rust(folder: pathlib.Path) -> Graph:
    files = modules(folder)
    # The face of the crate: the names that its root exports, and their modules.
    face = {}
    for tree in re.findall(r"^pub use ([^;]*);", files[()].read_text(), re.MULTILINE):
        for path in paths(tree):
            *where, name = path.split("::")
            face[name] = tuple(where)
    graph: Graph = {}
    for module, file in files.items():
        code = re.sub(r"//[^\n]*", "", file.read_text()).split("#[cfg(test)]\nmod tests")[0]
        named = [path for tree in re.findall(r"\buse ([^;]*);", code) for path in paths(" ".join(tree.split()))]
        named += re.findall(r"\b(?:crate|super)(?:::\w+)+", re.sub(r"\buse [^;]*;", "", code))
        graph[file] = set()
        for path in named:
            first, *rest = path.split("::")
            at = list(module)
            if first == "crate":
                at = []
            elif first == "super":
                at.pop()
                while rest and rest[0] == "super":
                    at.pop()
                    rest.pop(0)
            elif first != "self":
                at, rest = at, [first, *rest]
            target = (*at, *rest)
            if not at and rest and rest[0] in face and first in {"crate", "super"}:
                target = (*face[rest[0]], *rest)
            while target and target not in files:
                target = target[:-1]
            # A module and its own parts are one thing, and every module is in its crate.
            other = files[target]
            if target and other != file and target != module[: len(target)] and module != target[: len(module)]:
                graph[file].add(other)
    return graph


def python(folder: pathlib.Path) -> Graph:
    graph: Graph = {}
    for file in folder.rglob("*.py"):
        graph[file] = set()
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = file.parents[node.level - 1].joinpath(*(node.module or "").split(".") if node.module else [])
            for name in node.names:
                for target in (base / f"{name.name}.py", base.with_suffix(".py"), base / "__init__.py"):
                    if target.exists():
                        graph[file] |= {target} - {file}
                        break
    return graph


def typescript(folder: pathlib.Path) -> Graph:
    named = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.js['"]""")
    return {
        file: {
            (file.parent / f"{name}.ts").resolve()
            for name in named.findall(file.read_text())
            # What is built is not there.
            if (file.parent / f"{name}.ts").exists()
        }
        for file in folder.rglob("*.ts")
    }


def circle(graph: Graph) -> list[pathlib.Path]:
    """Return files that import each other, directly or not, if there are some."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def main() -> None:
    graphs = [rust(ROOT / folder) for folder in RUST] + [python(ROOT / folder) for folder in PYTHON]
    graphs += [typescript(ROOT / folder) for folder in TYPESCRIPT]
    found = list(filter(None, map(circle, graphs)))
    inside = {file for file in graphs[0] if FORMAT in file.parents}
    climbing = [file for file in inside if graphs[0][file] - inside]
    for file in climbing:
        print("expected an import of the format, found one above it:", file)
    for files in found:
        print("these import each other:", *(str(file).removeprefix(f"{ROOT}/") for file in files))
    if sum(map(len, graphs)) < 150 or sum(len(to) for graph in graphs for to in graph.values()) < 300:
        sys.exit("found too few files or imports")
    if found or climbing or not inside:
        sys.exit(1)
    print(f"{sum(map(len, graphs))} files: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
