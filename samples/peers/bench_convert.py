#!/usr/bin/env python3
"""Every source x format: Feedrate's conversion, a plain copy of what it wrote, the format's own tool.

Each of the three is a fresh process that ends with its bytes on disk (sync). The three take turns, and
medians are compared: ours with the copy, ours with the tool, and the copy with the tool, since no
program can write those bytes much faster than a copy does. A tool that is not installed has no figure.
Nothing is removed before a case is over, and many small files only at the end: ext4 without a journal
skips the inodes of recently removed files one by one, which costs each new file a millisecond.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from harness import HERE, hold_memory, keep, made_archives, tree_bytes

THREADS = "2"

# source, codec written, formats: what their readers take; images to make where there is no archive
CASES = [
    ("mnist", ["lmdb", "recordio", "tfrecord", "png-map", "webdataset"], 60000),
    ("cifar10", ["lmdb", "recordio", "tfrecord", "png-map", "webdataset"], 50000),
    ("imagenet", ["lmdb", "recordio", "tfrecord", "png-map", "webdataset"], 12000),
]

PUBLISHED = {"mnist": "train-images-idx3-ubyte.gz", "cifar10": "cifar-10-binary.tar.gz",
             "imagenet": "ILSVRC2012_img_train.tar"}


def whole_archives(feedrate, source, images, out):
    """The real archives as published, or made ones of the same size and packaging.

    A small sample of ILSVRC2012 is not used, since it would be converted too fast to time.
    """
    real = pathlib.Path(os.environ.get("FEEDRATE_DATA", "/nowhere")) / source
    published = real / PUBLISHED[source]
    if published.is_file() and (source != "imagenet" or published.stat().st_size > 500e6):
        return real
    return made_archives(feedrate, source, images, out)


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as lines:
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))


def timed(command, memory):
    hold_memory(memory)
    start = time.perf_counter()
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if result.returncode != 0:
        return None, result.stdout
    return time.perf_counter() - start, result.stdout


def copy_of(path):
    """A copy on one thread that ends with its bytes on disk, as the conversion does."""
    return ["sh", "-c", f'cp -r --reflink=never "{path}" "{path}.copy" && sync -f "{path}.copy"']


def unpacking_of(archive, source, to):
    """What users would do first: unpacks a .tar.gz, and syncs."""
    to.mkdir()
    return ["sh", "-c", f'tar xzf "{archive / PUBLISHED[source]}" -C "{to}" && sync -f "{to}"']


def measure(feedrate, source, archive, target, out, rounds):
    ours, copies, theirs, unpacking, answer = [], [], [], [], {}
    memory = 2 * tree_bytes(archive)
    for turn in range(rounds):
        here = out / str(turn)
        here.mkdir()
        os.sync()
        hold_memory(available_memory() * 3 // 4)
        path = here / "data"
        seconds, text = timed([feedrate, "convert", source, archive, "--split", "train", "--to", target,
                               "--out", path, "--threads", THREADS, "--json"], memory)
        if seconds is None:
            sys.exit(f"bench_convert: {source} to {target} failed")
        ours.append(seconds)
        answer = json.loads(text)["splits"][0]
        copies.append(timed(copy_of(path), memory)[0])
        if target == "lmdb" and PUBLISHED[source].endswith(".tar.gz"):
            command = unpacking_of(archive, source, here / "unpacked")
            unpacking.append(timed(command, memory)[0])
        seconds, _ = timed([sys.executable, HERE / "convert_peer.py", source, archive, target,
                            here / "peer"], memory)
        if seconds is not None:
            theirs.append(seconds)
    median = statistics.median
    size = tree_bytes(path)
    return {
        "source": source, "format": target, "codec": answer["codec"], "images": answer["samples"],
        "digest": answer["digest"], "bytes_digest": answer["bytes_digest"], "bytes": size,
        "seconds": round(median(ours), 3), "repeats": [round(s, 3) for s in ours],
        "images_per_second": round(answer["samples"] / median(ours)),
        "mb_per_second": round(size / 1e6 / median(ours), 1),
        "copy_seconds": round(median(copies), 3),
        "speed_of_copy": round(median(copies) / median(ours), 2),
        "unpack_seconds": round(median(unpacking), 3) if unpacking else None,
        "times_unpacking": round(median(ours) / median(unpacking), 2) if unpacking else None,
        "peer_seconds": round(median(theirs), 3) if theirs else None,
        "times_peer": round(median(theirs) / median(ours), 1) if theirs else None,
        "copy_times_peer": round(median(theirs) / median(copies), 1) if theirs else None,
    }


def line(row):
    peer, limit = (f"{row[key]}x" if row[key] else "-" for key in ("times_peer", "copy_times_peer"))
    return (f"| {row['source']} | {row['format']} x {row['codec']} | {row['images']:,} | "
            f"{row['bytes'] / 1e6:,.1f} | {row['seconds']} | {row['images_per_second']:,} | "
            f"{row['mb_per_second']} | {row['speed_of_copy']} | {peer} | {limit} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--feedrate", required=True, type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--only", default="/", metavar="SOURCE[/FORMAT]", help="the cases to measure")
    parser.add_argument("--images", type=int, help="images of a made archive")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    feedrate, out = options.feedrate.resolve(), options.out.resolve()
    only_source, _, only_target = options.only.partition("/")
    print("| source | written | images | MB | s | images/s | MB/s | of a copy's speed | x owning tool |"
          " a copy x owning tool |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with (tempfile.TemporaryDirectory(dir=out) as scratch,
          open(out / "convert.jsonl", "w", encoding="utf-8") as rows):
        for source, targets, images in CASES:
            targets = [target for target in targets if only_target in ("", target)]
            if only_source not in ("", source) or not targets:
                continue
            archive = whole_archives(feedrate, source, options.images or images, out)
            for target in targets:
                case = pathlib.Path(scratch) / f"{source}-{target}"
                case.mkdir()
                row = measure(feedrate, source, archive, target, case, options.rounds)
                keep(rows, row)
                print(line(row), flush=True)
                if target != "png-map":
                    shutil.rmtree(case)


if __name__ == "__main__":
    main()
