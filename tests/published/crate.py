"""The crates as they would be published: each holds the files it should and no others, and builds from them.

The tests of sealwax-rmcp compile from its package, against the packed crates below it, with this repository's lock file and profile.
"""

import json
import os
import pathlib
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The packages as a workspace of their own.
PACKED = ROOT / "target/packed"
CORE, MCP, CLI, RMCP = "sealwax", "sealwax-mcp", "sealwax-cli", "sealwax-rmcp"
FOLDERS = {CORE: ROOT, MCP: ROOT / "mcp", CLI: ROOT / "cli", RMCP: ROOT / "adapters/rmcp"}
CARGO = {".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml", "Cargo.toml.orig"}
ALWAYS = {"LICENSE-APACHE", "LICENSE-MIT", "README.md"}
PAPERS = {
    CORE: ALWAYS - {"README.md"} | {"src/README.md", "CHANGELOG.md", "SECURITY.md", "SPEC.md"},
    MCP: ALWAYS,
    CLI: ALWAYS | {"commands.json"},
    RMCP: ALWAYS,
}
SOURCES = {CORE: ["src"], MCP: ["src"], CLI: ["src"], RMCP: ["src", "examples", "tests/common", "tests/official"]}
METADATA = ["categories", "description", "keywords", "license", "readme", "repository", "rust_version"]


def packages():
    found = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version=1"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    return {one["name"]: one for one in json.loads(found.stdout)["packages"] if one["name"] in FOLDERS}


def files(name, folder):
    """Return the files of a packed crate, by their paths in it."""
    with tarfile.open(ROOT / f"target/package/{folder}.crate") as crate:
        contents = {member.name.removeprefix(f"{folder}/"): crate.extractfile(member).read() for member in crate}
    sources = {
        str(file.relative_to(FOLDERS[name]))
        for source in SOURCES[name]
        for file in (FOLDERS[name] / source).rglob("*")
        if file.suffix in {".rs", ".lua", ".html"}
    }
    expected = sources | PAPERS[name] | CARGO
    # Outside a git checkout there is no .cargo_vcs_info.json to add.
    if (found := contents.keys() | {".cargo_vcs_info.json"}) != expected:
        sys.exit(f"the crate {name} holds {found - expected} too much and {expected - found} too little")
    return contents


def unpack(contents, folder):
    """Write what has changed alone: cargo goes by times."""
    for file in folder.rglob("*"):
        if file.is_file() and str(file.relative_to(folder)) not in contents:
            file.unlink()
    for name, content in contents.items():
        file = folder / name
        if not file.exists() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def workspace(folders):
    """Return the manifest of the packages, with the profile by which their dependencies have been built."""
    manifest = (ROOT / "Cargo.toml").read_text()
    return "\n".join(
        [
            f'[workspace]\nresolver = "3"\nmembers = {json.dumps(list(folders.values()))}',
            "[patch.crates-io]",
            *(f'{name} = {{ path = "{folders[name]}" }}' for name in (CORE, MCP)),
            manifest[manifest.index("[profile.dev]") :],
        ]
    )


def main():
    names = [argument for name in FOLDERS for argument in ("-p", name)]
    subprocess.run(["cargo", "package", "--quiet", "--no-verify", "--allow-dirty", *names], cwd=ROOT, check=True)
    folders, count = {}, 0
    for name, package in packages().items():
        if absent := [member for member in METADATA if not package[member]]:
            sys.exit(f"the metadata of {name} lacks {absent}")
        folders[name] = f"{name}-{package['version']}"
        contents = files(name, folders[name])
        unpack(contents, PACKED / folders[name])
        count += len(contents)
    (PACKED / "Cargo.toml").write_text(workspace(folders))
    (PACKED / "Cargo.lock").write_bytes((ROOT / "Cargo.lock").read_bytes())
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target")}
    subprocess.run(
        ["cargo", "check", "--quiet", "--tests", "--examples", "-p", RMCP], cwd=PACKED, env=environment, check=True
    )
    print(f"crates of {count} files: 1 passed, 0 failed")


if __name__ == "__main__":
    main()
