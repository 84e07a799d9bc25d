#!/usr/bin/env bash
# Installs the wheel of feedrate into an empty virtual environment, where `feedrate train` says which package
# brings the trainer, then feedrate-cpu, with which it trains: as build/release/feedrate does where that is
# built, to the last bit where that has the same oneDNN (cmake -DFEEDRATE_ONEDNN=build/onednn).
#   cpu_wheel.sh PYTHON WHEELS_DIRECTORY
set -euo pipefail
python=$1
wheels=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "cpu_wheel: $*" >&2; exit 1; }
alone=(env -i "PATH=$work/env/bin:/usr/bin:/bin" "HOME=$work")

"$python" -m venv "$work/env"
pip=("$work/env/bin/pip" install --disable-pip-version-check -q --no-index --find-links "$wheels")
"${pip[@]}" feedrate
"${alone[@]}" feedrate synth mnist --images 640 --out "$work/archives" >/dev/null 2>&1
"${alone[@]}" feedrate convert mnist "$work/archives" --to lmdb --split all --out "$work/data" >/dev/null
train=("${alone[@]}" feedrate train "$work/data/train" --network lenet --steps 5)

echo "== without feedrate-cpu"
! said=$("${train[@]}" 2>&1) || fail "it trained without a backend: $said"
[[ $said == *"the package feedrate-cpu brings it"* ]] || fail "$said"
echo "$said"

echo "== with it"
"${pip[@]}" 'feedrate[train]'
strangers=$(ldd "$work"/env/lib/python*/site-packages/feedrate/bin/libfeedrate_cpu.so |
  awk '/dnnl|openblas|gomp|tbb/ && index($3, "'"$work"'") != 1 {print $1}')
[ -z "$strangers" ] || fail "taken from this system, not from the wheel: $strangers"
"${train[@]}"
shell=$source/build/release/feedrate
if [ -x "$shell" ]; then
  echo "== beside $shell"
  "$shell" synth cifar10 --images 160 --out "$work/cifar-archives" >/dev/null 2>&1
  "$shell" convert mnist "$work/archives" --to lmdb --out "$work/mnist" >/dev/null
  "$shell" convert cifar10 "$work/cifar-archives" --to lmdb --out "$work/cifar10" >/dev/null
  same=$(ldd "${shell%/*}/libfeedrate_cpu.so" | grep -q 'libdnnl\.so\.3' && echo --same-bits || true)
  (cd "$work" && "$source/tests/package/losses.py" "$shell" "$work/env/bin/feedrate" $same)
fi
echo "cpu_wheel: ok"
