"""What a program or a library says of itself: its machine, the oldest system that it runs on, and what it needs."""

import pathlib
import re
import sys
from typing import Any

import lief

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "release"))
from targets import Target

#: What every system of the kind has.
GLIBC = re.compile(r"lib(c|m|dl|pthread|rt|util)\.so\.\d|libgcc_s\.so\.1|ld-linux-[\w-]+\.so\.\d")
SYSTEM = re.compile(r"/usr/lib/libSystem\.B\.dylib")
#: Of which the command, which asks for the roots of trust, needs more.
MACOS = re.compile(r"/usr/lib/lib(System\.B|iconv\.2|objc\.A)\.dylib|/System/Library/Frameworks/\S+")
WINDOWS = re.compile(
    r"(api-ms-win-[\w-]+|kernel32|ntdll|bcryptprimitives|bcrypt|advapi32|userenv|ws2_32|crypt32|secur32|shell32|ole32)"
    r"\.dll",
    re.IGNORECASE,
)


def facts(file: pathlib.Path, target: Target) -> str:
    """Return what the file says of itself; fail if that is not what the target promises."""
    binary: Any = lief.parse(file)
    expect(binary is not None, f"{file.name}: expected a program or a library")
    machine = str(binary.abstract.header.architecture).rpartition(".")[2]
    expect(machine == {"x86_64": "X86_64", "aarch64": "ARM64"}[target.triple.partition("-")[0]], machine)
    read = macho if target.macos else pe if target.windows else elf
    return read(binary, target, file.name)


def elf(binary: Any, target: Target, name: str) -> str:
    needed = [str(library) for library in binary.libraries]
    if ".so" in name:
        expect(binary[lief.ELF.DynamicEntry.TAG.SONAME].name == "libsealwax.so.1", f"{name}: SONAME")
    if target.musl:
        # A program is static; a library takes the C library from whoever loads it.
        expect(
            needed == (["libc.so"] if ".so" in name else []) and not binary.has_interpreter, f"{name} needs {needed}"
        )
        return "needs `libc.so` alone" if needed else "static: needs no library"
    expect(all(GLIBC.fullmatch(library) for library in needed), f"{name} needs {needed}")
    versions = {
        str(asked.name).removeprefix("GLIBC_")
        for library in binary.symbols_version_requirement
        for asked in library.get_auxiliary_symbols()
        if str(asked.name).startswith("GLIBC_")
    }
    newest = max(versions, key=number)
    expect(number(newest) <= number(target.oldest), f"{name} asks for glibc {newest}, its target is {target.oldest}")
    return f"asks for glibc {newest}"


def macho(binary: Any, target: Target, name: str) -> str:
    oldest = ".".join(map(str, binary.build_version.minos[:2]))
    expect(oldest == target.oldest, f"{name} is for macOS {oldest}, its target is {target.oldest}")
    needed = []
    for library in binary.libraries:
        if library.command == lief.MachO.LoadCommand.TYPE.ID_DYLIB:
            expect(library.name == "@rpath/libsealwax.1.dylib", f"{name} is installed as {library.name}")
        else:
            needed.append(library.name)
    allowed = SYSTEM if name.endswith(".dylib") else MACOS
    expect(all(allowed.fullmatch(library) for library in needed), f"{name} needs {needed}")
    expect(binary.has_code_signature or target.triple.startswith("x86_64"), f"{name} has no signature")
    installed = ", install name `@rpath/libsealwax.1.dylib`" if name.endswith(".dylib") else ""
    return f"macOS {oldest}{installed}"


def pe(binary: Any, target: Target, name: str) -> str:
    needed = [str(library.name) for library in binary.imports]
    expect(all(WINDOWS.fullmatch(library) for library in needed), f"{name} needs {needed}")
    # By its imports: `bcryptprimitives.dll` and the Universal C Runtime.
    return f"needs {len(needed)} libraries, all of Windows 10"


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def expect(condition: bool, otherwise: str) -> None:
    if not condition:
        raise AssertionError(otherwise)
