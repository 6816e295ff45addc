"""How tests/faults.py tries a fault in the glue of a guard: what a copy of it has, how it is built, and which tests have to fail.

The commands run in the copy; ROOT is the repository, in which everything is built without the fault.
"""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent


#: After so many seconds a command has failed: of one with a fault, and of one that compiles everything on a busy machine.
HANGS, COMPILES = "600", "2400"


class Guard(NamedTuple):
    """One language's."""

    #: Of the repository.
    copied: tuple[str, ...]
    #: Brings what the build needs besides, once.
    prepare: str
    #: Builds with the fault, which has to compile.
    build: str
    #: The quick tests, those first that see most.
    tests: tuple[str, ...]

    def prepared(self, copy: pathlib.Path) -> None:
        for name in self.copied:
            there = copy / name
            if (ROOT / name).is_dir():
                # Files of an earlier run may have gone; and what it built last has a fault, so that all of these are newer.
                shutil.rmtree(there, ignore_errors=True)
                shutil.copytree(ROOT / name, there, copy_function=shutil.copy)
            else:
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, there)
        done = run(copy, self.prepare)
        if done.returncode:
            sys.exit(f"the copy cannot be prepared:\n{(done.stdout + done.stderr)[-2000:]}")

    def failure(self, copy: pathlib.Path, within: str = HANGS) -> str:
        """Build; return the end of what the first test to fail printed, or nothing."""
        built = run(copy, self.build, within)
        if built.returncode:
            raise OSError(f"it does not compile:\n{(built.stdout + built.stderr)[-2000:]}")
        for test in self.tests:
            done = run(copy, test, within)
            if done.returncode:
                return f"exit status {done.returncode} of {test}\n{(done.stdout + done.stderr)[-4000:]}"
        return ""


