#!/bin/sh
# need.sh TOOL PACKAGE: installs a Debian package where that is allowed. Without it, fails in CI,
# and elsewhere says what is left out.
command -v "$1" >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy "$2" >/dev/null && exit 0
fi
echo "$1 is missing: what needs it is left out (Debian package $2)" >&2
exit 1
