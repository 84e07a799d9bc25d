#!/usr/bin/env python3
"""A zip of folders, converted as it is, beside unzip and a conversion of the directory.

    samples/bench_archive.py --feedrate build/release/feedrate [--threads 2] [--repeat 5] [--out DIR]

Makes Kaggle's ImageNet (4,000 JPEGs, 400 MB), stored as it is and deflated, and converts its training images to RecordIO in
turns: straight from the zip, and by `unzip` followed by the conversion of what it wrote. The two must give the same images.
Leaves archive.jsonl in DIR (default build/bench-archive) and prints a table of seconds and of the ratio of the two in the same
round. Needs unzip.
"""
import hashlib
import pathlib
import resource
import shutil
import statistics
import sys
import time
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import bench_jpeg
from harness import keep, made_archives, run

IMAGES = 4000
NAME = "imagenet-object-localization-challenge.zip"
INNER = "ILSVRC/Data/CLS-LOC"
IR_HEADER = 24  # bytes in front of an image in a record: flag, label, two ids


def made(options):
    """The zip by how its entries are stored."""
    stored = made_archives(options.feedrate, "imagenet-kaggle", IMAGES, options.out) / NAME
    deflated = options.out / "deflated.zip"
    if not deflated.exists():
        partial = deflated.with_suffix(".partial")
        with zipfile.ZipFile(stored) as source, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as to:
            for entry in source.namelist():
                to.writestr(entry, source.read(entry))
        partial.rename(deflated)
    return {"stored": stored, "deflated": deflated}


def convert(options, source, out):
    run(options.feedrate, "convert", "folder", source, "--split", "train", "--to", "recordio", "--threads", options.threads,
        "--out", out)


def images(path):
    """The label, the name and a digest of the stored bytes of each image, in any order: a zip keeps its own order, a
    directory is sorted."""
    listed = [line.split("\t") for line in (path / "data.lst").read_text(encoding="utf-8").splitlines()]
    offsets = dict(line.split("\t") for line in (path / "data.idx").read_text(encoding="utf-8").splitlines())
    records = (path / "data.rec").read_bytes()

    def digest(key):
        at = int(offsets[key])
        length = int.from_bytes(records[at + 4:at + 8], "little") & (1 << 29) - 1
        return hashlib.sha256(records[at + 8 + IR_HEADER:at + 8 + length]).hexdigest()

    return sorted((label, name, digest(key)) for key, label, name in listed)


def timed(action, *outputs):
    """Seconds, and seconds of processor time, without those that removing earlier outputs takes."""
    for path in outputs:
        shutil.rmtree(path, ignore_errors=True)

    def used():
        of = resource.getrusage(resource.RUSAGE_CHILDREN)
        return of.ru_utime + of.ru_stime

    began, before = time.monotonic(), used()
    action()
    return time.monotonic() - began, used() - before


def main():
    options = bench_jpeg.options_of(__doc__, "bench-archive", 0)
    rows = open(options.out / "archive.jsonl", "w", encoding="utf-8")
    files, straight, beside = (options.out / name for name in ("files", "straight", "beside"))

    def by_unzip(archive):
        run("unzip", "-q", archive, "-d", files)
        convert(options, files / INNER, beside)

    print("| entries | straight, s | unzip + convert, s | times as fast | processor time |\n|---|---|---|---|---|")
    for kind, archive in made(options).items():
        ours, others = [], []
        for _ in range(options.repeat):
            ours.append(timed(lambda: convert(options, archive, straight), straight))
            others.append(timed(lambda: by_unzip(archive), files, beside))
            if images(straight) != images(beside):
                sys.exit("bench_archive: the two conversions differ")
        # Of rounds, not of medians: a shared machine is slower in some rounds than in others.
        ratio, cpu = (statistics.median(other[i] / our[i] for our, other in zip(ours, others)) for i in (0, 1))
        keep(rows, {"entries": kind, "images": IMAGES, "bytes": archive.stat().st_size, "threads": options.threads,
                    "straight": ours, "unzip_and_convert": others, "ratio": ratio, "cpu_ratio": cpu,
                    "processor": bench_jpeg.processor()})
        medians = (statistics.median(seconds for seconds, _ in one) for one in (ours, others))
        print(f"| {kind} |", " | ".join(f"{median:.1f}" for median in medians), f"| {ratio:.2f} | {cpu:.2f} |", flush=True)
    rows.close()


if __name__ == "__main__":
    main()
