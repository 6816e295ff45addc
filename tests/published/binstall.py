"""What `cargo binstall sealwax-cli` asks for is what a release has, for each of its targets: `binstall.py [FOLDER]`.

FOLDER is `make dist`'s: then each archive has to be there too, with the program where binstall looks for it.
"""

import json
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

from targets import COMMANDS  # noqa: E402

#: Of binstall's formats, which say what stands for `archive-suffix`.
SUFFIXES = {"tgz": ".tar.gz", "zip": ".zip"}


def rendered(template: str, values: dict[str, str]) -> str:
    """Return a template of binstall with its variables replaced."""
    return re.sub(r"\{ ([\w-]+) \}", lambda found: values[found[1]], template)


def contents(archive: pathlib.Path) -> list[str]:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            return packed.namelist()
    with tarfile.open(archive) as packed:
        return packed.getnames()


def main(folder: pathlib.Path | None) -> None:
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    packages = json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    [package] = [package for package in packages if package["name"] == "sealwax-cli"]
    metadata, version = package["metadata"]["binstall"], package["version"]
    if unknown := metadata["overrides"].keys() - {target.triple for target in COMMANDS}:
        sys.exit(f"expected targets of a release, found {unknown}")
    for target in COMMANDS:
        settings = metadata | metadata["overrides"].get(target.triple, {})
        values = {
            "repo": package["repository"],
            "version": version,
            "target": target.triple,
            "bin": "sealwax",
            "archive-suffix": SUFFIXES[settings["pkg-fmt"]],
            "binary-ext": ".exe" if target.windows else "",
        }
        name = f"sealwax-{version}-{target.triple}"
        archive, program = name + (".zip" if target.windows else ".tar.gz"), f"{name}/{target.command}"
        address = f"https://github.com/sealwax/sealwax/releases/download/v{version}/{archive}"
        for template, expected in (settings["pkg-url"], address), (settings["bin-dir"], program):
            if (found := rendered(template, values)) != expected:
                sys.exit(f"expected {expected}, found {found}")
        if folder and program not in contents(folder / archive):
            sys.exit(f"{archive}: expected {program}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None)
