#!/usr/bin/env bash
# Measures converting every source to every format on 2 threads, beside a plain copy of the bytes
# written and, with --peers, beside the format's own tool, all on the same disk in the same run.
#
#   samples/bench_convert.sh [--peers] [OUT] [--only SOURCE[/FORMAT]] [--images N] [--rounds N]
#
# OUT: scratch and results (build/bench-convert); N: images of a made archive (50000 of ImageNet: 5 GB).
# Prints a table and leaves OUT/convert.jsonl. Uses real archives from $FEEDRATE_DATA where it is set
# (mnist/, cifar10/, and imagenet/ of at least half a gigabyte); `feedrate synth` makes the others.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=no
if [ "${1:-}" = --peers ]; then peers=yes && shift; fi
out=build/bench-convert
case "${1:-}" in
  '' | -*) ;;
  *) out=$1 && shift ;;
esac

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=OFF >&2
cmake --build --preset release >&2
mkdir -p "$out"

python=python3
if [ "$peers" = yes ]; then
  # One environment for all. mxnet needs an old numpy; the others accept it but would upgrade it.
  echo "numpy<1.24" >"$out/constraints.txt"
  export PIP_CONSTRAINT=$out/constraints.txt
  [ -d "$out/venv" ] || python3 -m venv "$out/venv"
  python=$out/venv/bin/python
  for package in numpy pillow lmdb "protobuf<5" webdataset mxnet==1.9.1 tensorflow-cpu==2.12.1; do
    "$python" -m pip install -q "$package" ||
      echo "bench_convert: $package could not be installed; going on without it" >&2
  done
fi
exec "$python" samples/peers/bench_convert.py --feedrate build/release/feedrate --out "$out" "$@"
