#!/usr/bin/env bash
# Installs a wheel into an empty virtual environment and uses it there: README's example of a loader, the
# command line and every test of the package. As root in a root of its own, which holds glibc and Python
# alone; otherwise with nothing but the system's programs in reach.
#   wheel.sh PYTHON WHEEL
set -euo pipefail
python=$1
wheel=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
root=$work/root
. "$source/tests/support/empty_root.sh"
trap 'leave_root "$root" && rm -rf --one-file-system "$work"' EXIT
fail() { echo "wheel: $*" >&2; exit 1; }

mkdir -p "$root"
bin=$root/env/bin
"$python" -m venv "$root/env"
"$bin/pip" install --disable-pip-version-check -q --no-index "$wheel"
cp -r "$source/tests/python" "$root/tests"
readme_example "$source" >"$root/example.py"
grep -q feedrate.Loader "$root/example.py" || fail "README.md has no Python example"

# What every manylinux platform has may stay outside.
strangers=$(find "$root/env/lib" -name '*.so*' -path '*feedrate*' -exec ldd {} + -o \
  -path '*feedrate/bin/feedrate' -exec ldd {} + |
  awk '$3 ~ /^\// && index($3, "'"$work"'") != 1 {print $1}' | sort -u |
  grep -vE '^lib(c|m|dl|rt|pthread|resolv|util|mvec|gcc_s|stdc\+\+|z|expat)\.so' || true)
[ -z "$strangers" ] || fail "taken from this system: $strangers"

if [ "$(id -u)" -eq 0 ] && empty_root "$root" "$python" env sh; then
  mkdir -p "$root$work" && ln -s / "$root$root" # scripts name their interpreter by its path out here
  # The few libraries that the platform itself must have.
  with_libraries "$root" $(ldconfig -p | awk '/lib(stdc\+\+|gcc_s|z|expat)\.so\.[0-9]+ .*x86-64/ {print $NF}')
  alone=(chroot "$root" "$(command -v env)" -i "PATH=$bin" HOME=/tmp)
  ! "${alone[@]}" sh -c 'command -v cc gcc c++ clang ld' >/dev/null 2>&1 || fail "there is a compiler"
  echo "wheel: in a root that holds $(find "$root" -xdev -name 'lib*.so*' ! -path '*/env/*' ! -path '*/lib-dynload/*' -printf '%f ' | xargs -n1 | sed 's/\.so.*//' | sort -u | xargs)"
else
  echo "wheel: no root of its own can be made here; the system's programs are in reach"
  alone=(env -i "PATH=$bin:/usr/bin:/bin" "HOME=$work" --chdir="$root")
fi
here() { "${alone[@]}" "$@"; }

here feedrate --version
here feedrate synth mnist --images 640 --out archives
here feedrate convert mnist archives --to lmdb --split all --out data/lmdb
here feedrate verify data/lmdb/train
here python example.py
here python -W ignore::DeprecationWarning -m unittest discover -q -s tests -p '*_test.py'
here python -c 'import time; t = time.perf_counter(); import feedrate; print(f"wheel: ok; import feedrate took {1e3 * (time.perf_counter() - t):.0f} ms")'
