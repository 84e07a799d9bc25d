#!/usr/bin/env bash
# From a fresh clone to the answer: installs, builds, converts real images to every format, verifies that
# all formats hold the same images, trains, measures loader threads and writes the report: for this
# trainer, and for an emulated GPU.
#
#   samples/quickstart.sh [OUT]        OUT: where everything goes (default build/quickstart)
#   PHOTOS=DIR samples/quickstart.sh   feeds the emulated GPU from your own class directories of JPEGs
set -euo pipefail
if [ -n "${PHOTOS:-}" ]; then
  PHOTOS=$(realpath "$PHOTOS")
  export PHOTOS
fi
cd "$(dirname "$0")/.."
samples=$PWD/samples
out=${1:-build/quickstart}

step() { printf '\n== %s\n' "$*" >&2; }

cat >&2 <<'TEXT'
What happens now, with the time of each step on two cores:
  1. packages are installed (apt, as root or by sudo), and Feedrate is built: 15 to 30 minutes, once
  2. Fashion-MNIST is fetched and converted to five formats, which are verified:  under a minute
  3. LeNet is trained for an epoch:                                               10 seconds
  4. supply, demand and delivered images/s are measured:                          2 minutes
  5. larger images are loaded for an emulated H100; the report is drawn:          half a minute
TEXT

step "install what is missing, and build"
tools/install-deps.sh samples
tools/build.sh -DFEEDRATE_TESTS=OFF
feedrate=$PWD/build/release/feedrate
mkdir -p "$out"
cd "$out"

step "get real images: Fashion-MNIST, 60,000 + 10,000, as published"
data=data/fashion-mnist # the report calls the images after their folder
if [ -d /usr/share/datasets/fashion-mnist ]; then
  archives=/usr/share/datasets/fashion-mnist
else
  archives=archives
  if ! "$feedrate" fetch fashion-mnist --out archives; then
    echo "quickstart: the download failed; making a synthetic MNIST of the same size instead" >&2
    archives=synthetic data=data/synthetic-mnist
    [ -d synthetic ] || "$feedrate" synth mnist --images 60000 --out synthetic
  fi
fi

step "convert to every format, and verify that all hold the same images"
formats=(lmdb recordio tfrecord png-map webdataset)
for format in "${formats[@]}"; do
  rm -rf "$data/$format" # from an earlier run
  "$feedrate" convert mnist "$archives" --to "$format" --split all --out "$data/$format"
done
for split in train test; do
  for format in "${formats[@]:1}"; do
    "$feedrate" verify "$data/${formats[0]}/$split" --against "$data/$format/$split"
  done
done
"$feedrate" inspect "$data/lmdb/train" --sheet sheet.png

step "train LeNet for an epoch"
"$feedrate" train "$data/lmdb/train" --val "$data/lmdb/test" --network lenet --epochs 1

step "measure: supply, demand, delivered at 0, 1 and 2 loader threads"
rm -f results.jsonl
datasets=("${formats[@]/#/$data/}")
"$feedrate" bench "${datasets[@]/%//train}" --network lenet \
  --threads 0,1,2 --repeat 3 --seconds 0.5 --out results.jsonl

kind="synthetic images"
[ -z "${PHOTOS:-}" ] || kind="your photographs"
step "compare three ways to store $kind, feeding an emulated H100 that runs ResNet-50"
cores=$(nproc)
threads=1
[ "$cores" = 1 ] || threads=1,$cores
rm -f device/results.jsonl
mkdir -p device
env -u FEEDRATE_DATA IMAGES=200 SECONDS_EACH=0.5 THREADS="$threads" \
  "$samples/bench_device.sh" "$PWD/device" h100 >device/report.txt
cat device/results.jsonl >> results.jsonl
"$feedrate" report results.jsonl --html report.html --csv results.csv >report.txt

step "the answer"
echo "Open $PWD/report.html (tables: report.txt; rows: results.jsonl, results.csv; images: sheet.png)"
sed '1,/^Answer/d' report.txt
