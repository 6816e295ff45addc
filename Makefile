# Two commands on a fresh machine (Rust by rustup, Node with npm, Python 3, a C compiler, make):
#
#   make demo    the main job: one session, four languages, and what must be refused
#   make test    every test, and the linters
#
# Whatever else is needed is installed below build/, pkg/node_modules and rustup's own folder.

BUILD := $(CURDIR)/build
PREFIX := $(BUILD)/c/prefix
PYTHON := $(BUILD)/venv-wheel/bin/python
CARGO_TEST := cargo test --quiet -p sealwax

.PHONY: help
help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -6

# ---- what is built, as its users install it ----

.PHONY: build cli c npm wheel
build: cli c npm wheel

cli:
	cargo build --quiet --release --features cli --bin sealwax --example interop-peer --example demo-session

c:
	$(MAKE) -C bindings/c install PREFIX=$(PREFIX)

npm:
	$(MAKE) -C pkg build

wheel:
	$(MAKE) -C bindings/python build

# ---- the main job ----

.PHONY: demo
demo: build $(BUILD)/demo-session
	@python3 demo/story.py "node demo/session.mjs" "$(PYTHON) demo/session.py" \
		target/release/examples/demo-session $(BUILD)/demo-session target/release/sealwax

# ---- tests ----

.PHONY: test test-core test-faults test-published test-c test-npm test-python test-interop
test: lint test-core test-faults test-published test-c test-npm test-python test-interop

test-core:
	$(CARGO_TEST) --all-features
	@# Another crate of a program may turn this on, and nothing may change.
	$(CARGO_TEST) --features serde_json/arbitrary_precision --lib --test vectors --test properties
	@# The core needs no standard library.
	rustup target add x86_64-unknown-none
	cargo check --quiet --no-default-features --target x86_64-unknown-none

test-faults:
	python3 tests/faults.py $(BUILD)

test-published:
	python3 tests/published/crate.py
	python3 tests/published/readme.py

test-c: c
	$(MAKE) -C bindings/c test

test-npm: npm
	$(MAKE) -C pkg test

test-python: wheel
	$(MAKE) -C bindings/python test

# ---- linters ----

.PHONY: lint
lint:
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets --all-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p sealwax --all-features
	$(MAKE) -C bindings/c lint
	$(MAKE) -C pkg lint
	$(MAKE) -C bindings/python lint

.PHONY: clean
clean:
	rm -rf $(BUILD) target
	$(MAKE) -C pkg clean
