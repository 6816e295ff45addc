#!/bin/sh
# need.sh TOOL PACKAGE COMMAND...: runs a command of the tests that needs a tool. Without the tool it leaves the command out
# and names the Debian package; in CI it fails. It installs nothing.
tool=$1 package=$2
shift 2
command -v "$tool" >/dev/null && exec "$@"
echo "LEFT OUT for want of $tool (Debian package $package): $*" >&2
test "$CI" != true
