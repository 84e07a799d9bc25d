"""What single transforms are here: parts of recipes."""

from __future__ import annotations

import sys
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
    is_padding: bool = False  # of the image made so far, so that a view of that begins
    behind_others: tuple[Step, ...] = ()  # what it is where a view of the image has begun; (): the same


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


# One function for each transform that chooses what is seen: what it is here, and how its drawn numbers are forced upon
# both.


def functional_of(transform: Any) -> Any:
    module = "torchvision.transforms.functional"
    if type(transform).__module__.startswith("torchvision.transforms.v2"):
        module = "torchvision.transforms.v2.functional"
    __import__(module)
    return sys.modules[module]


def _size_of(image: Any, transform: Any) -> tuple[int, int]:
    height, width = functional_of(transform).get_dimensions(image)[1:]
    return int(height), int(width)


def _sides(size: Any) -> tuple[int, int]:
    """Height and width of what is (height, width), or one side of a square."""
    sides = [size] if isinstance(size, int) else list(size)
    return int(sides[0]), int(sides[-1])


def given(sides: tuple[int, int]) -> int | tuple[int, int]:
    return sides[0] if sides[0] == sides[1] else sides


# Of Image.Resampling, which torchvision takes, too.
_PILLOWS = {0: "nearest", 1: "lanczos", 2: "bilinear", 3: "bicubic", 4: "box", 5: "hamming"}


def _interpolation(transform: Any) -> str:
    """Of pictures, Pillow's, which knows no other than an antialiased one; `antialias` is of tensors."""
    how = transform.interpolation
    names = sorted(map(how_of, how if isinstance(how, (list, tuple)) else [how]))
    if names == ["bicubic", "bilinear"]:
        return "random"  # timm's: one of them, as likely as the other
    if names not in (["bilinear"], ["bicubic"]):
        raise Unlike(f"{name_of(transform)} resizes by {' or '.join(names)} interpolation, not bilinear or bicubic")
    return names[0]


def _random_resized_crop(transform: Any) -> Step:
    interpolation = _interpolation(transform)
    sides = _sides(transform.size)
    scale, ratio = tuple(transform.scale), tuple(transform.ratio)
    functional = functional_of(transform)
    vision: Any = sys.modules["torchvision.transforms"]

    def force(views: Views) -> Views:
        image, view = views
        crop = vision.RandomResizedCrop.get_params(image, list(scale), list(ratio))
        is_cubic = interpolation == "bicubic" or interpolation == "random" and bool(torch.randint(2, (1,)))
        how = vision.InterpolationMode.BICUBIC if is_cubic else vision.InterpolationMode.BILINEAR
        cut = functional.resized_crop(image, *crop, list(sides), how, antialias=True)
        y, x, height, width = (int(one) for one in crop)
        return cut, View((y, x, height, width), sides, (0, 0, *sides), view.mirrored, is_cubic)

    return Step(_recipes.random_resized_crop(given(sides), scale, ratio, interpolation), RESIZE, force)


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

    return Step(_recipes.center_crop(given(sides)), CROP, force)


def _random_crop(transform: Any) -> list[Step]:
    sides = _sides(transform.size)
    if transform.pad_if_needed:
        raise Unlike("RandomCrop has pad_if_needed")
    margins = margins_of(transform)
    if margins == (0, 0, 0, 0):
        return [_crop_behind(transform, sides, 0)]
    padded = [padding_of(transform), _crop_behind(transform, sides, 0)]
    is_black = transform.padding_mode == "constant" and colour_of(transform, transform.fill) == 0
    if not is_black or len(set(margins)) > 1:
        return padded
    return [_crop_behind(transform, sides, margins[0])._replace(behind_others=tuple(padded))]


def _crop_behind(transform: Any, sides: tuple[int, int], pad: int) -> Step:
    functional = functional_of(transform)

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

    return Step(_recipes.random_crop(given(sides), pad), CROP, force)


def margins_of(transform: Any) -> tuple[int, int, int, int]:
    """Left, top, right and bottom."""
    padding = transform.padding
    sides = [0] if padding is None else [padding] if isinstance(padding, int) else [int(one) for one in padding]
    left, top, right, bottom = sides * (4 // len(sides))
    if type(transform).__name__ == "RandomCrop" and type(transform).__module__.startswith("torchvision.transforms.v2"):
        top, right = right, top  # which keeps them in another order
    if min(left, top, right, bottom) < 0:
        raise Unlike(f"{name_of(transform)} cuts sides off")
    return left, top, right, bottom


def padding_of(transform: Any, colour: Any = None, black: Any = 0) -> Step:
    """What Pad is here, and the first half of a RandomCrop. Only black is compared, which is `black` in theirs."""
    margins = left, top, right, bottom = margins_of(transform)
    functional = functional_of(transform)

    def force(views: Views) -> Views:
        padded = functional.pad(views[0], list(margins), 0)
        if isinstance(black, torch.Tensor):
            padded = padded + black * functional.pad(torch.zeros_like(views[0]), list(margins), 1)
        height, width = _size_of(padded, transform)
        return padded, View((-top, -left, height, width), (height, width), (0, 0, height, width))

    made = _recipes.pad(margins, transform.padding_mode, colour_of(transform, transform.fill if colour is None else colour))
    return Step(made, COLOURS, force, is_padding=True)


def colour_of(transform: Any, fill: Any) -> int | tuple[int, int, int]:
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


def _flip(transform: Any) -> Step:
    return flip_of(transform, float(transform.p))


def flip_of(transform: Any, share: float) -> Step:
    functional = functional_of(transform)

    def force(views: Views) -> Views:
        image, view = views
        if not float(torch.rand(1)) < share:
            return views
        flip: Any = getattr(functional, "hflip", None) or functional.horizontal_flip
        return flip(image), view._replace(mirrored=not view.mirrored)

    return Step(_recipes.flip(share), FLIP, force)


def how_of(how: Any) -> str:
    value = getattr(how, "value", how)
    return _PILLOWS.get(value, str(value)) if isinstance(value, int) else str(value)


def _convert_rgb(transform: Any) -> Step:
    return Step("rgb", CHANNELS, lambda views: (transform(views[0]), views[1]))


VIEWS: dict[str, Callable[[Any], Step | list[Step]]] = {
    "RandomResizedCrop": _random_resized_crop,
    "RandomResizedCropAndInterpolation": _random_resized_crop,
    "Resize": _resize,
    "CenterCrop": _center_crop,
    "RandomCrop": _random_crop,
    "RandomHorizontalFlip": _flip,
    "RGB": _convert_rgb,
    "Pad": padding_of,
}
