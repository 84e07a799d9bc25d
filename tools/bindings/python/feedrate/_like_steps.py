"""What single transforms are here: parts of recipes."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any, Callable, NamedTuple

import torch

from feedrate import _recipes

Views = tuple[Any, "View"]  # an image of torchvision's, and what a loader makes of the stored one


class View(NamedTuple):
    """Which part of a stored image is seen, as `_native.Dataset.view` takes it: (y, x, height, width) of
    the crop, its size when it has been resized, the window of that, whether left becomes right, and whether it has been
    resized by bicubic interpolation."""

    crop: tuple[int, int, int, int]
    size: tuple[int, int]
    window: tuple[int, int, int, int]
    mirrored: bool = False
    is_cubic: bool = False

    @staticmethod
    def whole(height: int, width: int) -> View:
        return View((0, 0, height, width), (height, width), (0, 0, height, width))


class Step(NamedTuple):
    """A transform that has a counterpart here."""

    parts: str  # of a recipe; "": nothing is done to pixels of u8
    stage: int  # where a recipe has it
    force: Callable[[Views], Views]  # draws numbers as theirs does, and does it to both
    compared: bool = True  # False: `force` leaves it out, since it is of colours and to the bit Pillow's
    is_turned: bool = False  # whether a flip before it gives the same as a flip behind it
    behind: int = 0  # how many of Plan.rest come before it: whether theirs gives it a picture or a tensor


class Unlike(Exception):
    """Why something has no counterpart here, as a sentence's end: 'GaussianBlur is no part of recipes'."""


RESIZE, CROP, FLIP, CHANNELS, VERTICAL, COLOURS, ERASING = range(7)


def is_known(transform: Any) -> bool:
    module = type(transform).__module__
    return module.startswith(
        ("torchvision.transforms.", "timm.data.transforms", "timm.data.random_erasing", "torch.nn.modules.container")
    )


def name_of(transform: Any) -> str:
    kind = transform if hasattr(transform, "__code__") else type(transform)
    return str(getattr(kind, "__qualname__", kind))


# One function for each transform: what it is here, and how its drawn numbers are forced upon both.


def step_of(transform: Any) -> Step:
    make = _STEPS.get(type(transform).__name__)
    if make is not None and not is_known(transform):
        raise Unlike(f"{name_of(transform)} of {type(transform).__module__} is another one than torchvision's")
    if make is None:
        raise Unlike(f"{name_of(transform)} is no part of recipes")
    return make(transform)


def _functional(transform: Any) -> Any:
    module = "torchvision.transforms.functional"
    if type(transform).__module__.startswith("torchvision.transforms.v2"):
        module = "torchvision.transforms.v2.functional"
    __import__(module)
    return sys.modules[module]


def _size_of(image: Any, transform: Any) -> tuple[int, int]:
    height, width = _functional(transform).get_dimensions(image)[1:]
    return int(height), int(width)


def _sides(size: Any) -> tuple[int, int]:
    """Height and width of what is (height, width), or one side of a square."""
    sides = [size] if isinstance(size, int) else list(size)
    return int(sides[0]), int(sides[-1])


def _given(sides: tuple[int, int]) -> int | tuple[int, int]:
    return sides[0] if sides[0] == sides[1] else sides


# Of Image.Resampling, which torchvision takes, too.
_PILLOWS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def _interpolation(transform: Any) -> str:
    """Of pictures, Pillow's, which knows no other than an antialiased one; `antialias` is of tensors."""
    how = transform.interpolation
    names = sorted(map(_how, how if isinstance(how, (list, tuple)) else [how]))
    if names == ["bicubic", "bilinear"]:
        return "random"  # timm's: one of them, as likely as the other
    if names not in (["bilinear"], ["bicubic"]):
        raise Unlike(f"{name_of(transform)} resizes by {' or '.join(names)} interpolation, not bilinear or bicubic")
    return names[0]


def _random_resized_crop(transform: Any) -> Step:
    interpolation = _interpolation(transform)
    sides = _sides(transform.size)
    scale, ratio = tuple(transform.scale), tuple(transform.ratio)
    functional = _functional(transform)
    vision: Any = sys.modules["torchvision.transforms"]

    def force(views: Views) -> Views:
        image, view = views
        crop = vision.RandomResizedCrop.get_params(image, list(scale), list(ratio))
        is_cubic = interpolation == "bicubic" or interpolation == "random" and bool(torch.randint(2, (1,)))
        how = vision.InterpolationMode.BICUBIC if is_cubic else vision.InterpolationMode.BILINEAR
        cut = functional.resized_crop(image, *crop, list(sides), how, antialias=True)
        y, x, height, width = (int(one) for one in crop)
        return cut, View((y, x, height, width), sides, (0, 0, *sides), view.mirrored, is_cubic)

    return Step(_recipes.random_resized_crop(_given(sides), scale, ratio, interpolation), RESIZE, force)


