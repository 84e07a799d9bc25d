#!/usr/bin/env python3
"""How far few cores foretell many, an emulated trainer stands for a real one, and planted limits are named.

    samples/bench_emulated.py TABLE… --feedrate build/release/feedrate [--out DIR] [--seconds 2] [--rounds 5]

    hidden    the supply of all cores, predicted from half of them (by affinity, and by a quota), for every
              dataset and format: at most 5 % off in the median, and the range of cores holds all of them
    real      rates delivered to the CPU trainer, and to one that is emulated at its own rate: at most 3 % off
    limits    slow storage, a quota, few cores, few threads and nothing, planted in turns with an emulated
              device, 20 times each: all named

The first two need a quiet machine. Photographs, CIFAR-10 and MNIST are real where $FEEDRATE_DATA has them, made
otherwise. Leaves the datasets in DIR (default build/bench-emulated) and a line of JSON for each table in
emulated.jsonl there, and prints it; exits with 1 where an aim is missed. samples/gpu_check.sh runs the same beside
a GPU."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "gpu_check"), str(HERE / "peers")]
sys.dont_write_bytecode = True

import emulated
import harness
from budget import Absent, Failed, Finished

# By the images: the source's arguments, the recipe, the batch, and by the name of a format its options.
KEPT = {"lmdb": ["--to", "lmdb"], "recordio": ["--to", "recordio"], "tfrecord": ["--to", "tfrecord"],
        "webdataset": ["--to", "webdataset"], "folder": ["--to", "folder"],
        "png-map": ["--to", "png-map"]}
PACKED = {"recordio-packed": ["--to", "recordio", "--encode", "packed"],
          "lmdb-packed": ["--to", "lmdb", "--encode", "packed"],
          "lmdb-raw": ["--to", "lmdb", "--encode", "raw"]}
IMAGES = {"imagenet": ("imagenet-train", 64, KEPT | PACKED), "cifar10": ("cifar-train", 256, KEPT),
          "mnist": ("none", 256, KEPT)}


class Here:
    """What the tables need of a gpu_check.Check: programs that run, and datasets."""

    def __init__(self, options):
        self.program, self.out, self.seconds = options.feedrate.resolve(), options.out, options.seconds
        self.results = options.out / "results.jsonl"

    def run(self, *words, limit=None):
        words = [str(word) for word in (self.program, *words)]
        done = subprocess.run(words, capture_output=True, text=True)
        said = Finished(done.returncode, done.stdout, done.stderr)
        if said.code != 0:
            raise Failed(f"{' '.join(words)}: {said.last_words()}")
        return said

    def feedrate(self, *words, limit=None):
        return json.loads(self.run(*words, "--json").output)

    def log(self):
        return self.out / "log"

    def dataset(self, name):
        """`images/format`, made when it is first asked for."""
        path = self.out / name
        if path.exists():
            return path
        images, kept = name.split("/")
        first = self.out / images / "recordio"
        if path == first:
            archives = harness.archives(self.program, images, 1000, self.out)
            self.run("convert", images, archives, "--to", "recordio", "--split", "train", "--out", path)
        else:
            self.run("convert", "dataset", self.dataset(f"{images}/recordio"),
                     *IMAGES[images][2][kept], "--out", path)
        return path


def hidden(here, options):
    """By each way to hide cores. All rows of one way are judged together."""
    cases = {f"{images}/{kept}": (recipe, batch)
             for images, (recipe, batch, formats) in IMAGES.items() for kept in formats}
    if options.only:
        cases = {name: case for name, case in cases.items() if options.only in name}
    return {way: lambda hide=hide: emulated.hidden_cores(here, cases, options.rounds, options.seconds,
                                                         hide)
            for way, hide in (("affinity", emulated.by_affinity), ("quota", emulated.by_quota))}


def real(here, options):
    """Our CPU trainer on one of the cores, which it keeps busy, and one that is emulated."""
    return {"cpu": lambda: emulated.beside_real(
        here, "mnist/lmdb", (0, 1), options.seconds, options.rounds, recipes=["none"], batches=[64],
        networks=["lenet"], devices=["cpu"], precisions=["fp32"], compute_threads=1, host_cores=1)}


def limits(here, options):
    return {"limits": lambda: emulated.limits(here, 20 * len(emulated.NAMES), "imagenet/recordio", "imagenet/lmdb-raw")}


TABLES = {"hidden": hidden, "real": real, "limits": limits}


def main():
    parser = argparse.ArgumentParser(description="See the head of this file.")
    parser.add_argument("tables", nargs="+", choices=TABLES, metavar="TABLE")
    parser.add_argument("--feedrate", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("build/bench-emulated"))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", help="datasets whose name has this, as imagenet or /lmdb")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    here, missed = Here(options), False
    for table in options.tables:
        for way, run in TABLES[table](here, options).items():
            row = {"table": table, "way": way, "status": "ok", "reason": None}
            try:
                row["facts"] = run()
            except Failed as reason:
                row |= {"status": "failed", "reason": str(reason), "facts": reason.facts}
            except Absent as reason:
                row |= {"status": "absent", "reason": str(reason)}
            missed |= row["status"] == "failed"
            print(json.dumps(row, indent=1), flush=True)
            with (options.out / "emulated.jsonl").open("a") as rows:
                rows.write(json.dumps(row) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
