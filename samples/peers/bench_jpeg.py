#!/usr/bin/env python3
"""JPEGs as they are, random resized crop to 224 and flip, 2 threads: builds of ours beside other loaders.

    bench_jpeg.py --ours before=OLD/feedrate --ours "now=build/release/feedrate --no-crop-index" \\
        --ours "crop index=build/release/feedrate" --peer torchvision=PYTHON --peer tf.data=PYTHON \\
        --peer dali=PYTHON --out DIRECTORY ARCHIVES

ARCHIVES is a directory with ILSVRC2012's. Options of 'feedrate load' may follow a build's path. The last build
converts the archives and makes the crop index, which older ones do not know. All take turns; medians of the
rounds, and for ours the time that a worker spends on an image in each stage. The peers read the same bytes as
files, but for ffcv, which re-encodes the images into a file of its own. Every process ends before the next begins.
"""
import argparse
import json
import pathlib
import shlex
import statistics

from harness import HERE, answer, keep, run

ROUNDS = 5  # of ours; a peer's figure is the median of its own three, taken once
CASES = [("original photographs", []),
         ("quality 90, long side 256", ["--encode", "jpeg:90", "--resize", "long:256"])]


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as lines:
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return {key.strip(): value.strip() for key, value in fields.items()
            if key.strip() in ("model name", "cpu family", "model")}


def ours(programs, dataset):
    """By name: images/s, and µs an image of processor time and of workers in each stage."""
    found = {name: [] for name in programs}
    for _ in range(ROUNDS):
        for name, program in programs.items():
            program, *options = shlex.split(program)
            found[name].append(answer(
                program, "load", dataset, "--recipe", "imagenet-train", "--batch", 128, "--threads", 2,
                "--seconds", 3, "--no-digest", "--json", *options))

    def median(name, of):
        return round(statistics.median(of(row) for row in found[name]))
    return {name: {"images_per_second": median(name, lambda row: row["images_per_second"]),
                   "cpu_us": median(name, lambda row: 1e6 * row["cpu_seconds_per_image"]),
                   **{f"{stage}_us": median(name, lambda row, stage=stage: 1e6 * row["busy"][stage] / row["images"])
                      for stage in ("read", "decode", "augment")}}
            for name in programs}


def peer(name, python, folder):
    if name == "ffcv":
        return {"images_per_second": answer(python, HERE / "ffcv_peer.py", "jpeg", folder, folder.with_suffix(".beton")),
                "read": "JPEGs re-encoded at quality 90, in a .beton"}
    script, what = ("loader_peer.py", "photographs") if name == "torchvision" else ("jpeg_peer.py", name)
    return {"images_per_second": answer(python, HERE / script, what, folder), "read": "files"}


def named(text):
    name, _, value = text.partition("=")
    return name, value


def options_of(description, name, seconds):
    """The options that benchmarks in turns share; makes the directory of --out."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--feedrate", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(f"build/{name}"))
    parser.add_argument("--peer", action="append", type=named, default=[], metavar="NAME=PYTHON")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    return options


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=pathlib.Path)
    parser.add_argument("--ours", action="append", type=named, required=True, metavar="NAME=PROGRAM")
    parser.add_argument("--peer", action="append", type=named, default=[], metavar="NAME=PYTHON")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    programs = dict(options.ours)
    converter = shlex.split(list(programs.values())[-1])[0]
    with open(options.out / "jpeg.jsonl", "w", encoding="utf-8") as rows:
        for number, (case, how) in enumerate(CASES):
            folder = options.out / f"files-{number}"
            if not folder.exists():
                run(converter, "convert", "imagenet", options.archives, "--split", "train", "--to", "folder",
                    *how, "--out", folder)
                run(converter, "index", folder, "--crops")
            found = ours(programs, folder)
            found.update({name: peer(name, python, folder) for name, python in options.peer})
            for name, row in found.items():
                row = {"case": case, "loader": name, **row, "processor": processor()}
                keep(rows, row)
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
