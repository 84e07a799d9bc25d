#!/usr/bin/env python3
"""Trains the same few steps by two programs and compares their losses:

    losses.py REFERENCE OTHER [--same-bits]

REFERENCE and OTHER are command lines that start a `feedrate` with a trainer on the CPU, such as 'chroot ROOT
feedrate'; both find the datasets mnist and cifar10, which `feedrate synth` made, in their working directory.
LeNet takes its products from OpenBLAS, the CNN its convolutions from oneDNN.

Processors sum in different orders. So losses may differ by what that does to REFERENCE's own, as in
tests/trainer/rounding.h: it trains again by the kernels of other processors and by other numbers of threads.
With --same-bits, which holds where both have the same libraries, each of these must agree to the last bit,
in bf16 too where this processor has instructions for it.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

TRAININGS = {
    "lenet": ["mnist", "--network", "lenet", "--steps", "8"],
    "cnn": ["cifar10", "--network", "cnn", "--steps", "4", "--batch", "16"],
}
KERNELS = {  # OpenBLAS' and oneDNN's, and the flag of /proc/cpuinfo that they need
    "Nehalem": ("SSE41", "sse4_1"),
    "Haswell": ("AVX2", "avx2"),
    "SkylakeX": ("AVX512_CORE", "avx512bw"),
}
FLOOR = 2.0**-22  # two ulps
TIMES = 3  # kernels for AVX2 came to 2.1 in ResNet-50: see rounding.h


def run(program, training, kernels=None, **options):
    """The mean loss of a training's steps, or nothing where the processor has no such precision."""
    words = [*shlex.split(program), "train", *TRAININGS[training], "--json"]
    for name, value in options.items():
        words += ["--" + name.replace("_", "-"), str(value)]
    chosen = {"OPENBLAS_CORETYPE": kernels, "ONEDNN_MAX_CPU_ISA": KERNELS[kernels][0]} if kernels else {}
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ | chosen)
    if "has no instructions for" in done.stderr:
        return None
    if done.returncode != 0:
        raise SystemExit(f"losses: FAILED: {shlex.join(words)}\n{done.stderr}")
    said = json.loads(done.stdout)
    if said["loss_steps"] != int(TRAININGS[training][4]):
        raise SystemExit(f"losses: FAILED: {training}: expected the loss of all steps, found {said['loss_steps']}")
    return float.fromhex(said["loss_bits"])


def ways_of_this_processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        flags = next(line for line in file if line.startswith("flags")).split()
    for kernels, (_, flag) in KERNELS.items():
        if flag in flags:
            yield {"kernels": kernels}
    for threads in (1, 2, 3):
        yield {"compute_threads": threads}


def same_bits(training, reference, other):
    for way in [*ways_of_this_processor(), {"precision": "bf16"}]:
        expected, found = run(reference, training, **way), run(other, training, **way)
        what = f"{training}, {' '.join(map(str, next(iter(way.items()))))}"
        if found != expected:
            raise SystemExit(f"losses: FAILED: {what}: expected {expected}, found {found}")
        print(f"losses: {what}: {expected}" if expected is not None else f"losses: {what}: not on this processor")


def same_but_for_rounding(training, reference, other):
    expected, found = run(reference, training), run(other, training)
    others = [run(reference, training, **way) for way in ways_of_this_processor()]
    allowed = FLOOR + TIMES * max(abs(one - expected) for one in others) / expected
    off = abs(found - expected) / expected
    said = f"{training}: expected {expected}, found {found}: off by {off:.1e}; {allowed:.1e} is allowed"
    if not off <= allowed:
        raise SystemExit("losses: FAILED: " + said)
    print("losses: " + said)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference")
    parser.add_argument("other")
    parser.add_argument("--same-bits", action="store_true")
    options = parser.parse_args()
    compare = same_bits if options.same_bits else same_but_for_rounding
    for training in TRAININGS:
        compare(training, options.reference, options.other)
    print("losses: ok")


if __name__ == "__main__":
    sys.exit(main())
