"""The crate as it would be published: it builds from its own files, and holds those it should and no others."""

import json
import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAPERS = ["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "SECURITY.md", "SPEC.md"]
CARGO = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"]
METADATA = ["categories", "description", "keywords", "license", "readme", "repository", "rust_version"]


def main():
    subprocess.run(["cargo", "package", "--quiet", "--allow-dirty", "-p", "sealwax"], cwd=ROOT, check=True)
    metadata = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version=1"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    (package,) = (package for package in json.loads(metadata.stdout)["packages"] if package["name"] == "sealwax")
    folder = f"sealwax-{package['version']}"
    with tarfile.open(ROOT / f"target/package/{folder}.crate") as crate:
        found = {name.removeprefix(folder + "/") for name in crate.getnames()}
    sources = {str(file.relative_to(ROOT)) for file in (ROOT / "src").rglob("*") if file.suffix in {".rs", ".lua"}}
    # Outside a git checkout there is no .cargo_vcs_info.json to add.
    expected = sources | set(PAPERS) | set(CARGO)
    if found | {CARGO[0]} != expected:
        sys.exit(f"the crate holds {found - expected} too much and {expected - found} too little")
    if absent := [name for name in METADATA if not package[name]]:
        sys.exit(f"the crate's metadata lacks {absent}")
    print(f"crate of {len(found)} files: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
