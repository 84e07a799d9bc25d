#!/bin/sh
# Measures the CPU trainer's demand on resident images, beside its convolutions and dense layers alone:
#
#   samples/bench_trainer.sh BENCH_TRAINER OUT.jsonl [NETWORK[,BATCH] …]
#
# Runs a fresh process for each network in fp32 and in bf16, in three rounds, so that the repeats of a
# network lie apart in time; a row for each. Build the target bench_trainer in Release first.
set -eu
bench=$1 out=$2
shift 2
[ $# -gt 0 ] || set -- lenet alexnet:cifar vgg16:cifar,128 resnet56 googlenet:cifar resnet50,8 \
  googlenet:caffe,8 googlenet,8
for round in 1 2 3; do
  for network in "$@"; do
    "$bench" --json "$network" | tee -a "$out"
    "$bench" --json --bf16 "$network" | tee -a "$out"
  done
done
