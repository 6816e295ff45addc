"""The archives of the C library: what their users build with them links, and runs where it can."""

import pathlib
import shutil

from read import facts
from systems import ROOT, System, Target, output

C = ROOT / "bindings/c/tests"
PROGRAMS = ("vectors", "nonces")
#: The first of the vectors.
KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"


def zig(target: Target) -> str:
    """Return the target by zig's name, which has the oldest system."""
    machine, _, kind = target.triple.partition("-")
    system = "macos" if target.macos else "windows-gnu" if target.windows else kind.removeprefix("unknown-")
    return f"{machine}-{system}{'.' if target.oldest else ''}{target.oldest}"


class Library:
    """An unpacked archive."""

    def __init__(self, target: Target, root: pathlib.Path, programs: pathlib.Path, compiler: list[str]) -> None:
        self.target, self.root, self.programs = target, root, programs
        self.compiler = [*compiler, "-target", zig(target), "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        self.windows = target.windows
        self.suffix = ".exe" if self.windows else ""
        programs.mkdir(parents=True)

    @property
    def libraries(self) -> pathlib.Path:
        """Return where the shared library is; on Windows it stands beside the program."""
        return self.root / "lib"

    def link(self, form: str) -> list[str]:
        """Return what links with a form of the library."""
        lib = self.root / "lib"
        if form == "static":
            more = [] if self.target.macos else ["-lunwind"]
            return [f"{lib}/libsealwax.a", *more]
        if self.windows:
            return [f"{lib}/{'sealwax.lib' if form == 'msvc' else 'libsealwax.dll.a'}"]
        # Without -dynamic zig's programs for musl are static.
        return [f"-L{lib}", "-lsealwax", *(["-dynamic"] if self.target.musl else [])]

    def build(self, source: pathlib.Path, form: str, *more: str | pathlib.Path) -> pathlib.Path:
        program = self.programs / f"{source.stem}-{form}{self.suffix}"
        link = self.link(form)
        output([*self.compiler, f"-I{self.root}/include", source, *more, *link, "-o", program])
        return program

    def test(self, name: str, form: str) -> pathlib.Path:
        """Build a test, with the clock and the randomness in its hands."""
        if self.windows:
            environment = [C / "environment_windows.c", "-ldbghelp", "-pthread"]
        else:
            environment = [C / "environment.c", "-rdynamic", "-pthread"]
        return self.build(C / f"{name}.c", form, *environment)

    def run(self, system: System, program: pathlib.Path, form: str, stdin: str = "") -> str:
        libraries = None if form == "static" else self.libraries
        return system.run(program, libraries=libraries, stdin=stdin, cwd=self.programs, variables={"SEALWAX_KEYS": KEY})


def forms(target: Target) -> tuple[str, ...]:
    """Return how a program can link: with the import library of either linker on Windows."""
    return ("shared", "msvc", "static") if target.windows else ("shared", "static")


def trial(library: Library, system: System | None, vectors: str) -> tuple[str, str]:
    """Return what the file tells, and what ran."""
    target = library.target
    read = facts(library.root / target.shared, target)
    quickstart, expected = ROOT / "examples/quickstart.c", (C / "quickstart.txt").read_text()
    examples = {form: library.build(quickstart, form) for form in forms(target)}
    if system is None:
        return read, "the quick start links"
    if target.windows:
        shutil.copy(library.root / target.shared, library.programs)
    for form, example in examples.items():
        told = library.run(system, example, form)
        assert told == expected, told
        if form != "shared":
            library.run(system, library.test("vectors", form), form, vectors)
    for name in PROGRAMS:
        library.run(system, library.test(name, "shared"), "shared", vectors)
    linked = ", ".join({"msvc": "`.lib`"}.get(form, form) for form in forms(target)[1:])
    return read, f"the C tests; {linked}: vectors; the quick start"
