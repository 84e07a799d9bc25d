#!/usr/bin/env bash
# Measures the loader on 2 threads for what images usually are (original JPEGs in four formats,
# re-encoded and resized ones, raw pixels, CIFAR-10, MNIST), beside plain threads that do the same
# work and share nothing and, with --peers, beside torchvision's DataLoader of 2 workers.
#
#   samples/bench_loader.sh [--peers] [OUT]        OUT: scratch and results (default build/bench-loader)
#
# Prints a table and leaves OUT/loader.jsonl. Real archives are taken from $FEEDRATE_DATA (mnist/,
# cifar10/, imagenet/) where it is set; what is missing is made by `feedrate synth`.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=no
if [ "${1:-}" = --peers ]; then peers=yes && shift; fi
out=${1:-build/bench-loader}

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=ON >&2
cmake --build --preset release --target feedrate bench_loader >&2
mkdir -p "$out"

peer=()
if [ "$peers" = yes ]; then
  for python in python3 /usr/bin/python3 "$out/venv/bin/python"; do
    "$python" -c 'import torchvision' 2>/dev/null && break
  done
  if ! "$python" -c 'import torchvision' 2>/dev/null; then
    python3 -m venv "$out/venv"
    "$python" -m pip install -q -r tests/interop/torchvision_folder.txt ||
      echo "bench_loader: torchvision could not be installed; going on without it" >&2
  fi
  peer=(--peer-python "$python")
fi
exec python3 samples/peers/bench_loader.py --build build/release --out "$out" "${peer[@]}"
