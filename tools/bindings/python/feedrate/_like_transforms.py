"""torchvision's transforms, and timm's of the same kind, as a recipe of ours."""

from __future__ import annotations

import math
import sys
from types import SimpleNamespace
from typing import Any, Callable, Iterator, NamedTuple

import torch

from feedrate import _recipes

Views = tuple[Any, "View"]  # an image of torchvision's, and what a loader makes of the stored one


class View(NamedTuple):
    """Which part of a stored image is seen, as `_native.Dataset.view` takes it: (y, x, height, width) of
    the crop, its size when it has been resized, the window of that, and whether left becomes right."""

    crop: tuple[int, int, int, int]
    size: tuple[int, int]
    window: tuple[int, int, int, int]
    mirrored: bool = False

    @staticmethod
    def whole(height: int, width: int) -> View:
        return View((0, 0, height, width), (height, width), (0, 0, height, width))


class Step(NamedTuple):
    """A transform that has a counterpart here."""

    parts: str  # of a recipe; "": nothing is done to pixels of u8
    stage: int  # where a recipe has it
    force: Callable[[Views], Views]  # draws numbers as theirs does, and does it to both
    compared: bool = True  # False: `force` leaves it out, since it is of colours and to the bit Pillow's
    behind: int = 0  # how many of Plan.rest come before it: whether theirs gives it a picture or a tensor


class Plan(NamedTuple):
    """What becomes of an image."""

    steps: list[Step]  # in the order in which a recipe has them
    pixels: str  # u8 or f32
    mean: list[float]  # of pixels from 0 to 255
    deviation: list[float]
    rest: list[Any]  # theirs, which make numbers of the pixels

    @property
    def recipe(self) -> str:
        parts = [step.parts for step in self.steps if step.parts]
        return "+".join(parts) or "none"


class Unlike(Exception):
    """Why something has no counterpart here, as a sentence's end: 'GaussianBlur is no part of recipes'."""


_RESIZE, _CROP, _FLIP, _CHANNELS, _COLOURS, _ERASING = range(6)


def plan_of(transform: Any, channels: int | None) -> Plan:
    """Of a dataset's transform. `channels`: what the dataset makes of every image first. Raises Unlike."""
    steps: list[Step] = []
    numbers = _Numbers()
    for one in _each(transform):
        if numbers.takes(one):
            continue
        if numbers.is_number and type(one).__name__ == "RandomErasing" and _known(one):
            steps.append(_erasing(one, numbers)._replace(behind=len(numbers.rest)))
            continue
        if numbers.is_number:
            raise Unlike(f"{_name(one)} comes behind the conversion to numbers")
        if numbers.rest and getattr(one, "antialias", True) is False:
            raise Unlike(f"{_name(one)} has antialias=False, which skips pixels of tensors")
        steps.append(_step_of(one)._replace(behind=len(numbers.rest)))
    if not numbers.rest:
        raise Unlike("no ToTensor or PILToTensor makes tensors of the images")
    has_channels = any(step.parts.startswith(("random-resized-crop", "rgb", "grey")) for step in steps)
    if channels is not None and not has_channels:
        steps.append(Step("rgb" if channels == 3 else "grey", _CHANNELS, lambda views: views))
    _order(steps)
    return Plan(steps, numbers.pixels, numbers.mean, numbers.deviation, numbers.rest)


def _each(transform: Any) -> Iterator[Any]:
    if is_sequence(transform):
        for one in getattr(transform, "transforms", transform):
            yield from _each(one)
    elif transform is not None:
        yield transform


def is_sequence(transform: Any) -> bool:
    return type(transform).__name__ in ("Compose", "Sequential") and _known(transform)


def _known(transform: Any) -> bool:
    module = type(transform).__module__
    return module.startswith(
        ("torchvision.transforms.", "timm.data.transforms", "timm.data.random_erasing", "torch.nn.modules.container")
    )


def _name(transform: Any) -> str:
    kind = transform if hasattr(transform, "__code__") else type(transform)
    return str(getattr(kind, "__qualname__", kind))


def _order(steps: list[Step]) -> None:
    """Puts changes of colours behind a flip, with which they commute."""
    stages = [step.stage for step in steps]
    if any(step.parts.startswith("rand-augment") and step.stage > min(stages[at:]) for at, step in enumerate(steps)):
        raise Unlike("RandAugment comes before what changes the place of pixels")
    if [stage for stage in stages if stage < _FLIP] != sorted(stage for stage in stages if stage < _FLIP):
        raise Unlike("a crop comes before a resize")
    steps.sort(key=lambda step: step.stage)


