#!/usr/bin/env python3
"""Common kinds of images: Feedrate's loader, plain threads with the same work, torchvision, FFCV.

The figures of Feedrate and of the plain threads come from bench_loader: medians of five runs that take
turns. A peer's figure is the median of three. A peer that is not installed or has no such reader has
no figure. FFCV keeps the images in a file of its own, as JPEG of quality 90 or raw.
"""
import argparse
import pathlib
import re

from harness import archives, keep, peer_answer, run

TRAIN = "imagenet-train"

# name, source, options of convert, recipe, batch, kind of data for torchvision
CASES = [
    ("original JPEG, lmdb", "imagenet", ["--to", "lmdb"], TRAIN, 128, "photographs"),
    ("the same packed, lmdb", "imagenet", ["--to", "lmdb", "--encode", "packed"], TRAIN, 128,
     None),
    ("original JPEG, recordio", "imagenet", ["--to", "recordio"], TRAIN, 128, None),
    ("the same with a crop index, recordio", "imagenet", ["--to", "recordio", "--crops"], TRAIN, 128, None),
    ("original JPEG, tfrecord", "imagenet", ["--to", "tfrecord"], TRAIN, 128, None),
    ("original JPEG, webdataset", "imagenet", ["--to", "webdataset"], TRAIN, 128, None),
    ("JPEG q90, lmdb", "imagenet", ["--to", "lmdb", "--encode", "jpeg:90"], TRAIN, 128,
     "photographs"),
    ("JPEG q90, long side 256, lmdb", "imagenet",
     ["--to", "lmdb", "--encode", "jpeg:90", "--resize", "long:256"], TRAIN, 128, "photographs"),
    ("raw, long side 256, lmdb", "imagenet",
     ["--to", "lmdb", "--encode", "raw", "--resize", "long:256"], TRAIN, 128, None),
    ("PNG, recordio", "imagenet", ["--to", "recordio", "--encode", "png"], TRAIN, 128, None),
    ("CIFAR-10 raw, lmdb", "cifar10", ["--to", "lmdb"], "cifar-train", 128, "cifar"),
    ("MNIST raw, lmdb", "mnist", ["--to", "lmdb"], "mnist", 64, "mnist"),
]
# How FFCV keeps the same images.
FFCV = {"JPEG q90, lmdb": "jpeg", "JPEG q90, long side 256, lmdb": "jpeg256",
        "raw, long side 256, lmdb": "raw256"}
MADE = {"imagenet": 1000, "cifar10": 50000, "mnist": 60000}  # images, where there is no archive


def place(out, what, case):
    """A path named after the case, since OUT may hold data of another version's cases."""
    return out / f"{what}-{re.sub(r'[^0-9A-Za-z]+', '-', case)}"


def converted(feedrate, archive, source, how, path):
    if not path.exists():
        run(feedrate, "convert", source, archive, *how, "--out", path)
    return path


def ours(bench, path, recipe, batch):
    """The figures, which are the last seven words that bench_loader prints."""
    words = run(bench, f"{path},{recipe},{batch}").split()[-7:]
    loader, spread, _, one, two, ratio, cpu_ratio = words
    return {"images_per_second": int(loader), "spread_percent": int(spread),
            "one_kernel": int(one), "two_kernels": int(two),
            "ratio": float(ratio), "cpu_ratio": float(cpu_ratio)}


def theirs(python, script, kind, *paths):
    return peer_answer(python, script, kind, *paths) if python and kind else None


def times(row, peer):
    return f"{row['images_per_second'] / row[peer]:.1f}x of {row[peer]:,}" if row[peer] else "-"


def line(row):
    return (f"| {row['case']} | {row['images_per_second']:,} | {row['spread_percent']} % | "
            f"{row['one_kernel']:,} | {row['two_kernels']:,} | {row['ratio']:.2f} | "
            f"{row['cpu_ratio']:.2f} | {times(row, 'peer')} | {times(row, 'ffcv')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--peer-python")
    parser.add_argument("--ffcv-python")
    options = parser.parse_args()
    build, out = options.build.resolve(), options.out.resolve()
    feedrate, bench = build / "feedrate", build / "bench_loader"
    print("| case | images/s, 2 threads | spread | one kernel | two kernels | of two | by CPU time |"
          " torchvision, 2 workers | FFCV, 2 workers |")
    print("|---|---|---|---|---|---|---|---|---|")
    with open(out / "loader.jsonl", "w", encoding="utf-8") as rows:
        for case, source, how, recipe, batch, peer_kind in CASES:
            archive = archives(feedrate, source, MADE[source], out)
            path = converted(feedrate, archive, source, how, place(out, "data", case))
            read_by_peer = path
            if peer_kind == "photographs":  # the same bytes as files, a folder for each class
                read_by_peer = converted(feedrate, path, "dataset", ["--to", "folder"],
                                         place(out, "files", case))
            row = {"case": case, "recipe": recipe, "batch": batch, "threads": 2,
                   **ours(bench, path, recipe, batch)}
            row["peer"] = theirs(options.peer_python, "loader_peer.py", peer_kind, read_by_peer)
            kind = FFCV.get(case)
            row["ffcv"] = theirs(options.ffcv_python, "ffcv_peer.py", kind, place(out, "files", CASES[0][0]),
                                 out / f"ffcv-{kind}.beton")
            keep(rows, row)
            print(line(row), flush=True)


if __name__ == "__main__":
    main()
