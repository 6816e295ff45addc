"""The systems that programs of the targets run on here: this one, and Debian's packages unpacked beside it."""

import contextlib
import dataclasses
import os
import pathlib
import platform
import subprocess
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "release"))
from targets import Target  # noqa: E402

#: The Makefile unpacks the packages here.
SYSTEMS = ROOT / "build/systems"
WINE = SYSTEMS / "wine/usr/lib/wine"
#: Wine's link to the root folder, by which it finds every program.
ROOT_FOLDER = SYSTEMS / "wine/windows/dosdevices/z:"
QEMU = SYSTEMS / "qemu/usr/bin/qemu-aarch64"


@dataclasses.dataclass(frozen=True)
class System:
    """How a program starts."""

    #: As the table names it.
    name: str
    #: What stands in front of the program; `{libraries}` is the folder of the shared library.
    start: tuple[str, ...] = ()
    #: What starts a program in the environment of the system, of which it needs no file.
    plain: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def command(self, program: pathlib.Path, *arguments: str, libraries: pathlib.Path | None = None) -> list[str]:
        """Return the command that starts a program, which may need the shared library of a folder."""
        start = self.plain if libraries is None else self.start
        return [*(part.format(libraries=libraries) for part in start), str(program), *arguments]

    def run(
        self,
        program: pathlib.Path,
        *arguments: str,
        libraries: pathlib.Path | None = None,
        stdin: str = "",
        cwd: pathlib.Path | None = None,
        variables: dict[str, str] | None = None,
    ) -> str:
        """Run a program, and return what it printed, with this system's ends of lines."""
        environment = {**os.environ, **dict(self.environment), **(variables or {})}
        return output(self.command(program, *arguments, libraries=libraries), stdin=stdin, cwd=cwd, env=environment)


@contextlib.contextmanager
def root_folder() -> Iterator[None]:
    """Keep Wine's link to the root folder for as long as it is needed: cargo follows all links below a package."""
    if ROOT_FOLDER.parent.exists() and not ROOT_FOLDER.is_symlink():
        ROOT_FOLDER.symlink_to("/")
    try:
        yield
    finally:
        ROOT_FOLDER.unlink(missing_ok=True)


def output(command: list[str | pathlib.Path], stdin: str = "", **options: object) -> str:
    """Return what a command prints; fail with all of it if the command does."""
    ran = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if ran.returncode != 0:
        told = f"{ran.stdout}{ran.stderr}"[-4000:]
        raise AssertionError(f"{' '.join(map(str, command))}: status {ran.returncode}\n{told}")
    return str(ran.stdout)


def version(*command: str | pathlib.Path) -> str:
    return output([*command, "--version"]).split("\n")[0]


def of(target: Target) -> System | None:
    """Return the system for a target, or None where there is none."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return None
    machine = target.triple.partition("-")[0]
    if target.macos or (target.windows and machine != "x86_64"):
        return None
    if target.windows:
        if not WINE.exists():
            return None
        settings = {
            "WINEPREFIX": str(SYSTEMS / "wine/windows"),
            "WINEDEBUG": "-all",
            # Neither .NET nor a browser, which it would ask for, nor entries in a menu.
            "WINEDLLOVERRIDES": "mscoree,mshtml=;winemenubuilder.exe=d",
            "XDG_RUNTIME_DIR": str(SYSTEMS / "wine"),
        }
        wine = (str(WINE / "wine64"),)
        name = version(WINE / "wine64").partition(" ")[0].replace("wine-", "Wine ")
        return System(name, wine, wine, tuple(settings.items()))
    libc = "musl" if target.musl else "glibc"
    root = SYSTEMS / f"{libc}-{machine}"
    if machine == "x86_64":
        if target.musl:
            if not root.exists():
                return None
            loader = str(root / "usr/lib/x86_64-linux-musl/libc.so")
            return System("natively, Debian's musl", (loader, "--library-path", "{libraries}"))
        return System(f"natively, glibc {platform.libc_ver()[1]}", ("env", "LD_LIBRARY_PATH={libraries}"))
    if not (QEMU.exists() and root.exists()):
        return None
    qemu = (str(QEMU), "-L", str(root))
    emulator = version(QEMU).split(" ")[2]
    return System(f"QEMU {emulator}, Debian's {libc}", (*qemu, "-E", "LD_LIBRARY_PATH={libraries}"), qemu)


def where(target: Target) -> str:
    """Return where programs of the target run, in the table's words."""
    system = of(target)
    if system is not None:
        return system.name
    return "nowhere" if target.macos or target.triple.startswith("aarch64-pc") else "left out here: no system for it"
