#!/usr/bin/env python3
"""Parquet files that Hugging Face's datasets writes, and what datasets reads of them.

    hub.py FEEDRATE        needs datasets, pillow and numpy

Pixels and labels are compared by the content digest: SHA-256 over the SHA-256 of each sample's
label, shape and pixels, computed here from what datasets returned.
"""
import json
import os
import pathlib
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")
sys.path[0] += "/support"  # instead of this directory, whose modules would shadow packages

import datasets
import numpy as np
from PIL import Image
from program import digest_of, equal, feedrate, verified

CLASSES = ["cat", "dog", "owl"]
KINDS = ["png", "jpeg", "webp"]
ROWS = 60


def files(work):
    """Images of random pixels; of some kinds alike in size, of others not."""
    random = np.random.default_rng(5)
    for number in range(ROWS):
        channels = (3,) if number % 5 else ()
        pixels = random.integers(0, 256, (8 + number % 4, 9, *channels), np.uint8)
        path = work / f"{number}.{KINDS[number % len(KINDS)]}"
        Image.fromarray(pixels).convert("RGB" if path.suffix == ".webp" else None).save(path)
        yield str(path)


def write(work, image, label):
    """Three shards, with the bytes of the images in them, as push_to_hub makes them."""
    features = datasets.Features({"note": datasets.Value("string"), image: datasets.Image(),
                                  label: datasets.ClassLabel(names=CLASSES)})
    rows = {"note": [f"row {i}" for i in range(ROWS)], image: list(files(work)),
            label: [i % 3 for i in range(ROWS)]}
    made = datasets.Dataset.from_dict(rows, features=features)
    directory = work / image
    directory.mkdir()
    for i in range(3):
        shard = made.shard(3, i, contiguous=True)
        shard = shard.with_format("arrow").map(lambda table: datasets.table.embed_table_storage(table), batched=True)
        shard.to_parquet(directory / f"train-{i:05}-of-00003.parquet")
    return directory


def read(directory, image, label, cache):
    rows = datasets.load_dataset("parquet", data_files=str(directory / "*.parquet"), split="train", cache_dir=str(cache))
    for row in rows:
        pixels = np.asarray(row[image])
        yield pixels.reshape(*pixels.shape[:2], -1), row[label]


with tempfile.TemporaryDirectory() as name:
    work = pathlib.Path(name)
    for image, label in (("image", "label"), ("img", "fine_label")):
        directory = write(work, image, label)
        digest = digest_of(read(directory, image, label, work / "cache"))
        equal(verified(directory), digest, f"digest of {image} and {label}")
        feedrate("convert", "dataset", directory, "--to", "recordio", "--out", work / f"to-{image}")
        equal(verified(work / f"to-{image}"), digest, "converted")
        found = json.loads(feedrate("inspect", directory, "--json"))
        equal(found["class_names"], CLASSES, "names of the classes")
print(f"hub: ok: {ROWS} PNGs, JPEGs and WebPs of datasets' read, under two names")
