#!/usr/bin/env python3
"""WebPs made by Pillow, in every format that holds them: pixels as Pillow reads them.

    webp.py FEEDRATE        needs pillow and numpy
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
from PIL import Image
from program import FEEDRATE, digest_of, equal, feedrate, verified

KINDS = [{"quality": 80}, {"quality": 5}, {"lossless": True}, {"lossless": True, "exact": True},
         {"quality": 60, "alpha_quality": 20}]


def make_tree(root):
    """Photographs' gradients and noise, with and without alpha, lossy and lossless, odd sizes."""
    random = np.random.default_rng(9)
    for number in range(40):
        height, width = 20 + 7 * number, 300 - 5 * number
        ramp = np.add.outer(np.arange(height), np.arange(width))[..., None] * [1, 2, 3] // 3
        pixels = (ramp + random.integers(0, 9 + number, ramp.shape)).astype(np.uint8)
        if number % 3 == 0:
            pixels = np.dstack([pixels, random.integers(0, 256, ramp.shape[:2], np.uint8)])
        file = root / f"class{number % 4}" / f"{number:02}.webp"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(file, **KINDS[number % len(KINDS)])


def as_pillow_reads(root):
    for label, kind in enumerate(sorted(root.iterdir())):
        for file in sorted(kind.iterdir()):
            yield np.asarray(Image.open(file).convert("RGB")), label


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    make_tree(work / "tree")
    expected = digest_of(as_pillow_reads(work / "tree"))
    kept = ["lmdb", "recordio", "tfrecord", "png-map", "webdataset", "folder"]
    for format in kept:
        feedrate("convert", "folder", work / "tree", "--to", format, "--out", work / format)
        equal(verified(work / format), expected, f"digest in {format}")
    feedrate("convert", "dataset", work / "recordio", "--to", "lmdb", "--encode", "png",
             "--out", work / "again")
    equal(verified(work / "again"), expected, "digest of the same as PNG")
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(work / "tree" / "class0" / "moves.webp", save_all=True, append_images=frames[1:])
    refused = subprocess.run([FEEDRATE, "convert", "folder", work / "tree", "--to", "recordio",
                              "--out", work / "moves"], capture_output=True, text=True)
    equal((refused.returncode, "animated WebP" in refused.stderr), (1, True), refused.stderr)
    print(f"webp: 40 WebPs as Pillow reads them in {len(kept)} formats, and as PNG")
