"""The functions of the C library: those of the header, and those that a built library exports."""

import pathlib
import re
import sys

import lief

HEADER = pathlib.Path(__file__).resolve().parents[1] / "bindings/c/include/sealwax.h"


def declared() -> set[str]:
    return set(re.findall(r"\b(sealwax_\w+)\(", HEADER.read_text()))


def exported(library: pathlib.Path) -> set[str]:
    read = lief.parse(library)
    if read is None:
        sys.exit(f"{library}: expected a library")
    names = {str(function.name) for function in read.exported_functions}
    # Mach-O's names have an underscore more than C's.
    return {name.removeprefix("_") for name in names} if isinstance(read, lief.MachO.Binary) else names


def definitions() -> str:
    """Return what to export, as Windows' linkers read it."""
    return "\n".join(["EXPORTS", *sorted(declared()), ""])


def check(library: pathlib.Path) -> None:
    """Fail unless the library exports the functions of the header, and nothing else."""
    more, fewer = exported(library) - declared(), declared() - exported(library)
    if more or fewer:
        sys.exit(f"{library}: exports {sorted(more)} beside the header's functions, and lacks {sorted(fewer)}")
    print(f"{library.name}: exports the {len(declared())} functions of the header, and nothing else")
