#!/usr/bin/env python3
"""Parquet of the Hugging Face Hub and Mosaic's MDS, read where they lie, beside RecordIO of the same JPEGs.

    samples/bench_hub.py --feedrate build/release/feedrate [--threads 2] [--repeat 5] [--seconds 4] [--out DIR] \\
        [--peer NAME=PYTHON]…        datasets, streaming: each by a Python that has it, torch and torchvision

Run it by a Python that has pyarrow and mosaicml-streaming, which write the two. The photographs are real where
$FEEDRATE_DATA has imagenet/, made otherwise. The loader makes random crops of 224 in turns from each, and medians are
compared. A peer makes the same crops by torchvision, with as many workers as the loader has threads; its figure is
the median of three. Leaves the datasets and hub.jsonl in DIR (default build/bench-hub) and prints a table; exits with 1
where Parquet or MDS gives less than 95 % of RecordIO's images/s.
"""
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import bench_jpeg
from harness import archives, answer, keep, peer_answer, run

IMAGES = 1000
BATCH = 128
LEAST = 0.95
READ_BY = {"datasets": "parquet", "streaming": "mds"}


def write_parquet(pictures, path):
    """As `datasets` writes it: groups of 100 rows, images as {bytes, path}."""
    import pyarrow
    import pyarrow.parquet

    kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    rows = [({"bytes": image.read_bytes(), "path": image.name}, label) for image, label in pictures]
    table = pyarrow.table({"image": pyarrow.array([image for image, _ in rows], kind),
                           "label": pyarrow.array([label for _, label in rows])})
    path.mkdir()
    pyarrow.parquet.write_table(table, path / "train-00000-of-00001.parquet", row_group_size=100)


def write_mds(pictures, path):
    """Images as their files hold them, in shards of 64 MiB."""
    from PIL import Image
    from streaming import MDSWriter

    with MDSWriter(out=str(path), columns={"image": "jpeg", "label": "int"}) as writer:
        for image, label in pictures:
            writer.write({"image": Image.open(image), "label": label})  # it copies the file


def made(options):
    """The same JPEGs in each format."""
    out = options.out
    paths = {name: out / name for name in ("recordio", "parquet", "mds")}
    if not paths["recordio"].exists():
        found = archives(options.feedrate, "imagenet", IMAGES, out)
        run(options.feedrate, "convert", "imagenet", found, "--to", "recordio", "--out", paths["recordio"])
    files = out / "files"
    if not files.exists():
        run(options.feedrate, "convert", "dataset", paths["recordio"], "--to", "folder", "--out", files)
    classes = sorted(one for one in files.iterdir() if one.is_dir())
    pictures = [(image, label) for label, one in enumerate(classes) for image in sorted(one.iterdir())]
    for name, write in (("parquet", write_parquet), ("mds", write_mds)):
        if not paths[name].exists():
            write(pictures, paths[name])
    return paths


def loaded(options, path):
    """Images/s, and µs of processor time an image, which a shared machine disturbs less."""
    found = answer(options.feedrate, "load", path, "--recipe", "imagenet-train", "--batch", BATCH, "--threads",
                  options.threads, "--seconds", options.seconds, "--no-digest", "--json")
    return found["images_per_second"], 1e6 * found["cpu_seconds_per_image"]


def main():
    options = bench_jpeg.options_of(__doc__, "bench-hub", 4)
    paths = made(options)
    rounds = [{name: loaded(options, path) for name, path in paths.items()} for _ in range(options.repeat)]
    rows = open(options.out / "hub.jsonl", "w", encoding="utf-8")
    recordio = statistics.median(one["recordio"][0] for one in rounds)
    print("| read | images/s | of RecordIO's | µs of processor time an image |\n|---|---|---|---|")
    missed = False
    for name in paths:
        found, times = zip(*(one[name] for one in rounds))
        # Of rounds, not of medians: a shared machine is slower in some rounds than in others.
        share = statistics.median(one[name][0] / one["recordio"][0] for one in rounds)
        missed = missed or share < LEAST
        keep(rows, {"read": name, "by": "feedrate", "threads": options.threads, "images_per_second": found, "cpu_us": times,
                    "share": share, "processor": bench_jpeg.processor()})
        print(f"| {name} | {statistics.median(found):,.0f} | {share:.1%} | {statistics.median(times):,.0f} |", flush=True)
    for name, interpreter in options.peer:
        words = [name, paths[READ_BY[name]], options.threads, BATCH, options.seconds]
        answers = [peer_answer(interpreter, "hub_peer.py", *words) for _ in range(3)]
        found = [one["images_per_second"] for one in answers]
        times = [1e6 * one["cpu_seconds_per_image"] for one in answers]
        peer = statistics.median(found)
        keep(rows, {"read": READ_BY[name], "by": name, "workers": options.threads, "images_per_second": found,
                    "cpu_us": times})
        print(f"| {READ_BY[name]} by {name} | {peer:,.0f} | {peer / recordio:.1%} | {statistics.median(times):,.0f} |",
              flush=True)
    rows.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