def _resize(transform: Any) -> Step:
    interpolation = _interpolation(transform)
    size = transform.size
    if getattr(transform, "max_size", None) is not None:
        raise Unlike("Resize has a max_size")
    given = _sides(size)[0] if isinstance(size, int) or len(size) == 1 else _sides(size)

    def force(views: Views) -> Views:
        image, view = views
        resized = transform(image)
        height, width = _size_of(resized, transform)
        size, window = (height, width), (0, 0, height, width)
        return resized, view._replace(size=size, window=window, is_cubic=interpolation == "bicubic")

    return Step(_recipes.resize(given, interpolation), RESIZE, force)


def _center_crop(transform: Any) -> Step:
    sides = _sides(transform.size)

    def force(views: Views) -> Views:
        image, view = views
        height, width = _size_of(image, transform)
        if sides[0] > height or sides[1] > width:
            raise Unlike(f"CenterCrop of {sides[0]} x {sides[1]} pads an image of {height} x {width}")
        y, x = (round((length - side) / 2.0) for length, side in zip((height, width), sides))
        window = (view.window[0] + y, view.window[1] + (width - sides[1] - x if view.mirrored else x), *sides)
        return transform(image), view._replace(window=window)

    return Step(_recipes.center_crop(_given(sides)), CROP, force)


def _random_crop(transform: Any) -> Step:
    sides = _sides(transform.size)
    padding = transform.padding
    pad = 0 if padding is None else _pad(padding)
    fill = transform.fill
    if pad and (transform.padding_mode != "constant" or fill not in (0, None, (0, 0, 0), [0, 0, 0])):
        raise Unlike("RandomCrop pads, and not with black")
    if transform.pad_if_needed:
        raise Unlike("RandomCrop has pad_if_needed")
    functional = _functional(transform)

    def force(views: Views) -> Views:
        image, view = views
        height, width = _size_of(image, transform)
        room = ((length, side) for length, side in zip((height, width), sides))
        y, x = (int(torch.randint(0, length + 2 * pad - side + 1, (1,))) for length, side in room)
        padded = functional.pad(image, [pad, pad, pad, pad], 0) if pad else image
        cut = functional.crop(padded, y, x, *sides)
        if pad == 0:
            x = width - sides[1] - x if view.mirrored else x
            return cut, view._replace(window=(view.window[0] + y, view.window[1] + x, *sides))
        return cut, View((y - pad, x - pad, *sides), sides, (0, 0, *sides), view.mirrored)

    return Step(_recipes.random_crop(_given(sides), pad), CROP, force)


def _pad(padding: Any) -> int:
    sides = {padding} if isinstance(padding, int) else set(padding)
    if len(sides) != 1:
        raise Unlike("RandomCrop pads, and not all sides alike")
    return int(sides.pop())


def _flip(transform: Any) -> Step:
    share = float(transform.p)
    functional = _functional(transform)

    def force(views: Views) -> Views:
        image, view = views
        if not float(torch.rand(1)) < share:
            return views
        flip: Any = getattr(functional, "hflip", None) or functional.horizontal_flip
        return flip(image), view._replace(mirrored=not view.mirrored)

    return Step(_recipes.flip(share), FLIP, force)


def _vertical_flip(transform: Any) -> Step:
    return Step(_recipes.vertical_flip(float(transform.p)), VERTICAL, _left_out, compared=False)


def _colour(transform: Any, fill: Any) -> int | tuple[int, int, int]:
    """What pictures are filled with: numbers of 0 ... 255, cut to whole ones."""
    if isinstance(fill, dict):
        kinds = [key for key in fill if key is not None and getattr(key, "__name__", key) not in ("Image", "others")]
        if kinds:
            raise Unlike(f"{name_of(transform)} fills by the kind of what it is given")
        fill = next(iter(fill.values()), 0)
    values = [0] if fill is None else [fill] if isinstance(fill, (int, float)) else list(fill)
    if len(values) not in (1, 3) or not all(0 <= one <= 255 for one in values):
        raise Unlike(f"{name_of(transform)} fills with {fill!r}, which is no colour")
    pixels = [int(one) for one in values]
    return pixels[0] if len(set(pixels)) == 1 else (pixels[0], pixels[1], pixels[2])


def _how(how: Any) -> str:
    value = getattr(how, "value", how)
    return _PILLOWS.get(value, str(value)) if isinstance(value, int) else str(value)


