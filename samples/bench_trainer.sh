#!/usr/bin/env bash
# Measures the CPU trainer on eight networks, each in fp32 and in bf16, on resident images: beside its
# convolutions and dense layers alone or, with --peers, beside PyTorch, eager and compiled.
#
#   samples/bench_trainer.sh [--peers] [OUT] [NETWORK,BATCH …]     OUT: default build/bench-trainer
#
# Leaves rows in OUT/products.jsonl or, with --peers, in OUT/peers.jsonl, of which it prints a table.
# Every measurement is a fresh process, and all take turns in three rounds. --peers uses the PyTorch of
# $FEEDRATE_PYTHON where that is set, and otherwise installs the newest one into OUT/venv: gigabytes,
# unless PIP_EXTRA_INDEX_URL names an index of builds for the CPU. torch.compile needs g++ and
# Python's headers.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=no
if [ "${1:-}" = --peers ]; then peers=yes && shift; fi
out=${1:-build/bench-trainer}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- lenet,64 alexnet:cifar,128 vgg16:cifar,128 resnet56,128 googlenet:cifar,128 \
  resnet50,8 googlenet:caffe,8 googlenet,8

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=ON >&2
cmake --build --preset release --target feedrate bench_trainer >&2
mkdir -p "$out"
out=$(cd "$out" && pwd)

if [ "$peers" = no ]; then
  export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-3000} # as feedrate itself sets it
  for _ in 1 2 3; do
    for network in "$@"; do
      build/release/bench_trainer --json "$network" | tee -a "$out/products.jsonl"
      build/release/bench_trainer --json --bf16 "$network" | tee -a "$out/products.jsonl"
    done
  done
  exit
fi

if [ -z "${FEEDRATE_PYTHON:-}" ]; then
  export FEEDRATE_PYTHON=$out/venv/bin/python
  [ -x "$FEEDRATE_PYTHON" ] || python3 -m venv "$out/venv"
  "$FEEDRATE_PYTHON" -m pip install --disable-pip-version-check -q -r samples/peers/pytorch.txt
fi
exec "$FEEDRATE_PYTHON" samples/peers/bench_trainer.py --feedrate build/release/feedrate \
  --out "$out" "$@"
