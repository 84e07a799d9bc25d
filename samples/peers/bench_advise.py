#!/usr/bin/env python3
"""Does what `feedrate advise` predicted come true? Every conversion that it tried on some of the images
is made of all of them, loaded as it was measured, and compared.

Each case is a dataset as published, converted once, and a recipe. A row is one way to keep it: predicted
and measured supply at one thread and at the most, and the sizes. An advice and a measurement of all its
ways take turns, seven of each, and medians are compared: a shared machine is another one minutes later.
"""
import argparse
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from bench_convert import archives, hold_memory  # noqa: E402

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


def run(command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def loaded(feedrate, path, recipe, threads, seconds):
    return json.loads(run([feedrate, "load", path, "--recipe", recipe, "--threads", str(threads),
                           "--seconds", str(seconds), "--no-digest", "--json"]))["images_per_second"]


def made(feedrate, way, dataset):
    """Where the dataset is kept in that way, converted by the advised command."""
    if "command" not in way:
        return dataset
    command = shlex.split(way["command"])
    run([feedrate, *command[1:]])
    return pathlib.Path(command[-1])


def advised(feedrate, dataset, recipe, total):
    """The ways by what they are kept as, that it is kept in now first."""
    advice = json.loads(run([feedrate, "advise", dataset, "--recipe", recipe, "--seconds", str(total),
                             "--json"]))
    return {way["kept_as"]: way for way in [advice["now"], *advice["alternatives"]]}


def check(feedrate, case, dataset, recipe, seconds, total):
    paths = {kept_as: made(feedrate, way, dataset)
             for kept_as, way in advised(feedrate, dataset, recipe, 1).items()}
    said, came = [], []
    for _ in range(ROUNDS):
        hold_memory(2 << 30)
        ways = advised(feedrate, dataset, recipe, total)
        if ways.keys() != paths.keys():
            sys.exit(f"bench_advise: {', '.join(ways)} were tried of {dataset}, and {', '.join(paths)} before")
        said.append(ways)
        came.append({(kept_as, name): loaded(feedrate, paths[kept_as], recipe, way[name]["threads"], seconds)
                     for kept_as, way in ways.items() for name in NUMBERS})
    for kept_as, path in paths.items():
        def foreseen(of):
            return statistics.median(of(ways[kept_as]) for ways in said)
        row = {"source": case, "recipe": recipe, "kept_as": kept_as,
               "predicted_bytes": foreseen(lambda way: way["bytes"]),
               "bytes": sum(f.stat().st_size for f in path.rglob("*") if f.is_file()),
               "doubt_percent": foreseen(lambda way: way["doubt_percent"])}
        for name in NUMBERS:
            rate = foreseen(lambda way: way[name]["images_per_second"])
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
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement by 'feedrate load'")
    parser.add_argument("--total", type=float, default=10, help="that 'feedrate advise' measures for")
    options = parser.parse_args()
    feedrate, out = options.feedrate.resolve(), options.out.resolve()
    gains = []
    print("| source, recipe | kept as | MB: predicted, measured | images/s: predicted, measured | ratio |")
    print("|---|---|---|---|---|")
    with (tempfile.TemporaryDirectory(dir=out) as scratch,
          open(out / "advise.jsonl", "w", encoding="utf-8") as rows):
        for number, (source, images, options_to, recipe) in enumerate(CASES):
            dataset = pathlib.Path(scratch) / f"{source}-{number}"
            run([feedrate, "convert", source, archives(feedrate, source, images, out), *options_to,
                 "--split", "train", "--out", dataset])
            now = None
            for row in check(feedrate, source, dataset, recipe, options.seconds, options.total):
                now = now or row
                rows.write(json.dumps(row) + "\n")
                rows.flush()
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