class _Numbers:
    """What becomes of u8 pixels: u8 tensors, or (pixel / 255 - mean) / deviation."""

    def __init__(self) -> None:
        self.pixels = "u8"
        self.is_number = False
        self.is_normal = False
        self.mean: list[float] = []
        self.deviation: list[float] = []
        self.rest: list[Any] = []

    def takes(self, transform: Any) -> bool:
        """Whether it is one of those that do this. Raises Unlike where it does so in another way."""
        name = type(transform).__name__
        if not _known(transform):
            return False
        if name in ("ToTensor", "MaybeToTensor"):
            self._float()
        elif name in ("ToDtype", "ConvertImageDtype"):
            self._convert(transform)
        elif name == "Normalize":
            self._normalize(transform)
        elif name not in ("PILToTensor", "MaybePILToTensor", "ToImage", "ToNumpy", "ToPureTensor"):
            return False
        self.rest.append(transform)
        return True

    def _float(self) -> None:
        self.pixels, self.is_number = "f32", True
        self.mean, self.deviation = [0.0], [255.0]

    def _convert(self, transform: Any) -> None:
        wanted = transform.dtype
        if type(wanted) is dict or (wanted is not torch.float32 and wanted is not torch.uint8):
            raise Unlike(f"{_name(transform)} makes {wanted}, not float32")
        if wanted is torch.uint8:
            if self.is_number:
                raise Unlike(f"{_name(transform)} makes pixels of numbers again")
            return
        if not getattr(transform, "scale", True):
            self.pixels, self.is_number = "f32", True
            self.mean, self.deviation = [0.0], [1.0]
        elif not self.is_number:
            self._float()

    def _normalize(self, transform: Any) -> None:
        if not self.is_number or self.is_normal:
            raise Unlike("Normalize comes before the conversion to float32, or twice")
        self.is_normal = True
        mean, deviation = (torch.as_tensor(one).double().reshape(-1).tolist() for one in (transform.mean, transform.std))
        unit = self.deviation[0]
        self.mean = [unit * one for one in mean]
        self.deviation = [unit * one for one in deviation]
        if min(self.mean) < 0 or max(self.mean) > 255 or min(self.deviation) <= 0:
            raise Unlike("Normalize subtracts a mean that no pixels have")


# One function for each transform: what it is here, and how its drawn numbers are forced upon both.


def _step_of(transform: Any) -> Step:
    make = _STEPS.get(type(transform).__name__)
    if make is not None and not _known(transform):
        raise Unlike(f"{_name(transform)} of {type(transform).__module__} is another one than torchvision's")
    if make is None:
        raise Unlike(f"{_name(transform)} is no part of recipes")
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


def _side(transform: Any, size: Any) -> int:
    """Of a square."""
    sides = [size] if isinstance(size, int) else list(size)
    if len(set(sides)) != 1:
        raise Unlike(f"{_name(transform)} makes {' x '.join(map(str, sides))} pixels, and not a square")
    return int(sides[0])


# Of Image.Resampling, which torchvision takes, too.
_PILLOWS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def _expect_bilinear(transform: Any) -> None:
    """Of pictures, Pillow's, which knows no other than an antialiased one; `antialias` is of tensors."""
    how = transform.interpolation
    given = [getattr(one, "value", one) for one in (how if isinstance(how, (list, tuple)) else [how])]
    names = [_PILLOWS.get(one, str(one)) if isinstance(one, int) else str(one) for one in given]
    if names != ["bilinear"]:
        raise Unlike(f"{_name(transform)} resizes by {' or '.join(names)} interpolation, not bilinear")


def _random_resized_crop(transform: Any) -> Step:
    _expect_bilinear(transform)
    side = _side(transform, transform.size)
    scale, ratio = tuple(transform.scale), tuple(transform.ratio)
    functional = _functional(transform)
    vision: Any = sys.modules["torchvision.transforms"]

    def force(views: Views) -> Views:
        image, view = views
        crop = vision.RandomResizedCrop.get_params(image, list(scale), list(ratio))
        how = vision.InterpolationMode.BILINEAR
        cut = functional.resized_crop(image, *crop, [side, side], how, antialias=True)
        y, x, height, width = (int(one) for one in crop)
        return cut, View((y, x, height, width), (side, side), (0, 0, side, side), view.mirrored)

    return Step(_recipes.random_resized_crop(side, scale, ratio), _RESIZE, force)


def _resize(transform: Any) -> Step:
    _expect_bilinear(transform)
    size = transform.size
    if getattr(transform, "max_size", None) is not None:
        raise Unlike("Resize has a max_size")
    if not isinstance(size, int) and len(size) != 1:
        raise Unlike(f"Resize makes {' x '.join(map(str, size))} pixels of every image, whatever its shape")
    side = _side(transform, size)

    def force(views: Views) -> Views:
        image, view = views
        resized = transform(image)
        height, width = _size_of(resized, transform)
        return resized, view._replace(size=(height, width), window=(0, 0, height, width))

    return Step(_recipes.resize(side), _RESIZE, force)


def _center_crop(transform: Any) -> Step:
    side = _side(transform, transform.size)

    def force(views: Views) -> Views:
        image, view = views
        height, width = _size_of(image, transform)
        if side > min(height, width):
            raise Unlike(f"CenterCrop of {side} pads an image of {height} x {width}")
        y, x = round((height - side) / 2.0), round((width - side) / 2.0)
        window = (view.window[0] + y, view.window[1] + x, side, side)
        return transform(image), view._replace(window=window)

    return Step(_recipes.center_crop(side), _CROP, force)


