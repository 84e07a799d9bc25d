#!/usr/bin/env python3
"""Random pairs and triples of options of every command, against an independent reading.

    product_test.py FEEDRATE [--seed N] [--seconds S] [--only K] [--world DIRECTORY]

A combination is a function of the seed and its number, but for the moments of signals, which follow the
time that commands take. One that fails prints the lines that repeat it in what --world makes."""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

import conversions
import descriptions
import inputs
import loads
import readers
import session
import table
import trainings
import walks

FORMATS = ["lmdb", "recordio", "tfrecord", "webdataset", "png-map", "folder"]
SAME_IMAGES = [FORMATS[:5], [f"cifar-{name}" for name in FORMATS[:5]]]  # a folder is read class by class
CASES = {case: weight * share for module, share in
         ((conversions, 5), (loads, 6), (descriptions, 3), (trainings, 4), (walks, 5))
         for case, weight in module.CASES.items()}
MAX_SHOWN = 20


class World:
    """Sources, and datasets made of them, which combinations copy."""

    def __init__(self, program, directory):
        self.directory = pathlib.Path(directory)
        self.sources = inputs.make(program, directory)
        self.datasets = {}
        for name in FORMATS:
            self.dataset(program, name, "mnist", "mnist", name)
            if name != "folder":  # read in another order
                self.dataset(program, f"cifar-{name}", "cifar10", "cifar", name)
        self.dataset(program, "other", "mnist", "gz", "lmdb")
        self.sources["lmdb"] = inputs.Source("dataset", ["lmdb"], {"train": self.sources["mnist"].samples["train"]})
        self.dataset(program, "jpeg-lmdb", "folder", "jpegs", "lmdb")
        self.dataset(program, "packed-recordio", "folder", "jpegs", "recordio", "--encode", "packed")
        call = lambda *words: inputs.call(program, directory, *words)
        call("train", "lmdb", "--network", "lenet", "--steps", "1", "--checkpoint", "lenet.st")
        call("bench", "lmdb", "--threads", "0,1", "--repeat", "2", "--seconds", "0.05", "--beside-others",
             "--out", "results.jsonl")

    def dataset(self, program, name, kind, source, to, *options):
        inputs.call(program, self.directory, "convert", kind, source, "--to", to, "--out", name, *options)
        self.datasets[name] = to

    def stored(self, name):
        return readers.stored(self.directory / name, self.datasets[name])

    def same_images(self, draw):
        """Names of datasets that hold the same images in the same order."""
        return draw.choice(SAME_IMAGES)

    def alike(self, name):
        """Those of them that hold the images of `name`."""
        return next(names for names in SAME_IMAGES if name in names)

    def bring(self, into, *names):
        for name in names:
            origin, target = self.directory / name, into / name
            if origin.is_dir() and not target.exists():
                shutil.copytree(origin, target, copy_function=shutil.copy2)
            elif not target.exists():
                shutil.copy2(origin, target)


def run_one(program, world, commands, key):
    """(case, its session, what went wrong or None)"""
    draw = random.Random(key)
    case = draw.choices(list(CASES), weights=list(CASES.values()))[0]
    with tempfile.TemporaryDirectory(prefix="feedrate-product-") as scratch:
        one = session.Session(scratch, program, draw)
        world.bring(one, "order.txt", "weights.txt", "words.txt")
        problem = None
        try:
            case(one, world, commands)
        except session.Wrong as wrong:
            problem = str(wrong)
        except Exception:  # what was written cannot be read
            problem = traceback.format_exc()
        return case, one, problem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", metavar="FEEDRATE")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3600 if os.environ.get("FEEDRATE_LONG_TESTS") else 60)
    parser.add_argument("--only", type=int, metavar="K", help="only combination K, without its end in time")
    parser.add_argument("--world", metavar="DIRECTORY", help="only make what combinations start with")
    asked = parser.parse_args()
    # Ignored by nohup or behind the & of a script, they would be ignored by the programs too.
    for ignored in signal.SIGINT, signal.SIGHUP:
        signal.signal(ignored, signal.SIG_DFL)
    program, end = os.path.abspath(asked.program), time.monotonic() + asked.seconds
    commands = table.commands(program)
    counts, failed = collections.Counter(), []
    if asked.world:
        World(program, asked.world)
        return 0
    with tempfile.TemporaryDirectory(prefix="feedrate-world-") as directory:
        world = World(program, directory)
        number = asked.only or 0
        while asked.only == number or (asked.only is None and time.monotonic() < end):
            case, one, problem = run_one(program, world, commands, f"{asked.seed}/{number}")
            counts.update({"combinations": 1, "commands": one.commands, "refused": one.refused,
                           "stopped by a signal": one.killed, case.__name__: 1})
            if problem:
                failed.append(number)
                if len(failed) <= MAX_SHOWN:
                    report(asked, number, case, one, problem)
            elif asked.only is not None:
                print(*one.lines, sep="\n")
            number += 1
    print(", ".join(f"{count} {name}" for name, count in counts.items()),
          f"{len(failed)} failed{': ' + str(failed) if failed else ''}", sep="; ")
    return 1 if failed else 0


def report(asked, number, case, one, problem):
    print(f"\n--- {case.__module__}.{case.__name__}: {problem}\n"
          f"{__file__} {asked.program} --seed {asked.seed} --only {number}\n"
          f"{__file__} {asked.program} --world world && cd world\n" + "\n".join(one.lines), flush=True)


if __name__ == "__main__":
    sys.exit(main())
