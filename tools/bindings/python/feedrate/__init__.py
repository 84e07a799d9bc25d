"""Feedrate: image data from a published archive to the trainer, as fast as the hardware allows.

    import feedrate

    dataset = feedrate.open("data/lmdb/train")
    loader = feedrate.Loader(dataset, recipe="cifar-train", batch=256, epochs=10)
    for batch in loader:
        images = torch.from_dlpack(batch.images)  # u8, N x H x W x C, not copied

`feedrate.torch.DataLoader` yields PyTorch tensors, an epoch at a time. `convert`, `verify`, `inspect`
and `advise` run the commands of those names; the program `feedrate` has the others.
"""

from typing import TYPE_CHECKING, Any

try:
    from feedrate import _native
except ImportError as error:
    from feedrate._platform import reason

    raise reason(error) from None

_native.expect_main_interpreter()

from feedrate._commands import advise, convert, inspect, verify
from feedrate._data import Array, Batch, Dataset, Sample, mix, open
from feedrate._errors import DataError
from feedrate._files import files
from feedrate._loader import Loader
from feedrate._recipes import (
    Recipe,
    auto_augment,
    autocontrast,
    center_crop,
    color_jitter,
    cutmix,
    equalize,
    flip,
    gaussian_blur,
    grey,
    invert,
    mixup,
    pad,
    posterize,
    rand_augment,
    random_affine,
    random_apply,
    random_crop,
    random_erasing,
    random_grey,
    random_resized_crop,
    recipe,
    resize,
    rgb,
    rotate,
    sharpness,
    solarize,
    trivial_augment,
    vertical_flip,
)
from feedrate._native import recipes, version as __version__

if TYPE_CHECKING:
    from feedrate import torch as torch
    from feedrate._write import Writer as Writer, write as write


def __getattr__(name: str) -> Any:
    """What imports PyTorch, or much of Python's library, when it is first used."""
    import importlib

    if name == "torch":
        return importlib.import_module("feedrate.torch")
    if name in ("Writer", "write"):
        return getattr(importlib.import_module("feedrate._write"), name)
    raise AttributeError(f"module 'feedrate' has no attribute {name!r}")


__all__ = [
    "Array",
    "Batch",
    "DataError",
    "Dataset",
    "Loader",
    "Recipe",
    "Sample",
    "Writer",
    "advise",
    "auto_augment",
    "autocontrast",
    "center_crop",
    "color_jitter",
    "convert",
    "cutmix",
    "equalize",
    "files",
    "flip",
    "gaussian_blur",
    "grey",
    "inspect",
    "invert",
    "mix",
    "mixup",
    "open",
    "pad",
    "posterize",
    "rand_augment",
    "random_affine",
    "random_apply",
    "random_crop",
    "random_erasing",
    "random_grey",
    "random_resized_crop",
    "recipe",
    "recipes",
    "resize",
    "rgb",
    "rotate",
    "sharpness",
    "solarize",
    "trivial_augment",
    "verify",
    "vertical_flip",
    "write",
]
