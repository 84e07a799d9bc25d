#!/usr/bin/env bash
# Installs a wheel into an empty virtual environment and uses it there: README's Python example, the
# command line and every test of the package. Our libraries and a compiler are out of its reach.
#   wheel.sh PYTHON WHEEL
set -euo pipefail
python=$1
wheel=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" -m venv "$work/env"
bin=$work/env/bin
"$bin/pip" install --disable-pip-version-check -q --no-index "$wheel"
alone=(env -i "PATH=$bin:/usr/bin:/bin" "HOME=$work")
cd "$work"

# What every manylinux platform has may stay outside.
strangers=$(find env/lib -name '*.so*' -path '*feedrate*' -exec ldd {} + -o -path '*feedrate/bin/feedrate' -exec ldd {} + |
  awk '$3 ~ /^\// && index($3, "'"$work"'") != 1 {print $1}' | sort -u |
  grep -vE '^lib(c|m|dl|rt|pthread|resolv|util|mvec|gcc_s|stdc\+\+|z|expat)\.so' || true)
[ -z "$strangers" ] || { echo "wheel: taken from this system: $strangers" >&2; exit 1; }

"${alone[@]}" feedrate --version | head -n 1
"${alone[@]}" feedrate synth mnist --images 640 --out archives >/dev/null
"${alone[@]}" feedrate convert mnist archives --to lmdb --split all --out data/lmdb >/dev/null
"${alone[@]}" feedrate verify data/lmdb/train >/dev/null
awk '/^```python$/ {inside = 1; next} /^```/ {inside = 0} inside' "$source/README.md" >example.py
[ -s example.py ] || { echo "wheel: README.md has no Python example" >&2; exit 1; }
"${alone[@]}" python example.py
"${alone[@]}" python -W ignore::DeprecationWarning -m unittest discover -q -s "$source/tests/python" -p '*_test.py'
started=$("${alone[@]}" python -c 'import time; t = time.perf_counter(); import feedrate; print(time.perf_counter() - t)')
echo "wheel: ok; import feedrate took $started s"
