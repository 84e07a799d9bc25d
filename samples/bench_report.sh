#!/usr/bin/env bash
# Answers the project's question on three datasets at once: how many loader threads, and which format,
# for LeNet on MNIST, AlexNet on CIFAR-10 and AlexNet on ImageNet. The plan is bench_report.json.
#
#   samples/bench_report.sh [OUT]        OUT: data and results (default build/bench-report)
#
# Leaves OUT/results.jsonl and OUT/report.html. Uses real archives from $FEEDRATE_DATA (mnist/, cifar10/,
# imagenet/) where it is set; `feedrate synth` makes the missing ones. Measures PyTorch too where
# $FEEDRATE_PYTHON (default python3) has it.
set -euo pipefail
cd "$(dirname "$0")/.."
plan=$PWD/samples/bench_report.json
out=${1:-build/bench-report}

tools/install-deps.sh
cmake --preset release -DFEEDRATE_TESTS=OFF >&2
cmake --build --preset release >&2
feedrate=$PWD/build/release/feedrate
mkdir -p "$out"
cd "$out"

archives() { # prints the directory of the archives of $1; makes them with $2 images if missing
  if [ -d "${FEEDRATE_DATA:-}/$1" ]; then
    echo "$FEEDRATE_DATA/$1"
  else
    [ -d "archives/$1" ] || "$feedrate" synth "$1" --images "$2" --out "archives/$1" >&2
    echo "archives/$1"
  fi
}

convert() { # source, its inputs
  local source=$1 formats=(lmdb recordio webdataset) format
  [ "$source" = imagenet ] || formats+=(tfrecord png-map)
  for format in "${formats[@]}"; do
    [ -d "data/$source/$format" ] ||
      "$feedrate" convert "$@" --to "$format" --split train --out "data/$source/$format"
  done
}

convert mnist "$(archives mnist 60000)"
convert cifar10 "$(archives cifar10 50000)"
imagenet=$(archives imagenet 3000)
convert imagenet "$imagenet/ILSVRC2012_img_train.tar" "$imagenet/ILSVRC2012_devkit_t12.tar.gz"

"$feedrate" bench --plan "$plan" --out results.jsonl --resume
"$feedrate" report results.jsonl --html report.html --csv results.csv
echo "The report: $PWD/report.html"
