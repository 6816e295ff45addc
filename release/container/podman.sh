#!/bin/sh
# podman.sh ARGUMENTS...: runs podman, with its images in build/image/storage. Without one, root on a Debian system runs
# Debian's, unpacked in build/image/podman, in a mount namespace of its own: there is no daemon.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
image=$root/build/image
set -- podman --root "$image/storage" --runroot "$image/run" --storage-driver vfs "$@"
export PODMAN_IGNORE_CGROUPSV1_WARNING=1
command -v podman > /dev/null && exec "$@"

cd "$image/podman"
export PATH=/usr/bin:/usr/sbin:/bin:/sbin HOME=/root
# The folder has to be a mount, for that is what podman's own namespaces begin with.
exec unshare --mount sh -euc '
  root=$1
  shift
  mkdir -p dev proc run sys tmp var/tmp ".$root"
  mount --bind . . && cd "$PWD"
  mount --rbind /dev dev
  mount -t tmpfs shm dev/shm
  mount --bind "$root" ".$root"
  mount --bind /sys sys
  # The second version: crun knows no mixture of both.
  mount -t cgroup2 cgroup2 sys/fs/cgroup
  mount --rbind /proc proc
  mount -t tmpfs run run
  exec chroot . "$@"' sh "$root" "$@"
