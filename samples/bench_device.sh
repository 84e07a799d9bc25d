#!/usr/bin/env bash
# Which format of photographs feeds a GPU that is not here, and with how many cores like this machine's?
# Measures the loader here, feeds emulated GPUs, and draws the report.
#
#   samples/bench_device.sh [OUT] [DEVICES]   OUT: data and results (default build/bench-device)
#                                             DEVICES: as bench --emulate (default h100,h100x8)
#
# Leaves OUT/results.jsonl and OUT/report.html. PHOTOS=DIR names a directory of class directories with your
# own JPEGs. Without PHOTOS, the photographs of $FEEDRATE_DATA/imagenet are used, or `feedrate synth` draws IMAGES
# (default 600) synthetic images. SECONDS_EACH (default 2) is the length of each repeat, THREADS (default 1 to
# the cores) goes to bench --threads.
set -euo pipefail
[ -z "${PHOTOS:-}" ] || PHOTOS=$(realpath "$PHOTOS")
cd "$(dirname "$0")/.."
out=${1:-build/bench-device}
devices=${2:-h100,h100x8}

tools/install-deps.sh
tools/build.sh -DFEEDRATE_TESTS=OFF
feedrate=$PWD/build/release/feedrate
mkdir -p "$out"
cd "$out"

archives=${FEEDRATE_DATA:-}/imagenet
images=photographs
if [ -n "${PHOTOS:-}" ]; then
  [ -d $images/jpeg ] || "$feedrate" convert folder "$PHOTOS" --to recordio --out $images/jpeg
else
  if [ ! -d "$archives" ]; then
    archives=archives images=synthetic-images
    [ -d archives ] || "$feedrate" synth imagenet --images "${IMAGES:-600}" --out archives
  fi
  [ -d $images/jpeg ] ||
    "$feedrate" convert imagenet "$archives/ILSVRC2012_img_train.tar" \
      "$archives/ILSVRC2012_devkit_t12.tar.gz" --to recordio --split train --out $images/jpeg
fi
if [ ! -d $images/jpeg-with-crop-index ]; then
  "$feedrate" convert dataset $images/jpeg --to recordio --out $images/jpeg-with-crop-index
  "$feedrate" index $images/jpeg-with-crop-index --crops
fi
[ -d $images/packed ] ||
  "$feedrate" convert dataset $images/jpeg --to recordio --encode packed --out $images/packed

"$feedrate" bench $images/* --recipe imagenet-train --network resnet50 --emulate "$devices" \
  --batch 64 --threads "${THREADS:-1-$(nproc)}" --seconds "${SECONDS_EACH:-2}" --out results.jsonl --resume
"$feedrate" report results.jsonl --html report.html
