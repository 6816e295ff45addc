#!/bin/sh
# npm.sh FOLDER COMMAND [OPTION…]: runs npm in a folder. A registry fails now and then: what failed is tried once more, and the
# reason is shown.
set -u
cd "$1" || exit
shift
once() {
  npm "$@" --loglevel=error --no-audit --no-fund --prefer-offline > /dev/null
}
once "$@" || {
  echo "npm $1 failed in $PWD; it is tried once more" >&2
  sleep 10
  once "$@"
}
