#!/usr/bin/env bash
# Makes in full every conversion that `feedrate advise` tries on a sample, and compares the results
# with the predictions.
#
#   samples/bench_advise.sh [OUT]        OUT: scratch and results (default build/bench-advise)
#
# Prints a table and leaves OUT/advise.jsonl. Uses real archives from $FEEDRATE_DATA, as
# bench_convert.sh does; `feedrate synth` makes the others.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/bench-advise}
[ $# -eq 0 ] || shift

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=OFF >&2
cmake --build --preset release >&2
mkdir -p "$out"
exec python3 samples/peers/bench_advise.py --feedrate build/release/feedrate --out "$out" "$@"
