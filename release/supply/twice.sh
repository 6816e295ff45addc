#!/bin/sh
# twice.sh FOLDER: builds what is committed in two folders below FOLDER, as a release does for this machine, and compares the
# bytes of the npm package with the WebAssembly module, the C library, the wheel and the command.
set -eu
folder=$1
triple=$(rustc --print host-tuple)
# As release/targets.py has them: the command needs no C library.
command=$(echo "$triple" | sed 's/gnu$/musl/')
rm -rf "$folder"
for name in one the-other-of-two; do
  git clone --quiet "$(git rev-parse --show-toplevel)" "$folder/$name"
  make --silent -C "$folder/$name/release" "library-$triple" "wheel-$triple" "command-$command" npm > /dev/null
  (cd "$folder/$name/build/dist" && LC_ALL=C sha256sum ./*) > "$folder/$name.sums"
  rm -rf "${folder:?}/$name"
done
diff "$folder/one.sums" "$folder/the-other-of-two.sums"
cat "$folder/one.sums"
echo "figure: $(wc -l < "$folder/one.sums") files, twice the same"
