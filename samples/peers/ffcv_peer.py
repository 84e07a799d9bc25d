#!/usr/bin/env python3
"""Prints the images/s of FFCV's Loader with 2 workers: the median of three runs.

    ffcv_peer.py jpeg|jpeg256|raw256 FOLDER BETON
    ffcv_peer.py cifar IGNORED BETON

Writes the photographs of FOLDER (one folder a class) to BETON as FFCV keeps them: JPEG of quality
90, the same with a long side of 256, or raw pixels with a long side of 256. Then loads batches of
128 in random order: RandomResizedCrop(224) and flip, 8-bit, as Feedrate does. Or writes 50,000 raw
images of CIFAR-10's size, and loads batches of 512: flip and a move by up to 4 pixels, 8-bit. Images
repeat within an epoch, since FFCV sets up anew for every epoch.
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
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder, SimpleRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import RandomHorizontalFlip, RandomTranslate
from ffcv.writer import DatasetWriter
from PIL import Image

ROUNDS = 3
WARM_UP = 5  # batches; the first waits for the compiler
SECONDS = 4.0
KEPT = {
    "jpeg": {"write_mode": "jpg"},
    "jpeg256": {"write_mode": "jpg", "max_resolution": 256},
    "raw256": {"write_mode": "raw", "max_resolution": 256},
    "cifar": {"write_mode": "raw"},
}


class Photographs:
    def __init__(self, folder):
        self.files = sorted(pathlib.Path(folder).glob("*/*"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return np.asarray(Image.open(self.files[index]).convert("RGB")), index


class Cifar:
    """Pixels that nobody looks at, in CIFAR-10's number and size."""

    def __init__(self):
        self.pixels = np.random.default_rng(1).integers(0, 256, (50_000, 32, 32, 3), dtype=np.uint8)

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return self.pixels[index], index % 10


def write(images, beton, kept):
    image = RGBImageField(jpeg_quality=90, **kept)
    writer = DatasetWriter(str(beton), {"image": image, "label": IntField()}, num_workers=2)
    with contextlib.redirect_stderr(io.StringIO()):  # hide the progress bar
        writer.from_indexed_dataset(images)


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
    if kind == "cifar":
        images, batch, epoch = Cifar(), 512, 2_000_000
        image = [SimpleRGBImageDecoder(), RandomHorizontalFlip(), RandomTranslate(padding=4)]
    else:
        images, batch, epoch = Photographs(folder), 128, 10_000
        image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip()]
    write(images, beton, KEPT[kind])
    count = len(images)
    loader = Loader(beton, batch_size=batch, num_workers=2, order=OrderOption.RANDOM, os_cache=True,
                    indices=np.tile(np.arange(count), epoch // count + 1), drop_last=False,
                    pipelines={"image": image, "label": [IntDecoder()]})
    sizes = batches(loader)
    for _ in range(WARM_UP):
        next(sizes)
    print(json.dumps(round(statistics.median(rate(sizes) for _ in range(ROUNDS)))))


if __name__ == "__main__":
    main()
