#!/usr/bin/env bash
# Runs tests of the Python package with its module under the address and undefined-behaviour sanitizers:
#   tests/python/sanitized.sh [TEST…]      default: lifetimes_test.py threads_test.py
# Builds what the module needs, not the program, which only makes the tests' data: build/release has it,
# or build/debug.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ -x build/python-tools/bin/python ] || tools/install-deps.sh python
cmake --preset debug -DFEEDRATE_PYTHON=ON >&2
program=$PWD/build/debug/feedrate
[ -x "$program" ] || program=$PWD/build/release/feedrate
if [ ! -x "$program" ]; then
  cmake --build --preset debug --target feedrate >&2
  program=$PWD/build/debug/feedrate
fi
cmake --build --preset debug --target _native >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a build/debug/python/feedrate "$work"
rm "$work/feedrate/bin/feedrate"
# Without what is preloaded below: a program that is not sanitized hangs with it.
printf '#!/bin/sh\nunset LD_PRELOAD\nexec "%s" "$@"\n' "$program" >"$work/feedrate/bin/feedrate"
chmod +x "$work/feedrate/bin/feedrate"
# The interpreter is not sanitized, so the libraries have to be there first; it frees little at exit.
preload="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)"
[ $# -gt 0 ] || set -- lifetimes_test.py threads_test.py
for test in "$@"; do
  echo "== $test"
  env PYTHONPATH="$work" PYTHONWARNINGS=ignore::DeprecationWarning LD_PRELOAD="$preload" \
    ASAN_OPTIONS=detect_leaks=0 build/python-tools/bin/python "tests/python/$test"
done
