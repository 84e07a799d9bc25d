#!/usr/bin/env python3
"""The loader from Python beside the loader from the shell, in one run, with the limits that hold for Python.

    samples/bench_python.py --feedrate build/release/feedrate [--threads 2] [--repeat 5] [--seconds 3] [--out DIR] \\
        [--peer NAME=PYTHON]…        torchvision, tf.data, dali, turboloader, spdl, ffcv: each by a Python that has it

Run it by a Python that finds the package (PYTHONPATH=build/release/python, or the wheel). The photographs and CIFAR-10
are real where $FEEDRATE_DATA has imagenet/ and cifar10/, made otherwise; the million images are made. Rates take turns,
and medians are compared; a peer's figure is the median of its own three, with 2 threads, on the same JPEGs as files;
FFCV's, on JPEGs that it re-encoded at quality 90, and on pixels of CIFAR-10's size, both in a file of its own.
Leaves the datasets and python.jsonl in DIR (default build/bench-python) and prints a table; exits with 1 where a limit
is missed.

    limit                                                            why
    photographs, random resized crop to 224: 97 % of the shell's     Python adds a constant to a batch
    CIFAR-10, batches of 512: 500,000 images/s on two cores          and the constant is small
    import feedrate: 100 ms                                          it imports no framework
    first batch of a million images: 200 ms                          opening and shuffling read no image
"""
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import bench_jpeg
from harness import HERE, answer, archives, made_archives, run

# Each measurement is a fresh process, as in the shell. Prints images/s, after a second of warming up.
RATE = """
import sys, time, feedrate
path, recipe, batch, threads, seconds = sys.argv[1:]
loader = feedrate.Loader(path, recipe, batch=int(batch), threads=int(threads), epochs=None)
images, start, end = 0, None, time.perf_counter() + 1
for one in loader:
    now = time.perf_counter()
    if start is not None:
        images += len(one)
        if now > end:
            break
    elif now > end:
        start, end = now, now + float(seconds)
print(images / (now - start))
"""
IMPORT = "import time; start = time.perf_counter(); import feedrate; print(1e3 * (time.perf_counter() - start))"
FIRST = """
import sys, time, feedrate
start = time.perf_counter()
next(iter(feedrate.Loader(sys.argv[1], batch=64, threads=2)))
print(1e3 * (time.perf_counter() - start))
"""


def python(code, *words):
    return float(run(sys.executable, "-c", code, *words))


def shell(feedrate, path, recipe, batch, options):
    return answer(feedrate, "load", path, "--recipe", recipe, "--batch", batch, "--threads", options.threads,
                  "--seconds", options.seconds, "--no-digest", "--json")["images_per_second"]


def dataset(feedrate, out, source, images, *how):
    """The path of a dataset of real images, or of `images` made ones."""
    place = out / f"{source}-{images}"
    if place.exists():
        return place
    found = (made_archives if how == ("made",) else archives)(feedrate, source, images, out)
    run(feedrate, "convert", source, found, "--to", "recordio" if source == "mnist" else "lmdb", "--out", place)
    return place


def median(measure, repeat):
    return statistics.median(measure() for _ in range(repeat))


def rates(options, path, recipe, batch):
    """Medians of the shell's and of Python's rate, measured in turns."""
    ours, theirs = [], []
    for _ in range(options.repeat):
        theirs.append(shell(options.feedrate, path, recipe, batch, options))
        ours.append(python(RATE, path, recipe, batch, options.threads, options.seconds))
    return statistics.median(theirs), statistics.median(ours)


def main():
    options = bench_jpeg.options_of(__doc__, "bench-python", 3)
    photographs = dataset(options.feedrate, options.out, "imagenet", 240)
    cifar = dataset(options.feedrate, options.out, "cifar10", 50000)
    million = dataset(options.feedrate, options.out, "mnist", 1000000, "made")

    jpegs, small = "photographs, batches of 128, images/s", "CIFAR-10, batches of 512, images/s"
    rows = open(options.out / "python.jsonl", "w", encoding="utf-8")
    missed = False
    print("| what | shell | Python | limit | |\n|---|---|---|---|---|")

    def row(what, theirs, ours, limit, holds):
        nonlocal missed
        missed = missed or not holds
        found = {"what": what, "shell": theirs, "python": ours, "limit": limit}
        print(json.dumps({**found, "processor": bench_jpeg.processor()}), file=rows, flush=True)
        said = f"{ours:,.0f}" if theirs is None else f"{ours:,.0f}, {ours / theirs:.1%}"
        shells = "" if theirs is None else f"{theirs:,.0f}"
        print(f"| {what} | {shells} | {said} | {limit:,.0f} | {'holds' if holds else 'MISSED'} |", flush=True)

    theirs, ours = rates(options, photographs, "imagenet-train", 128)
    row(jpegs, theirs, ours, 0.97 * theirs, ours >= 0.97 * theirs)
    theirs, ours = rates(options, cifar, "cifar-train", 512)
    row(small, theirs, ours, 500_000, ours >= 500_000)
    took = median(lambda: python(IMPORT), options.repeat)
    row("import feedrate, ms", None, took, 100, took <= 100)
    took = median(lambda: python(FIRST, million), options.repeat)
    row("first batch of a million images, ms", None, took, 200, took <= 200)
    files = options.out / "files"
    if options.peer and not files.exists():
        run(options.feedrate, "convert", "dataset", photographs, "--to", "folder", "--out", files)

    def peer_row(what, name, found):
        rate = found["images_per_second"]
        print(json.dumps({"what": what, "peer": name, "read": found["read"], "python": rate}), file=rows, flush=True)
        print(f"| {what}, by {name} from {found['read']} | | {rate:,} | | |", flush=True)

    for name, interpreter in options.peer:
        peer_row(jpegs, name, bench_jpeg.peer(name, interpreter, files))
        if name == "ffcv":
            rate = answer(interpreter, HERE / "ffcv_peer.py", "cifar", files, options.out / "cifar.beton")
            peer_row(small, name, {"images_per_second": rate, "read": "raw pixels in a .beton"})
    rows.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
