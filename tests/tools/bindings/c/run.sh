#!/usr/bin/env bash
# The C interface: a program compiled as C99 keeps every promise of feedrate.h, batches are the shell's
# at any number of threads, and the library exports nothing else.   run.sh TEST_C FEEDRATE LIBRARY
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
test_c=$(realpath "$1") feedrate=$(realpath "$2") library=$(realpath "$3")
cd "$work"

"$feedrate" synth mnist --images 600 --out mnist >/dev/null
for format in lmdb recordio; do
  "$feedrate" convert mnist mnist --to $format --out $format >/dev/null
done
cp -r recordio damaged
# Sample 400 becomes zeros: its image, a few hundred bytes behind the place that the index names.
offset=$(awk '$1 == 400 {print $2}' damaged/*.idx)
dd if=/dev/zero of="$(echo damaged/*.rec)" bs=1 seek=$((offset + 60)) count=40 conv=notrunc status=none
"$test_c" check lmdb damaged 400

expected=$("$feedrate" load lmdb --recipe mnist --threads 1 --json |
  sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p')
[ -n "$expected" ] || { echo "c: feedrate load printed no digest" >&2; exit 1; }
for threads in -1 0 1 2 4 8; do
  found=$("$test_c" load lmdb mnist $threads | sha256sum)
  [ "${found%% *}" = "$expected" ] || { echo "c: other batches with $threads threads" >&2; exit 1; }
done

"$feedrate" synth cifar10 --images 50 --out archives >/dev/null
"$feedrate" convert cifar10 archives --to folder --out folder >/dev/null
names=$(sed -n '/"class_names": \[/,/\]/s/^ *"\(.*\)",\{0,1\}$/\1/p' folder/feedrate.json)
[ -n "$names" ] && [ "$("$test_c" classes folder)" = "$names" ] ||
  { echo "c: other names of classes than the dataset's: $names" >&2; exit 1; }

others=$(nm -D --defined-only "$library" | awk '$3 !~ /^feedrate_/ {print $3}')
[ -z "$others" ] || { echo "c: also exported: $others" >&2; exit 1; }
declared=$(grep -cE '^[a-z].*\bfeedrate_[a-z_]+\(' "$(dirname "$library")/include/feedrate/feedrate.h")
exported=$(nm -D --defined-only "$library" | wc -l)
[ "$declared" -eq "$exported" ] || { echo "c: $declared declared, $exported exported" >&2; exit 1; }
echo "c: ok, $exported functions"
