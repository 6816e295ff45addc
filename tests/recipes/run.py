"""Runs the recipes of docs/recipes as a reader would, and visits each with the official client.

Usage: python3 tests/recipes/run.py WORK NODE PYTHON MYPY BRIDGE SEALWAX AXUM [RECIPE...], by a Python with the SDK

WORK has in the folders `node` and `nextjs` the packages that the package.json files here name, and sealwax; PYTHON has what
requirements.txt names, and sealwax; BRIDGE is rest.mjs of the npm package's tests, beside its modules; AXUM is the built
example of sealwax-rmcp (tests/published/readme.py shows that it is the page's). A block of a page that begins with a
comment of a file's name is that file.
"""

import contextlib
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import ThreadingHTTPServer

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/published"))

import httpx2  # noqa: E402
import jwt  # noqa: E402
from over_http import AUDIENCE, SECRET, Provider  # noqa: E402
from snippets import key  # noqa: E402

BLOCK = re.compile(r"^```\w+\n(?://|#) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT = 240
TSCONFIG = {
    "compilerOptions": {
        **{"module": "esnext", "moduleResolution": "bundler", "target": "es2023", "strict": True},
        **{"noEmit": True, "allowImportingTsExtensions": True, "skipLibCheck": True, "types": ["node"]},
    },
    "include": ["*.ts"],
}


class Recipes:
    def __init__(self, work, node, python, mypy, bridge, sealwax, axum):
        self.node, self.python = pathlib.Path(node).absolute(), pathlib.Path(python).absolute()
        self.work, self.next = (pathlib.Path(work).absolute() / folder for folder in ("node", "nextjs"))
        self.mypy, self.bridge = pathlib.Path(mypy).absolute(), pathlib.Path(bridge).absolute()
        self.sealwax, self.axum = pathlib.Path(sealwax).absolute(), pathlib.Path(axum).absolute()
        self.bin = self.work / "node_modules/.bin"
        provider = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        threading.Thread(target=provider.serve_forever, daemon=True).start()
        self.issuer = f"http://127.0.0.1:{provider.server_port}"
        # No SEALWAX_KEYS but where a recipe has it.
        self.without = {
            name: value for name, value in os.environ.items() if name != "SEALWAX_KEYS" and not name.startswith("npm_")
        }
        self.without |= {"PATH": f"{self.node.parent}:{os.environ['PATH']}", "CI": "1", "NEXT_TELEMETRY_DISABLED": "1"}
        self.environment = {**self.without, "SEALWAX_KEYS": key(), "ISSUER": self.issuer}

    def extract(self):
        """Write the files of the pages."""
        for page in sorted((ROOT / "docs/recipes").glob("*.md")):
            folder = self.next if page.stem == "nextjs" else self.work
            for name, text in BLOCK.findall(page.read_text()):
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        shutil.copy(self.work / "notes.ts", self.next)
        for name in ("accounts.ts", "accounts.py"):
            shutil.copy(HERE / "node" / name, self.work)
        (self.work / "tsconfig.json").write_text(json.dumps(TSCONFIG))

    def checked(self, *command, cwd=None, env=None):
        """Run a command to its end, and return what it printed."""
        done = subprocess.run(
            list(map(str, command)),
            cwd=cwd or self.work,
            env=env or self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if done.returncode:
            raise AssertionError(f"{shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    @contextlib.contextmanager
    def running(self, *command, cwd=None, path="/healthz", **env):
        """Run a server of a free port until it answers; give its address."""
        port = free_port()
        command = [str(part).replace("{port}", str(port)) for part in command]
        log = self.work / f"log-{port}.txt"
        with log.open("w") as written:
            process = subprocess.Popen(
                command,
                cwd=cwd or self.work,
                env={**self.environment, "PORT": str(port), **env},
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        url = f"http://127.0.0.1:{port}"
        try:
            until = time.monotonic() + LIMIT
            while status(url + path) not in (200, 401):
                if process.poll() is not None or time.monotonic() > until:
                    raise AssertionError(f"{shlex.join(command)}: does not serve\n{log.read_text()}")
                time.sleep(0.1)
            yield url
        except AssertionError as failed:
            raise AssertionError(f"{failed}\n{log.read_text()}") from None
        finally:
            # Wrangler and uvicorn have children.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 15)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)

    def told(self, url, **more):
        """Return what visit.mjs is told."""
        tokens = {user: self.token(user) for user in ("alice", "mallory")}
        return json.dumps({"url": url, **tokens, **more})

    def token(self, user):
        claims = {"iss": self.issuer, "aud": AUDIENCE, "sub": user, "client_id": "app", "exp": int(time.time()) + 600}
        return jwt.encode(claims, SECRET, algorithm="RS256", headers={"kid": "1"})

    def visit(self, url, **more):
        self.checked(self.node, "visit.mjs", self.told(f"{url}/mcp", **more))

    # ---- the recipes ----

    def express(self):
        with self.running(self.node, "express.ts") as url:
            self.visit(url)

    def hono(self):
        with self.running(self.node, "hono.ts") as url:
            self.visit(url)

    def nextjs(self):
        program = self.next / "node_modules/.bin/next"
        built = self.checked(program, "build", cwd=self.next, env=self.without)
        assert "/mcp" in built, built
        with self.running(program, "start", "--port", "{port}", cwd=self.next) as url:
            self.visit(url)

    def aws_lambda(self):
        target = ["--bundle", "--platform=node", "--target=node22", "--format=esm", "--outfile=dist/lambda.mjs"]
        self.checked(self.bin / "esbuild", "lambda.ts", *target)
        self.checked(self.node, "invoke-lambda.mjs", self.told("https://notes.lambda-url.example.com/mcp"))

    def workers(self):
        with store(self) as addresses:
            secrets = {
                **{name: self.environment[name] for name in ("SEALWAX_KEYS", "ISSUER")},
                **{"UPSTASH_REDIS_REST_URL": addresses["rest"], "UPSTASH_REDIS_REST_TOKEN": "x"},
            }
            lines = (f"{name}={value}\n" for name, value in secrets.items())
            (self.work / ".dev.vars").write_text("".join(lines))
            self.checked(self.sealwax, "ledger", "begin", addresses["redis"], "--audience", AUDIENCE)
            serve = [self.bin / "wrangler", "dev", "--ip", "127.0.0.1", "--port", "{port}", "--inspector-port", "0"]
            with self.running(*serve, path="/mcp", WRANGLER_SEND_METRICS="false") as url:
                self.visit(url, once=True)

    def bun(self):
        self.with_sqlite(self.bin / "bun", "serve.ts")

    def deno(self):
        allowed = [f"--allow-{what}" for what in ("env", "net", "read", "write")]
        self.with_sqlite(self.bin / "deno", "serve", "--host", "127.0.0.1", "--port", "{port}", *allowed, "serve.ts")

    def with_sqlite(self, *serve):
        with tempfile.TemporaryDirectory() as folder:
            ledger = f"{folder}/ledger.db"
            self.checked(self.sealwax, "ledger", "begin", f"sqlite:{ledger}", "--audience", AUDIENCE)
            with self.running(*serve, LEDGER=ledger, DENO_NO_UPDATE_CHECK="1") as url:
                self.visit(url, once=True)

    def fastapi(self):
        self.python_server("main:app", "--workers", "2")

    def starlette(self):
        self.python_server("starlette_main:app")

    def python_server(self, app, *options):
        serve = [self.python, "-m", "uvicorn", app, "--port", "{port}", *options]
        with self.running(*serve) as url:
            self.visit(url)

    def axum_server(self):
        with self.running(self.axum) as url:
            self.visit(url)

    def oauth(self):
        self.connects(self.node, "oauth.ts")

    def oauth_python(self):
        self.connects(self.python, "-m", "uvicorn", "oauth:app", "--port", "{port}")

    def connects(self, *serve):
        """Connect the accounts of two users: asked for at one replica, which then starts anew, and called back at another."""
        with tempfile.TemporaryDirectory() as folder, service(self, folder) as (address, certificate):
            accounts, ledger = pathlib.Path(folder, "accounts.jsonl"), f"{folder}/ledger.db"
            self.checked(self.sealwax, "ledger", "begin", f"sqlite:{ledger}", "--audience", AUDIENCE)
            replica = functools.partial(
                self.running,
                *serve,
                path="/mcp",
                **{"SERVICE": address, "CLIENT_ID": "notes", "CLIENT_SECRET": "secret"},
                **{"LEDGER": ledger, "ACCOUNTS": str(accounts)},
                **{"NODE_EXTRA_CA_CERTS": certificate, "SSL_CERT_FILE": certificate},
            )
            with replica() as second:
                with replica() as first:
                    urls = {user: self.connect(first, user) for user in ("alice", "mallory")}
                with replica() as first:
                    for user, url in urls.items():
                        came = consent(url, f"{user}-there", certificate)
                        place = came.index("state=") + 60
                        altered = f"{came[:place]}{'b' if came[place] == 'a' else 'a'}{came[place + 1 :]}"
                        found = [status(at) for at in (second + altered, second + came, second + came, first + came)]
                        assert found == [404, 200, 404, 404], f"{user}: {found}"
            rows = [json.loads(line) for line in accounts.read_text().splitlines()]
            whose = {user: json.dumps(row["principal"]) for user, row in zip(urls, rows, strict=True)}
            assert all(user in text for user, text in whose.items()), whose
            names = [jwt.decode(row["tokens"]["id_token"], options={"verify_signature": False})["sub"] for row in rows]
            assert names == [f"{user}-there" for user in urls], names

    def connect(self, url, user):
        """Return the authorization URL that the tool gives."""
        told = json.dumps({"url": f"{url}/mcp", "token": self.token(user)})
        return self.checked(self.node, "connect.mjs", told).split()[-1]

    def container(self):
        """Do what the Dockerfile does, in a folder: there is no Docker here."""
        folder = self.work / "container"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        health, serve = dockerfile(self, folder)
        port = re.search(r"127\.0\.0\.1:(\d+)", health[-1])[1]
        # The image has a network of its own; this machine's port may be taken.
        with self.running(*serve, cwd=folder) as url:
            check = [part.replace(port, url.rsplit(":", 1)[1]) for part in health]
            self.checked(*check, cwd=folder)
            self.visit(url)
        done = subprocess.run(check, cwd=folder, env=self.environment, timeout=LIMIT, check=False)
        assert done.returncode == 1, "expected the health check to fail without a server"
        without = subprocess.run(
            serve, cwd=folder, env=self.without, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        assert without.returncode, "expected the server to end without a key"
        assert "SEALWAX_KEYS" in without.stderr, without.stderr


def dockerfile(recipes, folder):
    """Copy and run what the Dockerfile says; return the commands of the health check and of the container."""
    text = (recipes.work / "Dockerfile").read_text().replace("\\\n", "")
    commands = {}
    for line in text.splitlines():
        instruction, _, rest = line.strip().partition(" ")
        match instruction:
            case "COPY":
                *sources, _ = rest.split()
                for source in sources:
                    shutil.copy(recipes.work / source, folder)
            case "RUN":
                # What is under test is not in the registry: as in the other recipes, it is the tarball.
                assert rest == "npm ci --omit=dev", rest
                os.symlink(recipes.work / "node_modules", folder / "node_modules")
            case "HEALTHCHECK":
                commands["health"] = json.loads(rest[rest.index("CMD ") + 4 :])
            case "CMD":
                commands["serve"] = json.loads(rest)
            case "FROM" | "ENV" | "WORKDIR" | "USER" | "EXPOSE" | "#" | "":
                pass
            case _:
                raise AssertionError(f"Dockerfile: {line}")
    return commands["health"], commands["serve"]


@contextlib.contextmanager
def store(recipes):
    """Run a Valkey, and Upstash's REST protocol in front of it; give both addresses."""
    command = [str(recipes.node), str(recipes.bridge)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield json.loads(process.stdout.readline())
        process.stdin.close()


@contextlib.contextmanager
def service(recipes, folder):
    """Run an authorization server, by TLS; give its address, and the file of its certificate."""
    key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate]
    recipes.checked(*make, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    command = [str(recipes.node), "authorize.mjs", key, certificate, f"{AUDIENCE}/callback"]
    with (
        open(f"{folder}/service.txt", "w") as log,
        subprocess.Popen(
            command, cwd=recipes.work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        yield json.loads(process.stdout.readline()), certificate
        process.stdin.close()


def consent(url, login, certificate):
    """Sign in at the authorization server and consent, as in a browser; return the path that it is sent back to."""
    back = httpx2.MockTransport(lambda _: httpx2.Response(200))
    context = ssl.create_default_context(cafile=certificate)
    with httpx2.Client(verify=context, mounts={AUDIENCE: back}, follow_redirects=True) as browser:
        page = browser.get(url)
        for form in ({"prompt": "login", "login": login, "password": "x"}, {"prompt": "consent"}):
            page = browser.post(re.search(r'action="([^"]+)"', page.text)[1], data=form)
    assert str(page.url).startswith(AUDIENCE), page.url
    return page.url.raw_path.decode()


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


def free_port():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


ALL = {
    "nextjs": Recipes.nextjs,
    "workers": Recipes.workers,
    "express": Recipes.express,
    "hono": Recipes.hono,
    "lambda": Recipes.aws_lambda,
    "bun": Recipes.bun,
    "deno": Recipes.deno,
    "fastapi": Recipes.fastapi,
    "starlette": Recipes.starlette,
    "axum": Recipes.axum_server,
    "oauth": Recipes.oauth,
    "oauth-python": Recipes.oauth_python,
    "container": Recipes.container,
}


def main(*arguments):
    *given, names = [*arguments[:7], arguments[7:] or ["types", *ALL]]
    recipes = Recipes(*given)
    recipes.extract()
    if "types" in names:
        recipes.checked(recipes.bin / "tsc", "--project", "tsconfig.json")
        mypy = [recipes.mypy, "--strict", "--python-executable", recipes.python]
        recipes.checked(*mypy, "main.py", "starlette_main.py", "oauth.py")

    def run(name):
        began = time.monotonic()
        try:
            ALL[name](recipes)
        except Exception as error:
            return f"{name}: {error}"
        print(f"{name}: served in {time.monotonic() - began:.0f} s", flush=True)
        return None

    with ThreadPoolExecutor(2) as pool:
        failed = [told for told in pool.map(run, [name for name in names if name != "types"]) if told]
    print(f"{len(names)} recipes: {len(names) - len(failed)} passed, {len(failed)} failed")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main(*sys.argv[1:])
