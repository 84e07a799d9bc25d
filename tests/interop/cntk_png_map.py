#!/usr/bin/env python3
"""CNTK's map files and mean images, with readers that imitate CNTK's sources.

    cntk_png_map.py FEEDRATE        needs numpy, pillow, and opencv for the mean (CNTK uses OpenCV)

No package of CNTK can be installed any more. Its ImageReader splits a line at tabs into path and label,
or key, path and label. "..." at the start of a path is the map's directory; other paths are relative to
the current directory. OpenCV decodes the images. The mean is an OpenCV FileStorage with one row of
floats, height x width x channels, blue first.
"""
import os
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
from PIL import Image
from program import digest_of, equal, feedrate, pixels_first, stop, verified

try:
    import cv2
except ImportError:
    cv2 = None


def read_map(path, classes):
    """(file, label) of every line, as in ImageDataDeserializer::CreateSequenceDescriptions."""
    for number, line in enumerate(pathlib.Path(path).read_text().split("\n")):
        if not line:
            continue
        columns = line.split("\t")
        if len(columns) not in (2, 3):
            stop(f"line {number} of {path}: {len(columns)} columns")
        name, label = columns[-2:]
        equal(int(label) < classes, True, f"label {label} of line {number}")
        if name.startswith("..."):
            name = str(path.parent) + name[3:]
        yield name, int(label)


def pixels_of(file):
    """RGB or grey, height x width x channels."""
    pixels = np.asarray(Image.open(file))
    if cv2 is not None:
        by_opencv = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
        by_opencv = by_opencv[..., ::-1] if by_opencv.ndim == 3 else by_opencv
        equal(np.array_equal(pixels, by_opencv), True, f"OpenCV's pixels of {file}")
    return pixels.reshape(*pixels.shape[:2], -1)


def check_written(work, source, classes, channels):
    feedrate("synth", source, "--images", 200, "--out", work / source, "--seed", 5)
    out = work / f"{source}-map"
    feedrate("convert", source, work / source, "--to", "png-map", "--split", "train", "--out", out)
    samples = []
    for name, label in read_map(out / "train_map.txt", classes):
        file = pathlib.Path(name)
        samples.append((label, pixels_of(file if file.is_absolute() else out / file)))
    equal(digest_of(pixels_first(samples)), verified(out), f"digest of {out.name}")
    equal({pixels.shape[2] for _, pixels in samples}, {channels}, "channels")
    check_mean(out / "mean.xml", np.mean([pixels for _, pixels in samples], axis=0))
    return len(samples)


def check_mean(file, expected):
    """`expected`: the mean of all images, height x width x channels, RGB or grey."""
    if cv2 is None:
        return
    storage = cv2.FileStorage(str(file), cv2.FILE_STORAGE_READ)
    numbers = [int(storage.getNode(name).real()) for name in ("Row", "Col", "Channel")]
    equal(tuple(numbers), expected.shape, "Row, Col, Channel of the mean")
    row = storage.getNode("MeanImg").mat()
    equal((row.dtype, row.shape), (np.float32, (1, expected.size)), "type and size of the mean")
    blue_first = expected[..., ::-1]
    worst = np.abs(row.reshape(expected.shape) - blue_first).max()
    equal(worst < 2e-4, True, f"a mean that is off by {worst}")


def check_read(work):
    """Reads maps made in Python, with every form of path and every kind of picture."""
    random = np.random.default_rng(9)
    images = work / "made" / "images"
    images.mkdir(parents=True)
    samples, lines = [], []
    for number in range(12):
        grey = number % 3 == 0
        shape = (5 + number, 9) if grey else (5 + number, 9, 3)
        pixels = random.integers(0, 256, shape, np.uint8)
        file = images / f"{number}.png"
        picture = Image.fromarray(pixels)
        if number % 4 == 1:  # a palette keeps the colours
            picture = picture.quantize(16)
            pixels = np.asarray(picture.convert("RGB"))
        picture.save(file, compress_level=number % 10, optimize=number % 2 == 0)
        samples.append((number % 5, pixels.reshape(*pixels.shape[:2], -1)))
        name = [".../images/", f"{images}/", "images/"][number % 3] + file.name
        lines.append(f"{name}\t{number % 5}" if number % 2 else f"key{number}\t{name}\t{number % 5}")
    for end in ("\n", "\r\n"):
        (work / "made" / "train_map.txt").write_text(end.join(lines) + end, newline="")
        # Relative paths start at the current directory, as in CNTK, or else at the map's.
        for where in (work / "made", work):
            equal(verified(work / "made" / "train_map.txt", where), digest_of(pixels_first(samples)),
                  f"digest of a map read from {where.name}")
    return len(samples)


with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    os.chdir(work)
    written = check_written(work, "mnist", 10, 1) + check_written(work, "cifar10", 10, 3)
    read = check_read(work)
mean = "the means by OpenCV" if cv2 is not None else "the means not: no OpenCV"
print(f"cntk_png_map: ok: {written} images written and {read} read, {mean}")
