#!/usr/bin/env bash
# Builds Feedrate for 64-bit ARM and runs it by QEMU beside the native build, on Debian or Ubuntu:
#
#   tests/aarch64/run.sh build/release/feedrate source/directory
#
# Both must make the same archives, byte by byte; convert them, and real ones where there are some
# (FEEDRATE_DATA, ../shared/data), to the same files as every format x codec; read what the other
# wrote; and load the same batches by every recipe and part. Then the unit and conformance tests of
# formats and loader run, and the trainer's quick ones, and formats once more with pages of 64 KiB. An
# hour on two cores, most of it for the builds. Emulation says nothing about speed.
#
# ALL=no leaves out the unit tests. Exits with 77 where a tool is missing.
set -euo pipefail
native=$(realpath "$1")
source=$(realpath "$2")
build=$source/build/aarch64
export FEEDRATE_DATA=${FEEDRATE_DATA:-$(realpath -m "$source/../shared/data")}

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "FAILED: $1" >&2; shift; [ $# -eq 0 ] || tail -n 20 "$@" >&2; exit 1; }
step() { printf '%4d s  %s\n' "$SECONDS" "$1"; }
for tool in aarch64-linux-gnu-g++ qemu-aarch64-static mmdebstrap; do
  command -v "$tool" >/dev/null || skip "$tool is not installed (tools/install-deps.sh aarch64)"
done

root=$source/build/aarch64-root
"$source/tests/aarch64/root.sh" "$root"
cd "$source"
tests=(test_formats test_loader test_trainer)
[ "${ALL:-yes}" = yes ] || tests=()
cmake --preset aarch64 >/dev/null
cmake --build --preset aarch64 --target feedrate "${tests[@]}"
emulated=(qemu-aarch64-static -L "$root")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir native aarch64
# Runs a command line natively and emulated, each in its own directory; {} in it is "native" or
# "aarch64". Both must end alike and, but for times, say the same on stderr.
both() {
  local codes=() on
  for on in native aarch64; do
    local run=("$native") status=0
    [ $on = native ] || run=("${emulated[@]}" "$build/feedrate")
    (cd $on && "${run[@]}" "${@//\{\}/$on}") >$on.out 2>$on.log || status=$?
    codes+=("$status")
  done
  [ "${codes[0]}" = "${codes[1]}" ] || fail "'$*' exits with ${codes[*]}" native.log aarch64.log
  code=${codes[0]}
}
same_files() { diff -r "native/$1" "aarch64/$1" >differences || fail "$1 differs" differences; }
same_digest() {
  local on
  for on in native aarch64; do
    grep -E '^ *"digest": "[0-9a-f]{16,}' $on.out >$on.digest || fail "no digest: $*" $on.log
  done
  cmp -s native.digest aarch64.digest || fail "the digests of '$*' differ" native.digest aarch64.digest
  digests=$((digests + 1))
}
load() {
  both load "$@" --threads 1 --json
  [ "$code" = 0 ] || fail "load $*" native.log
  same_digest "$@"
}

conversions=0 refused=0 digests=0
step "archives"
both synth mnist --images 200 --out mnist
both synth cifar10 --images 120 --out cifar10
both synth imagenet --images 40 --out imagenet
for archive in mnist cifar10 imagenet; do same_files $archive; done

convert() { # NAME SOURCE ARCHIVE [OPTION…]: as every format x codec; those that cannot be, on neither
  local name=$1 format codec
  shift
  for format in $(listed formats); do
    for codec in keep $(listed codecs); do
      local encode=(--encode "$codec")
      [ "$codec" != keep ] || encode=()
      both convert "$@" --to "$format" "${encode[@]}" --out "$name/$format-$codec"
      if [ "$code" != 0 ]; then refused=$((refused + 1)) && continue; fi
      same_files "$name/$format-$codec"
      conversions=$((conversions + 1))
    done
  done
}
listed() { "$native" list "$1" | sed -n 's/^  \([a-z]\S*\) .*/\1/p'; }
for source_name in mnist cifar10 imagenet; do
  step "conversions of $source_name"
  convert $source_name $source_name $source_name
done
if [ -e "$FEEDRATE_DATA/imagenet" ]; then
  step "conversions of photographs"
  both convert imagenet "$FEEDRATE_DATA/imagenet" --to recordio --split val --crops --out photographs
  [ "$code" = 0 ] || fail "photographs" native.log
  same_files photographs
  for codec in png jpeg packed; do
    both convert dataset photographs --to webdataset --limit 40 --encode $codec --out photographs-$codec
    [ "$code" = 0 ] || fail "photographs as $codec" native.log
    same_files photographs-$codec
  done
fi
step "$conversions conversions are the same, $refused are refused by both"
[ $conversions -ge 60 ] || fail "too few conversions were made"

# Reads what the other has written, and loads it: every recipe and part.
step "recipes, parts, pixels, layouts"
for on in native aarch64; do ln -s "$work/native" $on/written; done
load written/cifar10/lmdb-raw
for recipe in mnist cifar-train cifar-eval; do
  [ $recipe = mnist ] && set=mnist || set=cifar10
  for layout in nhwc nchw; do
    load written/$set/recordio-png --recipe $recipe --pixels u8 --layout $layout
    for pixels in f32 f16; do
      load written/$set/recordio-png --recipe $recipe --pixels $pixels --layout $layout \
        --mean 120.5 --deviation 60.25
    done
  done
done
sets=(imagenet/recordio-keep imagenet/webdataset-packed imagenet/tfrecord-png)
[ ! -e native/photographs ] || sets+=(photographs photographs-packed photographs-png)
for set in "${sets[@]}"; do
  for recipe in imagenet-train imagenet-eval caffe caffe-eval; do load written/"$set" --recipe $recipe; done
done
jpegs=written/imagenet/recordio-keep
for part in $(listed parts); do
  case $part in
    resize) recipes=(none+resize:size=64+center-crop:size=40 none+resize:size=300+center-crop:size=224) ;;
    random-resized-crop) recipes=(none+random-resized-crop+flip+rgb none+random-resized-crop:size=96+grey) ;;
    random-crop) recipes=(none+resize:size=64+random-crop:size=56+flip) ;;
    center-crop | rgb | grey) recipes=(imagenet-eval+"$part") ;;
    *) recipes=(imagenet-train+"$part") ;;
  esac
  for recipe in "${recipes[@]}"; do
    for seed in 1 2; do load $jpegs --recipe "$recipe" --seed $seed; done
  done
