#!/usr/bin/env python3
"""Prints the images/s of FFCV's Loader with 2 workers: the median of three runs.

    ffcv_peer.py jpeg|jpeg256|raw256 FOLDER BETON

Writes the photographs of FOLDER (one folder a class) to BETON as FFCV keeps them: JPEG of quality
90, the same with a long side of 256, or raw pixels with a long side of 256. Then loads batches of
128 in random order: RandomResizedCrop(224) and flip, 8-bit, as Feedrate does. Images repeat until an
epoch has ten thousand of them, since FFCV sets up anew for every epoch.
"""
import contextlib
import io
import json
import pathlib
import statistics
import sys
import time

import numpy as np
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import RandomHorizontalFlip
from ffcv.writer import DatasetWriter
from PIL import Image

ROUNDS = 3
WARM_UP = 5  # batches; the first waits for the compiler
SECONDS = 4.0
EPOCH = 10_000  # images
KEPT = {
    "jpeg": {"write_mode": "jpg"},
    "jpeg256": {"write_mode": "jpg", "max_resolution": 256},
    "raw256": {"write_mode": "raw", "max_resolution": 256},
}


class Photographs:
    def __init__(self, folder):
        self.files = sorted(pathlib.Path(folder).glob("*/*"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return np.asarray(Image.open(self.files[index]).convert("RGB")), index


def write(folder, beton, kept):
    image = RGBImageField(jpeg_quality=90, **kept)
    writer = DatasetWriter(str(beton), {"image": image, "label": IntField()}, num_workers=2)
    photographs = Photographs(folder)
    with contextlib.redirect_stderr(io.StringIO()):  # hide the progress bar
        writer.from_indexed_dataset(photographs)
    return len(photographs)


def batches(loader):
    """Yields the size of each batch; the first of an epoch waits for the epoch's set-up."""
    while True:
        for _, labels in loader:
            yield len(labels)


def rate(sizes):
    start, images = time.perf_counter(), 0
    while time.perf_counter() - start < SECONDS:
        images += next(sizes)
    return images / (time.perf_counter() - start)


def main():
    kind, folder, beton = sys.argv[1:]
    count = write(folder, beton, KEPT[kind])
    image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip()]
    loader = Loader(beton, batch_size=128, num_workers=2, order=OrderOption.RANDOM, os_cache=True,
                    indices=np.tile(np.arange(count), EPOCH // count + 1), drop_last=False,
                    pipelines={"image": image, "label": [IntDecoder()]})
    sizes = batches(loader)
    for _ in range(WARM_UP):
        next(sizes)
    print(json.dumps(round(statistics.median(rate(sizes) for _ in range(ROUNDS)))))


if __name__ == "__main__":
    main()
