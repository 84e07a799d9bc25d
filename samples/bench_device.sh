#!/usr/bin/env bash
# Which format of photographs, and how many cores like this machine's, would feed a GPU that is not
# here? Measures the loader here and feeds emulated ones; draws the report.
#
#   samples/bench_device.sh [OUT] [DEVICES]   OUT: data and results (default build/bench-device)
#                                             DEVICES: as bench --emulate (default h100,h100x8)
#
# Leaves OUT/results.jsonl and OUT/report.html. Uses real photographs from $FEEDRATE_DATA/imagenet where
# it is set; `feedrate synth` makes IMAGES (default 600) else. SECONDS_EACH (default 2) is the length of each
# repeat, THREADS (default 1 to the cores) what bench --threads takes.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/bench-device}
devices=${2:-h100,h100x8}

tools/install-deps.sh
tools/build.sh -DFEEDRATE_TESTS=OFF
feedrate=$PWD/build/release/feedrate
mkdir -p "$out"
cd "$out"

archives=${FEEDRATE_DATA:-}/imagenet
if [ ! -d "$archives" ]; then
  archives=archives
  [ -d archives ] || "$feedrate" synth imagenet --images "${IMAGES:-600}" --out archives
fi
[ -d photographs/jpeg ] ||
  "$feedrate" convert imagenet "$archives/ILSVRC2012_img_train.tar" \
    "$archives/ILSVRC2012_devkit_t12.tar.gz" --to recordio --split train --out photographs/jpeg
if [ ! -d photographs/jpeg-with-crop-index ]; then
  "$feedrate" convert dataset photographs/jpeg --to recordio --out photographs/jpeg-with-crop-index
  "$feedrate" index photographs/jpeg-with-crop-index --crops
fi
[ -d photographs/packed ] ||
  "$feedrate" convert dataset photographs/jpeg --to recordio --encode packed --out photographs/packed

"$feedrate" bench photographs/* --recipe imagenet-train --network resnet50 --emulate "$devices" \
  --batch 64 --threads "${THREADS:-1-$(nproc)}" --seconds "${SECONDS_EACH:-2}" --out results.jsonl --resume
"$feedrate" report results.jsonl --html report.html
echo "The report: $PWD/report.html"
