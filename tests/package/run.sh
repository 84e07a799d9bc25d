#!/usr/bin/env bash
# The installed package: found by find_package, and the program still runs where it was moved to,
# with its own copies of every library but glibc's.   run.sh BUILD_DIRECTORY SOURCE_DIRECTORY
set -euo pipefail
build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { # what a step prints matters only when it fails
  "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/moved"

env -i PATH=/usr/bin:/bin "$work/moved/bin/feedrate" --version
strangers=$(env -i /usr/bin/ldd "$work/moved/bin/feedrate" |
  awk '$3 ~ /^\// && index($3, "'"$work"'") != 1 {print $1}' |
  grep -vE '^lib(c|m|dl|rt|pthread|resolv|util|mvec)\.so' || true)
if [ -n "$strangers" ]; then
  echo "taken from this system, not from the package: $strangers" >&2
  exit 1
fi

if command -v dpkg-query >/dev/null; then # where the licences are to be had
  for package in nlohmann-json3-dev liblmdb0 libfreetype6 zlib1g; do
    if [ ! -s "$work/moved/share/doc/Feedrate/licenses/$package" ]; then
      echo "the package lacks the licence of $package" >&2
      exit 1
    fi
  done
fi

quietly cmake -S "$source/tests/package" -B "$work/consumer" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$work/moved"
quietly cmake --build "$work/consumer"
quietly "$work/moved/bin/feedrate" synth mnist --images 130 --out "$work/archives"
quietly "$work/moved/bin/feedrate" convert mnist "$work/archives" --to lmdb --out "$work/data"
said=$("$work/consumer/consumer" "$work/data")
echo "the consumer says: $said"
case $said in "130 3 "[0-9]) ;; *) exit 1 ;; esac
