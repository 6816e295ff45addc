"""What a release is built for, from one Linux machine: `targets.py` prints the triples, `targets.py commands` the command's."""

import dataclasses
import sys


@dataclasses.dataclass(frozen=True)
class Target:
    """A platform, by the names that its tools have for it."""

    #: Rust's name, which artefacts bear.
    triple: str
    #: The tag of its wheel.
    wheel: str
    #: The oldest system that it runs on, of its triple's kind: a version of glibc or of macOS.
    oldest: str = ""

    @property
    def zig(self) -> str:
        """The target as cargo-zigbuild takes it."""
        return f"{self.triple}.{self.oldest}" if self.glibc else self.triple

    @property
    def windows(self) -> bool:
        return "windows" in self.triple

    @property
    def macos(self) -> bool:
        return "apple" in self.triple

    @property
    def glibc(self) -> bool:
        return self.triple.endswith("linux-gnu")

    @property
    def musl(self) -> bool:
        return self.triple.endswith("musl")

    @property
    def library(self) -> str:
        """The shared library, as the linker names it."""
        return "sealwax.dll" if self.windows else "libsealwax.dylib" if self.macos else "libsealwax.so"

    @property
    def shared(self) -> str:
        """Where the shared library stands in its archive."""
        return "bin/sealwax.dll" if self.windows else "lib/libsealwax.1.dylib" if self.macos else "lib/libsealwax.so.1"

    @property
    def command(self) -> str:
        return "sealwax.exe" if self.windows else "sealwax"

    @property
    def archive(self) -> str:
        """How the names of its archives end."""
        return ".zip" if self.windows else ".tar.gz"


TARGETS = (
    Target("x86_64-unknown-linux-gnu", "manylinux_2_17_x86_64", "2.17"),
    Target("aarch64-unknown-linux-gnu", "manylinux_2_17_aarch64", "2.17"),
    Target("x86_64-unknown-linux-musl", "musllinux_1_2_x86_64"),
    Target("aarch64-unknown-linux-musl", "musllinux_1_2_aarch64"),
    Target("x86_64-apple-darwin", "macosx_11_0_x86_64", "11.0"),
    Target("aarch64-apple-darwin", "macosx_11_0_arm64", "11.0"),
    Target("x86_64-pc-windows-gnu", "win_amd64"),
    Target("aarch64-pc-windows-gnullvm", "win_arm64"),
)
#: Where the command is built for. Programs for glibc would run on fewer systems than those that need no C library.
COMMANDS = tuple(target for target in TARGETS if not target.glibc)


def find(triple: str) -> Target:
    """Return the target of this name."""
    for target in TARGETS:
        if target.triple == triple:
            return target
    sys.exit(f"expected one of {', '.join(target.triple for target in TARGETS)}, found {triple}")


if __name__ == "__main__":
    print(*(target.triple for target in (COMMANDS if sys.argv[1:] == ["commands"] else TARGETS)))
