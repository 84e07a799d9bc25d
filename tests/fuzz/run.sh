#!/usr/bin/env bash
# Fuzzes parsers with libFuzzer, one after the other: tests/fuzz/run.sh [SECONDS [PARSER…]]
#
# SECONDS of processor time each (60). A stopped run continues as long as the harness is the same. A
# run starts from the harness's own seeds, tests/fuzz/corpus and what an earlier run left in
# build/fuzz/work. It leaves the few small inputs that reach every branch seen in tests/fuzz/corpus,
# and prints a table. An input that crashes is kept as build/fuzz/work/crash-PARSER-….
# $FUZZ_JOBS parsers run at a time (1).
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
seconds=${1:-60}
shift || true
corpus_bytes=9000 # for each parser; all of them stay below 250 kB

cd "$root"
tools/install-deps.sh fuzz
if [ $# -eq 0 ]; then
  for harness in tests/fuzz/*_fuzz.cpp; do set -- "$@" "$(basename "$harness" _fuzz.cpp)"; done
fi
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${@/#/fuzz_}" # only these: all of them take many minutes
work=$root/build/fuzz/work
mkdir -p "$work"

# statistic LOG NAME: the last value of a libFuzzer statistic, or of "cov: 123".
statistic() { grep -aoE "$2 *[0-9]+" "$1" | tail -1 | grep -oE '[0-9]+$' || echo 0; }

# Fuzzes one parser and leaves its line of the table in <parser>.line. <parser>.spent holds the hash of
# the program and what it has spent so far.
fuzz() {
  local parser=$1 program=$root/build/fuzz/fuzz/fuzz_$1 spent=0 runs=0 crashes=0 log=$work/$1.log
  local hash known
  hash=$(sha256sum <"$program" | cut -c1-16)
  if read -r known spent runs crashes 2>/dev/null <"$work/$parser.spent" && [ "$known" = "$hash" ] &&
    awk "BEGIN { exit !($spent + 1 < $seconds) }"; then
    echo "$parser: continuing after $spent s of processor time" >&2
  else
    spent=0 runs=0 crashes=0
  fi
  local -a inputs=("$work/$parser")
  mkdir -p "$work/$parser"
  "$program" --seeds="$work/$parser"
  [ -d "tests/fuzz/corpus/$parser" ] && inputs+=("$root/tests/fuzz/corpus/$parser")
  local TIMEFORMAT='processor %U %S'
  # libFuzzer counts wall-clock time, and a busy machine gives less processor time. So a slice may bring
  # little, and only minutes on one input count as a hang.
  while awk "BEGIN { exit !($spent + 1 < $seconds) }"; do
    local slice
    slice=$(awk "BEGIN { left = $seconds - $spent; print int(left > 60 ? 60 : left + 0.5) }")
    # The memory limit includes the address sanitizer's own memory.
    if ! { time "$program" -max_total_time="$slice" -timeout=300 -report_slow_units=300 -rss_limit_mb=2048 \
      -malloc_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$work/crash-$parser-" \
      "${inputs[@]}" >"$log" 2>&1; } 2>"$work/$parser.time"; then
      crashes=$((crashes + 1))
      cp "$log" "$work/crash-$parser.log"
    fi
    spent=$(awk -v before="$spent" '/^processor/ { print before + $2 + $3 }' "$work/$parser.time")
    runs=$((runs + $(statistic "$log" 'number_of_executed_units:')))
    echo "$hash $spent $runs $crashes" >"$work/$parser.spent"
    [ "$crashes" -lt 5 ] || break
  done
  tests/fuzz/minimise.py "$program" "$work/$parser" "tests/fuzz/corpus/$parser" "$corpus_bytes"
  printf '%-15s %10s %12s %8s %8s %8s\n' "$parser" "$spent" "$runs" "$(statistic "$log" 'cov:')" \
    "$(find "tests/fuzz/corpus/$parser" -type f | wc -l)" "$crashes" >"$work/$parser.line"
}

failed=0
for parser in "$@"; do
  while [ "$(jobs -rp | wc -l)" -ge "${FUZZ_JOBS:-1}" ]; do wait -n || failed=1; done
  fuzz "$parser" &
done
while [ -n "$(jobs -rp)" ]; do wait -n || failed=1; done
lines=()
for parser in "$@"; do lines+=("$work/$parser.line"); done
printf '%-15s %10s %12s %8s %8s %8s\n' parser 'CPU s' runs branches corpus crashes
cat "${lines[@]}"
awk '{ crashes += $NF } END { exit crashes != 0 }' "${lines[@]}" && exit "$failed"
