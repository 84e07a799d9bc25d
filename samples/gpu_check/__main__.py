"""The command line of gpu_check.sh."""

import argparse
import pathlib
import sys

import bundle
import summary
import tiers
from budget import Problem
from check import Check, NoDevice
from place import Place


def main():
    parser = argparse.ArgumentParser(prog="gpu_check.sh", allow_abbrev=False)
    parser.add_argument("--pack", type=pathlib.Path, metavar="FILE.tar.xz")
    parser.add_argument("--fast", action="store_true", help="pack with less effort, for tests")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("gpu_check.results"))
    parser.add_argument("--cifar10", type=pathlib.Path, metavar="DIR")
    parser.add_argument("--tiers", type=int, choices=range(1, 5), default=4)
    options = parser.parse_args()
    if options.pack:
        bundle.pack(Place.here(), options.pack, options.fast)
        return 0
    if not options.minutes > 0:
        parser.error("--minutes: expected a number above 0")
    check = Check(Place.here(), options)
    try:
        tiers.run_all(check)
    except NoDevice as reason:
        print(f"gpu_check: no GPU can be used here: {reason}", file=sys.stderr)
        return 1
    return summary.write(check)


try:
    sys.exit(main())
except (Problem, OSError) as problem:
    print(f"gpu_check: {problem}", file=sys.stderr)
    sys.exit(1)