def _random_crop(transform: Any) -> Step:
    side = _side(transform, transform.size)
    padding = transform.padding
    pad = 0 if padding is None else _side(transform, padding)
    fill = transform.fill
    if pad and (transform.padding_mode != "constant" or fill not in (0, None, (0, 0, 0), [0, 0, 0])):
        raise Unlike("RandomCrop pads, and not with black")
    if transform.pad_if_needed:
        raise Unlike("RandomCrop has pad_if_needed")
    functional = _functional(transform)

    def force(views: Views) -> Views:
        image, view = views
        height, width = _size_of(image, transform)
        y, x = (int(torch.randint(0, length + 2 * pad - side + 1, (1,))) for length in (height, width))
        padded = functional.pad(image, [pad, pad, pad, pad], 0) if pad else image
        cut = functional.crop(padded, y, x, side, side)
        if pad == 0:
            return cut, view._replace(window=(view.window[0] + y, view.window[1] + x, side, side))
        return cut, View((y - pad, x - pad, side, side), (side, side), (0, 0, side, side), view.mirrored)

    return Step(_recipes.random_crop(side, pad), _CROP, force)


def _flip(transform: Any) -> Step:
    share = float(transform.p)
    functional = _functional(transform)

    def force(views: Views) -> Views:
        image, view = views
        if not float(torch.rand(1)) < share:
            return views
        flip: Any = getattr(functional, "hflip", None) or functional.horizontal_flip
        return flip(image), view._replace(mirrored=not view.mirrored)

    return Step(_recipes.flip(share), _FLIP, force)


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
    return Step(_recipes.color_jitter(**given), _COLOURS, _left_out, compared=False)


def _rand_augment(transform: Any) -> Step:
    how = str(getattr(transform.interpolation, "value", transform.interpolation))
    if how != "nearest" or transform.fill not in (None, 0):
        raise Unlike("RandAugment fills with a colour, or does not take the nearest pixel")
    made = _recipes.rand_augment(transform.num_ops, transform.magnitude, transform.num_magnitude_bins)
    return Step(made, _COLOURS, _left_out, compared=False)


def _timms_erasing(transform: Any) -> Any:
    """With torchvision's names, whose numbers are drawn alike."""
    if transform.per_pixel or transform.rand_color:
        raise Unlike(f"RandomErasing of timm fills with noise, which is mode '{transform.mode}', and not with a colour")
    if (transform.min_count, transform.max_count) != (1, 1):
        raise Unlike("RandomErasing of timm erases several parts")
    scale = transform.min_area, transform.max_area
    ratio = tuple(math.exp(one) for one in transform.log_aspect_ratio)
    return SimpleNamespace(p=transform.probability, value=0, scale=scale, ratio=ratio)


def _erasing(transform: Any, numbers: _Numbers) -> Step:
    """Theirs fills with numbers, ours with the pixels that become these, rounded to whole ones."""
    if type(transform).__module__.startswith("timm."):
        transform = _timms_erasing(transform)
    value = transform.value
    wanted = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(one, (int, float)) for one in wanted) or len(wanted) not in (1, 3):
        raise Unlike(f"RandomErasing fills with {value!r}, which is no colour")
    channels = max(len(wanted), len(numbers.mean))
    spread = [(list(one) * channels)[:channels] for one in (wanted, numbers.mean, numbers.deviation)]
    colour = [mean + deviation * one for one, mean, deviation in zip(*spread)]
    if not -0.5 <= min(colour) <= max(colour) <= 255.5:
        raise Unlike(f"RandomErasing fills with {value!r}, which no pixels become")
    pixels = [min(255, max(0, round(one))) for one in colour]
    filled = pixels[0] if len(set(pixels)) == 1 else (pixels[0], pixels[1], pixels[2])
    scale, ratio = tuple(map(float, transform.scale)), tuple(map(float, transform.ratio))
    made = _recipes.random_erasing(float(transform.p), (scale[0], scale[1]), (ratio[0], ratio[1]), filled)
    return Step(made, _ERASING, _left_out, compared=False)


def _grey(transform: Any) -> Step:
    if transform.num_output_channels != 1:
        raise Unlike("Grayscale makes three channels")
    return Step("grey", _CHANNELS, lambda views: (transform(views[0]), views[1]))


def _convert_rgb(transform: Any) -> Step:
    return Step("rgb", _CHANNELS, lambda views: (transform(views[0]), views[1]))


_STEPS: dict[str, Callable[[Any], Step]] = {
    "RandomResizedCrop": _random_resized_crop,
    "RandomResizedCropAndInterpolation": _random_resized_crop,
    "Resize": _resize,
    "CenterCrop": _center_crop,
    "RandomCrop": _random_crop,
    "RandomHorizontalFlip": _flip,
    "ColorJitter": _color_jitter,
    "RandAugment": _rand_augment,
    "Grayscale": _grey,
    "RGB": _convert_rgb,
}
