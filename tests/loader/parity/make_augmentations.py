#!/usr/bin/env python3
"""Writes augmentations.json for augment_test.cpp: what torchvision makes of generated images.

    pip install torch torchvision && python3 tests/loader/parity/make_augmentations.py

The pixels are a pure function of their position, which the test repeats."""

import hashlib
import json
import pathlib

import numpy
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms import RandAugment, RandomErasing, TrivialAugmentWide, functional

SHAPES = [(61, 83, 3), (40, 33, 1), (3, 2, 3), (1, 1, 3)]
FACTORS = [0.0, 0.1, 0.6, 0.999, 1.0, 1.3, 1.4, 2.0, 7.5]
HUES = [-0.5, -0.37, -0.1, -0.001, 0.0, 0.004, 0.05, 0.1, 0.25, 0.5]
BINS = 31
MAGNITUDES = [0, 1, 9, 15, 16, 30]


def made(height, width, channels):
    y, x, c = numpy.meshgrid(
        *(numpy.arange(n, dtype=numpy.uint32) for n in (height, width, channels)), indexing="ij"
    )
    mixed = (x * 2654435761 + y * 2246822519 + c * 3266489917).astype(numpy.uint32)
    mixed = ((mixed ^ (mixed >> 15)) * 2654435761).astype(numpy.uint32)
    return ((mixed >> 25) + (x * 128) // width).astype(numpy.uint8)


def image_of(height, width, channels):
    pixels = made(height, width, channels)
    return Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels)


def colours():
    """Every third value of each channel, with every other."""
    values = numpy.arange(0, 256, 3, dtype=numpy.uint8)
    grid = numpy.stack(numpy.meshgrid(values, values, values, indexing="ij"), axis=-1)
    return Image.fromarray(grid.reshape(values.size, values.size**2, 3))


def digest(image):
    return hashlib.sha256(image.tobytes()).hexdigest()


def adjusted():
    ways = {
        "brightness": functional.adjust_brightness,
        "contrast": functional.adjust_contrast,
        "saturation": functional.adjust_saturation,
        "sharpness": functional.adjust_sharpness,
        "hue": functional.adjust_hue,
    }
    for name, way in ways.items():
        for factor in HUES if name == "hue" else FACTORS:
            yield {
                "way": name,
                "factor": factor,
                "images": [digest(way(image_of(*shape), factor)) for shape in SHAPES],
            }


def hues_of_all_colours():
    return [
        {"turn": turn, "sha256": digest(functional.adjust_hue(colours(), turn))}
        for turn in (-0.5, -0.1, 0.0, 0.05, 0.3)
    ]


def rand_augmented():
    augment = RandAugment(num_magnitude_bins=BINS)
    apply = torchvision.transforms.autoaugment._apply_op
    nearest = functional.InterpolationMode.NEAREST
    for shape in SHAPES[:2]:
        height, width, _ = shape
        space = augment._augmentation_space(BINS, (height, width))
        for number, (name, (magnitudes, signed)) in enumerate(space.items()):
            for magnitude in MAGNITUDES if magnitudes.ndim else [0]:
                size = float(magnitudes[magnitude]) if magnitudes.ndim else 0.0
                for minus in (False, True) if signed else (False,):
                    image = apply(
                        image_of(*shape), name, -size if minus else size, nearest, None
                    )
                    yield {
                        "shape": shape,
                        "change": number,
                        "magnitude": magnitude,
                        "minus": minus,
                        "sha256": digest(image),
                    }


def trivially_augmented():
    space = TrivialAugmentWide(num_magnitude_bins=BINS)._augmentation_space(BINS)
    shape = SHAPES[0]
    for number, (name, (magnitudes, signed)) in enumerate(space.items()):
        for magnitude in [7, *MAGNITUDES[1:], 25] if magnitudes.ndim else []:
            for interpolation in ("nearest", "bilinear"):
                size = float(magnitudes[magnitude]) * (-1 if signed else 1)
                way = functional.InterpolationMode(interpolation)
                image = torchvision.transforms.autoaugment._apply_op(
                    image_of(*shape), name, size, way, [9, 80, 200]
                )
                yield {
                    "change": number,
                    "magnitude": magnitude,
                    "interpolation": interpolation,
                    "sha256": digest(image),
                }


def turned():
    for degrees in (45, 135, 225, 315, 5.1, 36.3, 90, 180, 270):
        image = functional.rotate(image_of(*SHAPES[0]), degrees, functional.InterpolationMode.BILINEAR)
        yield {"degrees": degrees, "sha256": digest(image)}


def erased():
    torch.manual_seed(1)
    image = torch.zeros(3, 224, 160)
    drawn = [
        RandomErasing.get_params(image, (0.02, 0.33), (0.3, 3.3), [0.0])[:4] for _ in range(50_000)
    ]
    drawn = numpy.array(drawn, dtype=float)
    return {"mean": drawn.mean(0).tolist(), "deviation": drawn.std(0).tolist()}


def main():
    result = {
        "by": f"torchvision {torchvision.__version__}, Pillow {PIL.__version__}",
        "shapes": SHAPES,
        "adjusted": list(adjusted()),
        "hues_of_all_colours": hues_of_all_colours(),
        "bins": BINS,
        "rand_augment": list(rand_augmented()),
        "trivial_augment": list(trivially_augmented()),
        "turned": list(turned()),
        "erased_of_224x160": erased(),
    }
    def text(value):
        rows = isinstance(value, list) and isinstance(value[0], dict)
        return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]" if rows else json.dumps(value)

    lines = ",\n".join(f"{json.dumps(key)}: {text(value)}" for key, value in result.items())
    (pathlib.Path(__file__).parent / "augmentations.json").write_text("{" + lines + "}\n")


main()
