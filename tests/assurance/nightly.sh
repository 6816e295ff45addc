#!/bin/sh
# nightly.sh COMPONENTS COMMAND...: runs a command with nightly Rust, and installs it by rustup with what it needs of
# "miri rust-src llvm-tools". Where that cannot be had the command is left out; in CI it fails.
components=$1
shift
export RUSTUP_TOOLCHAIN=${SEALWAX_NIGHTLY:-nightly}
missing() {
  installed=$(rustup component list --installed 2>/dev/null) || return 0
  for component in $components; do
    case $installed in *"$component"*) ;; *) return 0 ;; esac
  done
  return 1
}
if missing; then
  env -u RUSTUP_TOOLCHAIN rustup toolchain install "$RUSTUP_TOOLCHAIN" --profile minimal --no-self-update \
    $(printf -- '--component %s ' $components) >/dev/null 2>&1 || true
fi
missing || exec "$@"
echo "LEFT OUT for want of $RUSTUP_TOOLCHAIN Rust with $components: $*" >&2
test "$CI" != true
