#!/usr/bin/env python3
"""MDS datasets that Mosaic's streaming writes, and what it reads of them.

    mds.py FEEDRATE        needs mosaicml-streaming, pillow and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what the library returned.
"""
import io
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
from PIL import Image
from program import digest_of, equal, verified
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


with tempfile.TemporaryDirectory() as name:
    for encoding in ["jpeg", "png", "pil", "bytes"]:
        directory = pathlib.Path(name) / encoding
        columns = {"image": encoding, "label": "int", "filename": "str"}
        with MDSWriter(out=str(directory), columns=columns, size_limit=1 << 14) as writer:
            for number, image in images():
                writer.write({"image": value_of(image, encoding), "label": number % 4,
                              "filename": f"{number}.x"})
        equal(verified(directory), digest_of(read_by_library(directory)), f"digest of {encoding}")
print("mds: ok: 50 samples in four encodings read")