def _rotation(transform: Any) -> Step:
    if transform.expand:
        raise Unlike(f"{name_of(transform)} has expand=True, so that the sizes of images differ")
    how = _how(transform.interpolation)
    if how not in ("nearest", "bilinear"):
        raise Unlike(f"{name_of(transform)} turns by {how} interpolation, not nearest or bilinear")
    low, high = (float(one) for one in transform.degrees)
    centre = None if transform.center is None else (float(transform.center[0]), float(transform.center[1]))
    made = _recipes.rotate((low, high), how, _colour(transform, transform.fill), centre)
    return Step(made, COLOURS, _left_out, compared=False)


def _left_out(views: Views) -> Views:
    return views


def _color_jitter(transform: Any) -> Step:
    by: dict[str, float] = {}
    for name in "brightness", "contrast", "saturation":
        limits = getattr(transform, name)
        by[name] = 0.0 if limits is None else float(limits[1]) - 1
        if limits is not None and abs(float(limits[0]) - max(0.0, 1 - by[name])) > 1e-9:
            raise Unlike(f"ColorJitter's {name} is from {limits[0]} to {limits[1]}, not from 1 - x to 1 + x")
    hue = transform.hue
    by["hue"] = 0.0 if hue is None else float(hue[1])
    if hue is not None and float(hue[0]) != -by["hue"]:
        raise Unlike(f"ColorJitter's hue is from {hue[0]} to {hue[1]}, not from -x to x")
    given = {name: round(value, 12) for name, value in by.items()}
    return Step(_recipes.color_jitter(**given), COLOURS, _left_out, compared=False, is_turned=True)


def _rand_augment(transform: Any) -> Step:
    how = str(getattr(transform.interpolation, "value", transform.interpolation))
    if how != "nearest" or transform.fill not in (None, 0):
        raise Unlike("RandAugment fills with a colour, or does not take the nearest pixel")
    made = _recipes.rand_augment(transform.num_ops, transform.magnitude, transform.num_magnitude_bins)
    return Step(made, COLOURS, _left_out, compared=False)


def _timms_erasing(transform: Any) -> Any:
    """With torchvision's names, whose numbers are drawn alike."""
    if transform.per_pixel or transform.rand_color:
        raise Unlike(f"RandomErasing of timm fills with noise, which is mode '{transform.mode}', and not with a colour")
    if (transform.min_count, transform.max_count) != (1, 1):
        raise Unlike("RandomErasing of timm erases several parts")
    scale = transform.min_area, transform.max_area
    ratio = tuple(math.exp(one) for one in transform.log_aspect_ratio)
    return SimpleNamespace(p=transform.probability, value=0, scale=scale, ratio=ratio)


def erasing(transform: Any, mean: list[float], deviation: list[float]) -> Step:
    """Theirs fills with numbers, ours with the pixels that become these, rounded to whole ones."""
    if type(transform).__module__.startswith("timm."):
        transform = _timms_erasing(transform)
    value = transform.value
    wanted = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(one, (int, float)) for one in wanted) or len(wanted) not in (1, 3):
        raise Unlike(f"RandomErasing fills with {value!r}, which is no colour")
    channels = max(len(wanted), len(mean))
    spread = [(list(one) * channels)[:channels] for one in (wanted, mean, deviation)]
    colour = [middle + unit * one for one, middle, unit in zip(*spread)]
    if not -0.5 <= min(colour) <= max(colour) <= 255.5:
        raise Unlike(f"RandomErasing fills with {value!r}, which no pixels become")
    pixels = [min(255, max(0, round(one))) for one in colour]
    filled = pixels[0] if len(set(pixels)) == 1 else (pixels[0], pixels[1], pixels[2])
    scale, ratio = tuple(map(float, transform.scale)), tuple(map(float, transform.ratio))
    made = _recipes.random_erasing(float(transform.p), (scale[0], scale[1]), (ratio[0], ratio[1]), filled)
    return Step(made, ERASING, _left_out, compared=False)


def _grey(transform: Any) -> Step:
    if transform.num_output_channels != 1:
        raise Unlike("Grayscale makes three channels")
    return Step("grey", CHANNELS, lambda views: (transform(views[0]), views[1]))


def _convert_rgb(transform: Any) -> Step:
    return Step("rgb", CHANNELS, lambda views: (transform(views[0]), views[1]))


_STEPS: dict[str, Callable[[Any], Step]] = {
    "RandomResizedCrop": _random_resized_crop,
    "RandomResizedCropAndInterpolation": _random_resized_crop,
    "Resize": _resize,
    "CenterCrop": _center_crop,
    "RandomCrop": _random_crop,
    "RandomHorizontalFlip": _flip,
    "RandomVerticalFlip": _vertical_flip,
    "RandomRotation": _rotation,
    "ColorJitter": _color_jitter,
    "RandAugment": _rand_augment,
    "Grayscale": _grey,
    "RGB": _convert_rgb,
}
