#!/bin/sh
# run.sh SET [OPTIONS]: cargo-mutants over a set of files, in a copy of the repository below build/mutants: with the tests
# that kill most, then those that are left as survivors.py says. OPTIONS are cargo-mutants' own, such as --shard 0/8. What
# survives stands in build/mutants/SET/mutants.out/missed.txt.
set -eu
name=$1
shift
root=$(git rev-parse --show-toplevel)
build=$root/build/mutants
output=$build/$name/mutants.out
tree=$build/tree
mkdir -p "$tree"
# What it had of an earlier commit goes, but for what was compiled.
find "$tree" -mindepth 1 -maxdepth 1 ! -name target -exec rm -rf {} +
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$tree")

# Random cases are for what no example was thought of; sixteen of each find most faults, and all run in `make test`.
export PROPTEST_CASES=16 CARGO_INCREMENTAL=1
crate=sealwax
profile=mutants
limit=60
quick=--test=codec
first=-Zunstable-options\ --fail-fast
skip="--skip nonces:: --skip clones:: --skip keys_file:: --skip no_changed_character"
own='cipher/(by_(host|ring|simd128)|chacha20)|sqlite/engine|src/ledger/mod'
case $name in
core) files="-f src/**" features=serde,testing ;;
# Code that a feature turns on.
features) files="-f src/format/cipher/by_ring.rs -f src/format/base64url.rs" features=ring,simd own='^$' ;;
wasm)
  files="-f src/format/cipher/chacha20.rs -f src/format/cipher/by_simd128.rs" features=hazmat own='^$'
  export CARGO_BUILD_TARGET=wasm32-wasip1 CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS=-Ctarget-feature=+simd128
  export CARGO_TARGET_WASM32_WASIP1_RUNNER="node --no-warnings $root/tests/wasi.mjs"
  skip="--skip nonces:: --skip canonical::" first= limit=600
  ;;
engine) files="-f mcp/src/**" features=documents crate=sealwax-mcp profile=mutants-mcp quick=--test=guard skip= ;;
sqlite)
  files="-f mcp/src/ledger/sqlite/engine.rs -f mcp/src/ledger/mod.rs" features=documents,sqlite own='^$'
  crate=sealwax-mcp profile=mutants-mcp quick=--test=guard skip=
  ;;
esac
# A fault may allocate for ever. A module in Node cannot, and Node reserves more than it uses.
test "$name" = wasm || ulimit -v 8000000

# counted WORDS FILE...: how many mutants stand in them, as a figure.
counted() {
  words=$1
  shift
  echo "figure: $(cd "$output" && cat "$@" 2>/dev/null | wc -l) $words"
}
told() {
  counted killed caught.txt timeout.txt
  counted 'do not compile' unviable.txt
  counted survived missed.txt
}
trap told EXIT

mkdir -p "$build/$name"
rm -rf "$output"
config=--config=tests/assurance/mutants/profile.toml
status=0
# Globs are for cargo-mutants. Where the tests fail without a mutant, none is tried.
(set -f && cd "$tree" && cargo mutants --in-place --config tests/assurance/mutants/mutants.toml --profile $profile \
  -C=$config -C=$quick --package $crate --features $features $files --exclude-re "$own" --timeout $limit --build-timeout 300 \
  --output "$build/$name" "$@" -- -- $first $skip) || status=$?
# 2: some survive; 3: some run for ever.
test $status -le 3
# With WebAssembly they have met all that runs there.
test ! -s "$output/missed.txt" || test "$name" = wasm ||
  python3 "$root/tests/assurance/mutants/survivors.py" "$tree" "$output" $crate --profile=$profile $config --features=$features
test ! -s "$output/missed.txt"
