#!/usr/bin/env python3
"""MDS datasets that Mosaic's streaming writes, and what it reads of them.

    mds.py FEEDRATE        needs mosaicml-streaming, pillow and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what the library returned.
"""
import io
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
from PIL import Image
from program import FEEDRATE, digest_of, equal, feedrate, verified
from streaming import MDSWriter, StreamingDataset


def images():
    random = np.random.default_rng(3)
    for number in range(50):
        yield number, Image.fromarray(random.integers(0, 256, (20 + number % 3, 21, 3), np.uint8))


def value_of(image, encoding):
    if encoding in ("png", "pil"):
        return image
    file = io.BytesIO()
    image.save(file, "JPEG" if encoding == "jpeg" else "PNG")
    return Image.open(file) if encoding == "jpeg" else file.getvalue()


def read_by_library(directory):
    for row in StreamingDataset(local=str(directory), shuffle=False, batch_size=1):
        image = row["image"]
        image = Image.open(io.BytesIO(image)) if isinstance(image, bytes) else image
        yield np.asarray(image).reshape(image.height, image.width, -1), int(row["label"])


def write(directory, encoding, **options):
    columns = {"image": encoding, "label": "int", "filename": "str"}
    with MDSWriter(out=str(directory), columns=columns, size_limit=1 << 14, **options) as writer:
        for number, image in images():
            writer.write({"image": value_of(image, encoding), "label": number % 4,
                          "filename": f"{number}.x"})


def read_compressed(directory, encoding, compression, converted):
    """Loading refuses shards that are compressed as a whole and says what converts them."""
    write(directory, encoding, compression=compression, hashes=["sha1"])
    load = subprocess.run([FEEDRATE, "load", directory], capture_output=True, text=True)
    equal((load.returncode, "feedrate convert dataset" in load.stderr), (1, True), load.stderr)
    feedrate("convert", "dataset", directory, "--to", "recordio", "--out", converted)
    # The library unpacks its shards beside the packed ones; then Feedrate reads the dataset in place.
    expected = digest_of(read_by_library(directory))
    equal(verified(converted), expected, f"digest of {encoding}, {compression}")
    equal(verified(directory), expected, f"digest of {encoding}, {compression}, unpacked")


def read_texts(directory, converted):
    """Labels that are text are classes in the order of their bytes, packed or not."""
    texts = ["Zebra", "ant", "b", "caf\u00e9", "\u65e5\u672c", "\U0001f600"]
    columns = {"image": "png", "class": "str", "caption": "str"}
    for compression in [None, "zstd"]:
        out = directory / str(compression)
        with MDSWriter(out=str(out), columns=columns, size_limit=1 << 14,
                       compression=compression) as writer:
            for number, image in images():
                writer.write({"image": image, "class": texts[number * 5 % 6], "caption": f"of {number}"})
        feedrate("convert", "dataset", out, "--to", "recordio", "--out", converted / str(compression))
        rows = [(np.asarray(row["image"]), texts.index(row["class"]))
                for row in StreamingDataset(local=str(out), shuffle=False, batch_size=1)]
        equal(verified(out), digest_of(rows), f"digest of texts, {compression}")
        equal(verified(converted / str(compression)), digest_of(rows), "and converted")
        facts = json.loads(feedrate("inspect", converted / str(compression), "--json"))
        equal(facts["class_names"], texts, "names of classes")


with tempfile.TemporaryDirectory() as name:
    home = pathlib.Path(name)
    for encoding in ["jpeg", "png", "pil", "bytes"]:
        write(home / encoding, encoding)
        expected = digest_of(read_by_library(home / encoding))
        equal(verified(home / encoding), expected, f"digest of {encoding}")
    ways = [("jpeg", "zstd"), ("png", "zstd:19"), ("pil", "zstd:1"), ("bytes", "gz:9"),
            ("jpeg", "bz2")]
    for encoding, compression in ways:
        directory = home / f"{encoding}-{compression}"
        read_compressed(directory, encoding, compression, home / (directory.name + "-converted"))
    read_texts(home / "texts", home / "texts-converted")
print("mds: ok: 50 samples in four encodings, in five ways of compression and with texts as labels, read")
