#!/usr/bin/env python3
"""Writes recipes.json for parity_test.cpp: what torchvision makes of generated images, and its crops.

    apt install python3-torchvision && /usr/bin/python3 tests/loader/parity/make_recipes.py

The pixels are a pure function of their position, which the test repeats. Needs Pillow before 13 (see
formats/pixels/resize.h)."""

import hashlib
import json
import pathlib

import numpy
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, RandomResizedCrop, Resize
from torchvision.transforms import functional

BILINEAR = torchvision.transforms.InterpolationMode.BILINEAR
SIZES = [(375, 500), (500, 333), (256, 256), (300, 259), (1200, 1601), (90, 60), (257, 383), (40, 700)]
CROPS = [(0, 0, 375, 500), (17, 33, 120, 150), (100, 3, 224, 224), (5, 400, 300, 77), (374, 499, 1, 1)]
ODD = [(10, 1000), (1000, 10), (2000, 7), (1, 1)]


def made(height, width, channels):
    y, x, c = numpy.meshgrid(
        *(numpy.arange(n, dtype=numpy.uint32) for n in (height, width, channels)), indexing="ij"
    )
    mixed = (x * 2654435761 + y * 2246822519 + c * 3266489917).astype(numpy.uint32)
    mixed = ((mixed ^ (mixed >> 15)) * 2654435761).astype(numpy.uint32)
    return ((mixed >> 25) + (x * 128) // width).astype(numpy.uint8)


def image_of(height, width, channels):
    pixels = made(height, width, channels)
    return Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels).convert("RGB")


def digest(image):
    return hashlib.sha256(image.tobytes()).hexdigest()


def main():
    evaluation = Compose([Resize(256, BILINEAR), CenterCrop(224)])
    evals = [
        {"shape": [*size, channels], "sha256": digest(evaluation(image_of(*size, channels)))}
        for size in SIZES
        for channels in (1, 3)
    ]
    crops = []
    for crop in CROPS:
        for channels in (1, 3):
            image = functional.resized_crop(
                image_of(375, 500, channels), *crop, (224, 224), BILINEAR
            )
            mirrored = functional.hflip(image)
            crops.append(
                {
                    "channels": channels,
                    "crop": crop,
                    "sha256": digest(image),
                    "mirrored": digest(mirrored),
                }
            )
    draw = lambda size: RandomResizedCrop.get_params(
        Image.new("L", size[::-1]), (0.08, 1.0), (3 / 4, 4 / 3)
    )
    fallbacks = [{"shape": size, "crop": draw(size)} for size in ODD]
    torch.manual_seed(1)
    drawn = numpy.array([draw((375, 500)) for _ in range(100_000)], dtype=float)
    result = {
        "by": f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}",
        "imagenet_eval": evals,
        "resized_crop": crops,
        "fallback": fallbacks,
        "mean_of_375x500": drawn.mean(0).tolist(),
        "deviation_of_375x500": drawn.std(0).tolist(),
    }
    here = pathlib.Path(__file__).parent
    (here / "recipes.json").write_text(json.dumps(result, indent=1) + "\n")


main()
