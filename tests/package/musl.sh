#!/usr/bin/env bash
# Imports the package where musl is the C library: one sentence says why that cannot be.
#
#   musl.sh PACKAGES     the directory that holds feedrate/: build/release/python, or an unpacked wheel
#
# The Python is the core of Debian 13's, built once against Debian's musl into build/musl. Exits with 77 where
# there is no musl-gcc (apt-get install musl-tools), or no source.
set -euo pipefail
packages=$(realpath "$1")
cd "$(dirname "$0")/../.."
command -v musl-gcc >/dev/null || { echo "musl: skipped: no musl-gcc; install musl-tools" >&2; exit 77; }
set -- x86_64-linux-gnu
. tools/wheel/debian.sh
musl=$PWD/build/musl source=$PWD/build/musl/source
if [ ! -e "$musl/python" ]; then
  rm -rf "$musl" && mkdir -p "$source"
  (cd "$musl" && debian trixie source --download-only python3.13) >"$musl/log" 2>&1 ||
    { echo "musl: skipped: Debian's sources are out of reach" >&2; exit 77; }
  tar -xf "$musl"/python3.13_*.orig.tar.xz -C "$source" --strip-components=1
  # The kernel's headers are the system's. configure refuses a compiler that says it is glibc's.
  cat >"$musl/cc" <<'C'
#!/bin/sh
[ "$1" != --print-multiarch ] || { echo x86_64-linux-musl; exit; }
exec musl-gcc -idirafter /usr/include -idirafter /usr/include/x86_64-linux-gnu "$@"
C
  chmod +x "$musl/cc"
  (cd "$source" && CC=$musl/cc OPT=-O0 ./configure --disable-test-modules && make -j"$(nproc)" python) >"$musl/log" 2>&1 ||
    { tail -n 20 "$musl/log" >&2; exit 1; }
  cp "$source/python" "$musl/python"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$packages/feedrate" "$work"
mv "$work"/feedrate/_native*.so "$work/feedrate/_native.abi3.so" # what this Python would take, by its name
said=$(PYTHONPATH=$work:$source/Lib "$musl/python" -c 'import feedrate' 2>&1) && { echo "musl: FAILED: it works" >&2; exit 1; }
said=$(tail -n 1 <<<"$said")
expected="ImportError: this package of feedrate needs glibc 2.28 or newer; this Python has another C library, such as musl;"
[[ $said == "$expected"* ]] || { echo "musl: FAILED: $said" >&2; exit 1; }
echo "$said"
echo "musl: ok"