def run(copy: pathlib.Path, command: str, within: str = COMPILES) -> subprocess.CompletedProcess[str]:
    # Python knows a changed file by its second and its size.
    environment = {**os.environ, "ROOT": str(ROOT), "COPY": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        ["timeout", within, "sh", "-ec", command],
        cwd=copy,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


#: Plays the transcripts on a scenario server, up to the first that fails.
PLAY = 'python3 "$ROOT/tests/driver/run.py" --first'

#: Of the tests of npm, those that take a second or two.
NPM = "wire links confirm handed-on guard log ledger-glue exchanges freed options faults reported otel"

#: Of Java's tests of the guard, those that are done at once.
JAVA = "Handlers Authors Connections Filter"
#: Compiles and runs on the class path that Maven wrote: a compiler of machine code only comes too late.
JAVA_MAVEN = """
    maven=$(cat "$ROOT/build/java/sealwax-mcp/classpath")
    built="$ROOT/build/java/sealwax-mcp/test-classes:$ROOT/build/java/sealwax/classes:$maven"
    # Maven runs tests with it, and has it beside the engine.
    launcher=$(echo "$maven" | tr : '\\n' | grep junit-platform-engine | sed s/platform-engine/platform-launcher/g)
    run="java -XX:TieredStopAtLevel=1 -Dslf4j.provider=io.github.sealwax.mcp.Log -Dslf4j.internal.verbosity=WARN"
"""

#: Runs the fault's package, of Python.
PYTHON = (
    "env LD_PRELOAD=$ROOT/build/python/environment.so PYTHONPATH=$COPY/site:$ROOT/bindings/python/tests"
    " $ROOT/build/venv-mcp/bin/python"
)
#: Of the tests of Python, those that are done at once and see most.
PYTEST = (
    "handed_on.py"
    " confirm.py"
    " principal.py::test_an_access_token_names_somebody"
    " principal.py::test_one_that_names_nobody_is_refused"
    " attacks.py::test_a_state_under_its_name_in_python_is_refused"
    " after_answers.py::test_what_is_written_after_the_answer_raises"
    " guard.py::test_nobody_is_never_anonymous"
    " guard.py::test_nor_does_what_the_authors_other_functions_raise_reach_the_client"
    " wire.py links.py http_sessions.py leaks.py hooks.py servers.py"
)

#: The same on mcp 1, whose tests start servers too.
FORMER = (
    "env LD_PRELOAD=$ROOT/build/python/environment.so PYTHONPATH=$COPY/site:tests:tests/former"
    " $ROOT/build/venv-former-{}/bin/python"
)
FORMER_PYTEST = f"{FORMER} -m pytest --quiet -x -p no:cacheprovider --disable-warnings"

#: What is compiled again and again is one crate, and what it is linked into.
CARGO = "CARGO_INCREMENTAL=1 cargo"

#: As bindings/go calls it: most of what is linked has been compiled.
GO = 'eval "$(make --silent -C "$ROOT/bindings/go" environment)" go'

GUARDS = {
    "typescript": Guard(
        copied=(
            *("pkg/src", "pkg/build.mjs", "pkg/package.json", "pkg/tsconfig.json", "pkg/tsconfig.cjs.json"),
            "cli/commands.json",
        ),
        prepare="""
            ln -sfn "$ROOT/pkg/node_modules" pkg/node_modules
            mkdir -p build && cp -r "$ROOT/build/wasm" build/
            rm -rf consumer && cp -r "$ROOT/build/npm/mcp" consumer
            cp -r "$ROOT"/pkg/test/mcp/. consumer
            cd pkg && node build.mjs && cp -r dist ../consumer/node_modules/sealwax/
        """,
        # Its CommonJS, which no test of these loads, stays as it was.
        build="cd pkg && node_modules/.bin/tsc && cp -r dist/esm ../consumer/node_modules/sealwax/dist/",
        tests=(
            f"{PLAY} typescript 'node consumer/scenario.mjs'",
            f"{PLAY} typescript 'node consumer/scenario.mjs @modelcontextprotocol/sdk'",
            f"""
            export NODE_COMPILE_CACHE="$COPY/compiled"
            for test in {NPM}; do
                "$ROOT/pkg/node_modules/node-24/bin/node" --test-force-exit consumer/$test.test.mjs
            done
            """,
        ),
    ),
    "java": Guard(
        copied=("bindings/java/sealwax-mcp/src",),
        prepare=f"""{JAVA_MAVEN}
            javac -d launcher -cp "$built:$launcher" bindings/java/sealwax-mcp/src/build/JUnit.java
            echo "exec $run -cp $COPY/classes:$built io.github.sealwax.mcp.Scenario" > scenario
            echo "exec $run -Drepository=$ROOT -cp $COPY/launcher:$launcher:$COPY/classes:$built JUnit \\$@" > junit
            find bindings/java/sealwax-mcp/src/main -name '*.java' ! -name module-info.java > sources
        """,
        build=f"""{JAVA_MAVEN}
            javac -J-XX:TieredStopAtLevel=1 --release 17 -proc:none -nowarn -d classes -cp "$built" @sources
        """,
        tests=(
            f"timeout 120 sh junit $(printf '%sTest ' {JAVA})",
            'python3 "$ROOT/tests/driver/run.py" java "sh scenario" --first --system hooks',
            'python3 "$ROOT/tests/driver/run.py" java "sh scenario" --first --system sdk',
        ),
    ),
    "python": Guard(
        copied=("bindings/python/src/sealwax",),
        # The installed one has the compiled library.
        prepare="""
            rm -rf site && mkdir site
            cp -r "$ROOT"/build/venv-mcp/lib/python3.*/site-packages/sealwax site/
        """,
        # Compiled files of the fault before could be taken for this one's.
        build=f"""
            find site -name __pycache__ -prune -exec rm -r {{}} +
            cp -r bindings/python/src/sealwax site/
            {PYTHON} -c 'import sealwax.mcp as it; assert it.__file__.startswith("'"$COPY"'/")'
        """,
        tests=(
            f'python3 "$ROOT/tests/driver/run.py" python "{PYTHON} $ROOT/bindings/python/tests/mcp/scenario.py"'
            " --system mcpserver --first",
            f"""
                cd "$ROOT/bindings/python"
                {PYTHON} -m pytest --quiet -x -p no:cacheprovider $(printf 'tests/mcp/test_%s ' {PYTEST})
            """,
        ),
    ),
    "former": Guard(
        copied=("bindings/python/src/sealwax",),
        prepare="""
            rm -rf site && mkdir site
            cp -r "$ROOT"/build/venv-former-newest/lib/python3.*/site-packages/sealwax site/
        """,
        build=f"""
            find site -name __pycache__ -prune -exec rm -r {{}} +
            cp -r bindings/python/src/sealwax site/
            {FORMER.format("newest")} -c 'import sealwax.mcp as it; assert it.__file__.startswith("'"$COPY"'/")'
        """,
        tests=(
            f'cd "$ROOT/bindings/python" && {FORMER_PYTEST.format("newest")} tests/former/test_streams.py tests/former/test_former.py',
            f'cd "$ROOT/bindings/python" && {PLAY} python "{FORMER.format("newest")} tests/mcp/scenario.py" --only "card: a yes runs"',
            f'cd "$ROOT/bindings/python" && {PLAY} python "{FORMER.format("newest")} tests/mcp/scenario.py" --only "list goes over"',
            # Later versions of the SDK know whose session it is.
            f'cd "$ROOT/bindings/python" && {FORMER_PYTEST.format("oldest")} tests/former -k user',
        ),
    ),
    "rmcp": Guard(
        copied=(
            *("Cargo.toml", "Cargo.lock", "README.md", "src", "mcp/Cargo.toml", "mcp/src", "mcp/README.md"),
            "adapters/rmcp",
        ),
        prepare="""
            sed -i 's|^members = .*|members = ["mcp", "adapters/rmcp"]|' Cargo.toml
        """,
        build=f"{CARGO} build -q --offline -p sealwax-rmcp --example scenario",
        tests=(
            'python3 "$ROOT/tests/driver/run.py" --first rust target/debug/examples/scenario',
            f"{CARGO} test -q --offline -p sealwax-rmcp --lib --test official",
        ),
    ),
    "c": Guard(
        copied=(
            *("Cargo.toml", "Cargo.lock", "README.md", "src", "mcp/Cargo.toml", "mcp/src", "mcp/README.md"),
            *(
                "cli/Cargo.toml",
                "cli/src",
                "cli/commands.json",
                "cli/README.md",
                "bindings/c",
                "tests/fuzz/abi",
                "tests/fuzz/targets",
            ),
            *("tests/fuzz/inputs", "tests/codec/alter.rs", "tests/codec/oracle.rs"),
        ),
        prepare="""
            sed -i 's|^members = .*|members = ["mcp", "cli", "bindings/c", "tests/fuzz/abi", "tests/fuzz/targets"]|' Cargo.toml
            python3 bindings/c/tests/vectors.py "$ROOT"/tests/vectors/v1.json "$ROOT"/tests/vectors/more.json > vectors.txt
        """,
        build=f"{CARGO} build -q --offline -p sealwax-c && {CARGO} test -q --offline -p sealwax-fuzz-targets --test replay --no-run",
        tests=(
            f"{CARGO} test -q --offline -p sealwax-fuzz-targets --test replay what_is_called",
            """
            cd bindings/c/tests
            cc -rdynamic -pthread -I ../include vectors.c environment.c ../../../target/debug/libsealwax.a -ldl -lm -o vectors
            ./vectors < ../../../vectors.txt
            """,
        ),
    ),
    "go": Guard(
        copied=("bindings/go", "tests/vectors/wire.json"),
        prepare="",
        build=f"cd bindings/go && {GO} build -o ../../scenario ./internal/interoppeer/scenario",
        tests=(f"{PLAY} go ./scenario", f"cd bindings/go && {GO} test -short -vet=off -timeout 2m ./mcp"),
    ),
}
