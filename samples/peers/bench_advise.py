#!/usr/bin/env python3
"""Checks the predictions of `feedrate advise`: makes in full every conversion that it tried on a sample
of the images, loads the result as advise did, and compares.

Each case is a published dataset, converted once, and a recipe. A row is one format of it, with predicted
and measured sizes and supply at one thread and at the most. An advice and a measurement of all its
formats take turns, seven times each, and medians are compared, since a shared machine's speed drifts
within minutes.
"""
import argparse
import pathlib
import shlex
import shutil
import statistics
import sys
import tempfile

from bench_convert import whole_archives
from harness import answer, hold_memory, keep, run, tree_bytes

# source, images of a made archive, kept as, recipe
CASES = [
    ("mnist", 60000, ["--to", "png-map"], "mnist"),
    ("cifar10", 50000, ["--to", "recordio"], "cifar-train"),
    ("cifar10", 50000, ["--to", "png-map"], "cifar-train"),
    ("imagenet", 2000, ["--to", "webdataset"], "imagenet-train"),
    ("imagenet", 2000, ["--to", "lmdb"], "imagenet-eval"),
]

ROUNDS = 7
NUMBERS = ("one_thread", "most_threads")


def loaded(feedrate, path, recipe, threads, seconds):
    return answer(feedrate, "load", path, "--recipe", recipe, "--threads", threads, "--seconds", seconds,
                  "--no-digest", "--json")["images_per_second"]


def made(feedrate, variant, dataset):
    """Converts the dataset by the advised command, unless it is the present one; returns its path."""
    if "command" not in variant:
        return dataset
    command = shlex.split(variant["command"])
    run(feedrate, *command[1:])
    return pathlib.Path(command[-1])


def advised(feedrate, dataset, recipe, total):
    """The formats of an advice by name, the present one first."""
    advice = answer(feedrate, "advise", dataset, "--recipe", recipe, "--seconds", total, "--json")
    return {variant["kept_as"]: variant for variant in [advice["now"], *advice["alternatives"]]}


def check(feedrate, case, dataset, recipe, seconds, total):
    paths = {kept_as: made(feedrate, variant, dataset)
             for kept_as, variant in advised(feedrate, dataset, recipe, 1).items()}
    said, came = [], []
    for _ in range(ROUNDS):
        hold_memory(2 << 30)
        variants = advised(feedrate, dataset, recipe, total)
        if variants.keys() != paths.keys():
            sys.exit(f"bench_advise: {', '.join(variants)} were tried of {dataset}, and {', '.join(paths)} before")
        said.append(variants)
        came.append({(kept_as, name): loaded(feedrate, paths[kept_as], recipe, variant[name]["threads"], seconds)
                     for kept_as, variant in variants.items() for name in NUMBERS})
    for kept_as, path in paths.items():
        def foreseen(of):
            return statistics.median(of(variants[kept_as]) for variants in said)
        row = {"source": case, "recipe": recipe, "kept_as": kept_as,
               "predicted_bytes": foreseen(lambda variant: variant["bytes"]),
               "bytes": tree_bytes(path),
               "doubt_percent": foreseen(lambda variant: variant["doubt_percent"])}
        for name in NUMBERS:
            rate = foreseen(lambda variant: variant[name]["images_per_second"])
            measured = statistics.median(rates[kept_as, name] for rates in came)
            row[name] = {"threads": said[0][kept_as][name]["threads"], "predicted": rate,
                         "measured": measured, "ratio": round(rate / measured, 3)}
        yield row
    for path in paths.values():
        if path != dataset:
            shutil.rmtree(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--feedrate", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1, help="length of each 'feedrate load'")
    parser.add_argument("--total", type=float, default=10, help="measuring time of 'feedrate advise'")
    options = parser.parse_args()
    feedrate, out = options.feedrate.resolve(), options.out.resolve()
    gains = []
    print("| source, recipe | kept as | MB: predicted, measured | images/s: predicted, measured | ratio |")
    print("|---|---|---|---|---|")
    with (tempfile.TemporaryDirectory(dir=out) as scratch,
          open(out / "advise.jsonl", "w", encoding="utf-8") as rows):
        for number, (source, images, options_to, recipe) in enumerate(CASES):
            dataset = pathlib.Path(scratch) / f"{source}-{number}"
            run(feedrate, "convert", source, whole_archives(feedrate, source, images, out), *options_to,
                "--split", "train", "--out", dataset)
            now = None
            for row in check(feedrate, source, dataset, recipe, options.seconds, options.total):
                now = now or row
                keep(rows, row)
                for name in NUMBERS:
                    point = row[name]
                    if row is not now:
                        gains.append(abs(point["ratio"] / now[name]["ratio"] - 1))
                    print(f"| {source}, {recipe} | {row['kept_as']}, {point['threads']} threads | "
                          f"{row['predicted_bytes'] / 1e6:,.1f}, {row['bytes'] / 1e6:,.1f} | "
                          f"{point['predicted']:,.0f}, {point['measured']:,.0f} | {point['ratio']:.2f} |",
                          flush=True)
    print(f"\nerror of the {len(gains)} predicted gains: median {100 * statistics.median(gains):.1f} %, "
          f"largest {100 * max(gains):.1f} %, {sum(gain <= 0.1 for gain in gains)} within 10 %")


if __name__ == "__main__":
    main()
