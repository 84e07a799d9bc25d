#!/usr/bin/env python3
"""Shards against the webdataset library: it reads what Feedrate writes, and the other way round.

    webdataset.py FEEDRATE        needs webdataset, pillow and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what the library returned. Indexes are compared with those
that wds2idx would write, from the offsets that Python's tarfile finds.
"""
import io
import json
import pathlib
import sys
import tarfile
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
import webdataset as wds
from PIL import Image
from program import digest_of, equal, feedrate, verified


def pixels_of(image):
    pixels = np.asarray(Image.open(io.BytesIO(image)))
    return pixels.reshape(*pixels.shape[:2], -1)


def read_by_library(urls):
    """Samples without decoding: every file as its bytes in the tar."""
    return list(wds.WebDataset(str(urls), shardshuffle=False, empty_check=False))


def encoded(number, kind):
    random = np.random.default_rng(number)
    shape = (6 + number % 5, 9) if number % 4 == 0 else (6 + number % 5, 9, 3)
    file = io.BytesIO()
    Image.fromarray(random.integers(0, 256, shape, np.uint8)).save(file, kind)
    return file.getvalue()


def index_of(tar):
    """The index that DALI's wds2idx would write for the tar."""
    lines, last = [], None
    with tarfile.open(tar) as archive:
        for member in archive:
            key, extension = member.name.split(".", 1)
            if key != last:
                lines.append([])
            last = key
            lines[-1].append(f"{extension} {member.offset_data} {member.size} {member.name}")
    return "".join(f"{line}\n" for line in [f"v1.2 {len(lines)}", *map(" ".join, lines)])


def check_written_png(work):
    """Raw images written as PNG, in one shard and in three."""
    feedrate("synth", "cifar10", "--images", 120, "--out", work / "cifar", "--seed", 6)
    digests = set()
    for shards in [1, 3]:
        out = work / f"cifar-{shards}"
        feedrate("convert", "cifar10", work / "cifar", "--to", "webdataset", "--split", "train",
                 "--shards", shards, "--out", out)
        samples = read_by_library(out / f"train-{{000000..{shards - 1:06}}}.tar")
        equal([s["__key__"] for s in samples], [f"{i:08}" for i in range(len(samples))], "keys")
        digests.add(digest_of((pixels_of(s["png"]), int(s["cls"])) for s in samples))
        digests.add(verified(out))
        for tar in sorted(out.glob("*.tar")):
            equal(tar.with_suffix(".idx").read_text(), index_of(tar), f"index of {tar.name}")
            equal(tar.stat().st_size % 10240, 0, f"padding of {tar.name}")
    equal(len(digests), 1, "number of digests of the same images")
    decoded = wds.WebDataset(str(out / "train-000000.tar"), shardshuffle=False).decode("rgb8")
    first = next(iter(decoded.to_tuple("png", "cls")))
    equal((first[0].shape, type(first[1])), ((32, 32, 3), int), "what decode() gives")
    return len(samples)


def check_written_jpeg(work):
    """Unchanged files with names, and more shards than samples."""
    names = ["caf\u00e9/a.jpg", "caf\u00e9/b c.jpeg", "dog/c.jpg"]
    files = {}
    for number, name in enumerate(names):
        files[name] = encoded(number, "JPEG")
        (work / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (work / "tree" / name).write_bytes(files[name])
    out = work / "jpeg"
    feedrate("convert", "folder", work / "tree", "--to", "webdataset", "--encode", "keep", "--split",
             "train", "--shards", 3, "--out", out)
    samples = read_by_library(out / "train-{000000..000002}.tar")
    equal([s["jpg"] for s in samples], list(files.values()), "the bytes kept")
    equal([int(s["cls"]) for s in samples], [0, 0, 1], "labels")
    told = [json.loads(s["json"]) for s in samples]
    equal([pathlib.Path(t["filename"]).name for t in told], [pathlib.Path(n).name for n in names],
          "file names")
    equal([t["class name"] for t in told], ["caf\u00e9", "caf\u00e9", "dog"], "class names")
    return len(samples)


def sample(number, key, **files):
    return {"__key__": key, "png": encoded(number, "PNG"), "cls": number % 7, **files}


def check_read(work):
    """ShardWriter with defaults: times are floats, so every file has a PAX header."""
    written = [sample(i, f"a.b/{i:04}", json={"caption": "\u00e9", "label": 3}) for i in range(25)]
    with wds.ShardWriter(str(work / "theirs-%06d.tar"), maxcount=10, verbose=0) as writer:
        for each in written:
            writer.write(each)
    expected = digest_of((pixels_of(s["png"]), s["cls"]) for s in written)
    equal(verified(work / "theirs-{000000..000002}.tar"), expected, "digest of ShardWriter's tars")
    with tarfile.open(work / "theirs-000000.tar") as archive:
        equal("mtime" in next(iter(archive)).pax_headers, True, "a PAX header in their tar")

    long = [sample(i, f"{'d' * 80}/{'k' * 60}{i:03}", **{"seg.png": b"?"}) for i in range(9)]
    expected = digest_of((pixels_of(s["png"]), s["cls"]) for s in long)
    for name in ["long.tar", "packed.tar.gz"]:
        with wds.TarWriter(str(work / name)) as writer:
            for each in long:
                writer.write(each)
        equal(verified(work / name), expected, f"digest of {name}")
    (work / "long.idx").write_text(index_of(work / "long.tar"))
    equal(verified(work / "long.tar"), expected, "digest of long.tar by its index")
    return len(written) + 3 * len(long)


def check_reconverted(work):
    """Their samples, rewritten by us, read by them: the bytes stay the same."""
    out = work / "again"
    feedrate("convert", "dataset", work / "theirs-{000000..000002}.tar", "--to", "webdataset",
             "--encode", "keep", "--shards", 2, "--split", "train", "--out", out)
    theirs = read_by_library(work / "theirs-{000000..000002}.tar")
    ours = read_by_library(out / "train-{000000..000001}.tar")
    equal([(s["png"], s["cls"]) for s in ours], [(s["png"], s["cls"]) for s in theirs], "samples")
    return len(ours)


with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    written = check_written_png(work) + check_written_jpeg(work)
    read = check_read(work)
    again = check_reconverted(work)
print(f"webdataset: ok: {written} samples written, {read} read, {again} read and written again")
