#!/usr/bin/env python3
"""Resizes made images with Pillow and writes the SHA-256 of what came out.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pillow==12.0.0 numpy
    /tmp/venv/bin/python tests/formats/parity/make_resize.py

The pixels are a pure function of their place, written out again in tests/formats/pixels/resize_test.cpp.
Pillow before 13: it always resizes rows first; 13 may begin with columns."""

import hashlib
import itertools
import json
import pathlib

import numpy
import PIL
from PIL import Image

# height, width -> height, width
SIZES = [
    ((375, 500), (256, 341)), ((500, 375), (341, 256)), ((333, 500), (256, 384)),
    ((480, 640), (224, 224)), ((1200, 1600), (256, 341)), ((768, 1024), (767, 1023)),
    ((32, 32), (28, 28)), ((28, 28), (32, 32)), ((32, 32), (224, 224)), ((96, 96), (32, 32)),
    ((64, 64), (63, 65)), ((300, 200), (300, 100)), ((300, 200), (100, 200)), ((5, 7), (5, 19)),
    ((1, 1), (7, 5)), ((7, 5), (1, 1)), ((2, 3), (9, 2)), ((3, 2), (2, 9)), ((1, 300), (1, 17)),
    ((300, 1), (17, 1)), ((2000, 3), (7, 5)), ((3, 2000), (5, 7)), ((1000, 1000), (1, 1)),
    ((17, 33), (16, 32)), ((31, 47), (8, 8)), ((255, 257), (129, 127)), ((40, 40), (39, 41)),
    ((9, 65535), (4, 100)), ((50, 60), (49, 16)), ((50, 60), (51, 21)),
]  # fmt: skip


def made(height, width, channels):
    y, x, c = numpy.meshgrid(
        *(numpy.arange(n, dtype=numpy.uint32) for n in (height, width, channels)), indexing="ij"
    )
    mixed = (x * 2654435761 + y * 2246822519 + c * 3266489917).astype(numpy.uint32)
    mixed = ((mixed ^ (mixed >> 15)) * 2654435761).astype(numpy.uint32)
    noise = mixed >> 25  # 0 … 127
    # Noise over a slope, and corners of pure black and white.
    pixels = noise + (x * 128) // width
    pixels[(x * 4 < width) & (y * 4 < height)] = 0
    pixels[(x * 4 >= 3 * width) & (y * 4 >= 3 * height)] = 255
    return pixels.astype(numpy.uint8)


def main():
    cases = []
    for source, target in SIZES:
        for name, channels in itertools.product(("bilinear", "bicubic"), (1, 3)):
            pixels = made(*source, channels)
            image = Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)
            resized = image.resize(target[::-1], Image.Resampling[name.upper()])
            digest = hashlib.sha256(resized.tobytes()).hexdigest()
            case = {"from": [*source, channels], "to": [*target, channels]}
            cases.append(case | {"interpolation": name, "sha256": digest})
    lines = ",\n  ".join(json.dumps(case) for case in cases)
    here = pathlib.Path(__file__).parent
    text = f'{{"by": "Pillow {PIL.__version__}", "cases": [\n  {lines}\n]}}\n'
    (here / "resize.json").write_text(text)


main()
