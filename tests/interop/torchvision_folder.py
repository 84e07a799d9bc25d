#!/usr/bin/env python3
"""Folders of classes against torchvision's ImageFolder: classes, order, labels, pixels.

    torchvision_folder.py FEEDRATE        needs torchvision, pillow and numpy
"""
import json
import pathlib
import sys
import tempfile

sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import numpy as np
from PIL import Image
from torchvision.datasets import ImageFolder
from program import digest_of, equal, feedrate, verified


def as_it_is(file):
    """Keeps grey images grey, as in a digest; ImageFolder's own loader makes them RGB."""
    pixels = np.asarray(Image.open(file))
    return pixels.reshape(*pixels.shape[:2], -1)


def class_names(path):
    return json.loads((path / "feedrate.json").read_text())["class_names"]


def make_tree(root):
    """Classes and names that are hard to order: capitals, digits, nested directories."""
    random = np.random.default_rng(4)
    names = ["10.png", "9.png", "B.png", "a.png", "deep/c.png", "deep/er/D.PNG", "e.jpg", "f.JPEG"]
    for kind in ["zebra", "Apple", "n01440764", "a b", "10", "9"]:
        for number, name in enumerate(names):
            file = root / kind / name
            file.parent.mkdir(parents=True, exist_ok=True)
            shape = (8 + number, 11) if number % 4 == 0 else (8 + number, 11, 3)
            Image.fromarray(random.integers(0, 256, shape, np.uint8)).save(file)
        (root / kind / "notes.txt").write_text("no image")


def check_read(work):
    """Our source reads a tree made with Pillow."""
    make_tree(work / "tree")
    folder = ImageFolder(str(work / "tree"), loader=as_it_is)
    out = work / "read"
    feedrate("convert", "folder", work / "tree", "--to", "recordio", "--encode", "keep",
             "--split", "train", "--out", out)
    equal(class_names(out), folder.classes, "classes")
    equal(verified(out), digest_of(folder), "digest of the converted tree")
    return len(folder)


def check_written(work):
    """ImageFolder reads a folder that we wrote."""
    feedrate("synth", "cifar10", "--images", 120, "--out", work / "cifar", "--seed", 6)
    out = work / "written"
    feedrate("convert", "cifar10", work / "cifar", "--to", "folder", "--split", "train", "--out", out)
    folder = ImageFolder(str(out), loader=as_it_is)
    equal(folder.classes, sorted(folder.classes), "classes in order")
    equal(verified(out), digest_of(folder), "digest of the written folder")
    again = work / "again"
    feedrate("convert", "folder", out, "--to", "recordio", "--encode", "keep", "--split", "train",
             "--out", again)
    equal(verified(again), digest_of(folder), "digest of the folder read back")
    return len(folder)


with tempfile.TemporaryDirectory() as directory:
    work = pathlib.Path(directory)
    read = check_read(work)
    writes = "folder" in feedrate("convert", "--help").split("FORMAT")[-1]
    written = f"{check_written(work)} written" if writes else "none written: no --to folder"
print(f"torchvision_folder: ok: {read} images read, {written}")