done
load $jpegs --recipe imagenet-train+rand-augment+mixup --pixels f32 \
  --mean 123.675,116.28,103.53 --deviation 58.395,57.12,57.375
load $jpegs --recipe imagenet-train --decode scaled
load written/cifar10/lmdb-raw --weights balanced --draws 300
load written/cifar10/lmdb-raw --groups 4x3 --batch 48
step "$digests loads have the same digests"
[ $digests -ge 60 ] || fail "too few loads were compared"

for set in cifar10/lmdb-raw imagenet/recordio-packed imagenet/webdataset-jpeg; do
  both verify written/$set --against written/$set
  [ "$code" = 0 ] || fail "verify $set" native.log aarch64.log
done
[ "${ALL:-yes}" = yes ] || exit 0

# What a process of an emulator cannot do: be another user, count the caller's system calls, …
unit() { # NAME FILTER [QEMU OPTION…]
  local name=$1 filter=$2
  shift 2
  step "$name $filter $*"
  (cd "$build" && "${emulated[@]}" "$@" "./$name" --gtest_brief=1 --gtest_filter="$filter") >tests.log 2>&1 ||
    fail "$name" tests.log
}
unit test_formats "Unit*:Conformance*:Hostile*"
unit test_loader "Unit*:Conformance*"
unit test_trainer "UnitB*:UnitF*:ConformanceDeterminism.*:InteropOptimizers.*"
unit test_formats "Unit*" -p 65536
step "all agrees"
