"""What transforms that change pixels are here, whatever is seen of an image: parts of recipes, to the bit Pillow's."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Callable

from feedrate import _recipes
from feedrate._like_steps import (
    CHANNELS,
    COLOURS,
    ERASING,
    FLIP,
    VERTICAL,
    VIEWS,
    Step,
    Unlike,
    Views,
    colour_of,
    flip_of,
    given,
    how_of,
    is_known,
    name_of,
)


def steps_of(transform: Any) -> list[Step]:
    name = type(transform).__name__
    make = VIEWS.get(name) or _PIXELS.get(name)
    if make is not None and not is_known(transform):
        raise Unlike(f"{name_of(transform)} of {type(transform).__module__} is another one than torchvision's")
    if make is None:
        raise Unlike(f"{name_of(transform)} is no part of recipes")
    made = make(transform)
    return made if isinstance(made, list) else [made]


def _vertical_flip(transform: Any) -> Step:
    return Step(_recipes.vertical_flip(float(transform.p)), VERTICAL, _left_out, compared=False)


def _rotation(transform: Any) -> Step:
    if transform.expand:
        raise Unlike(f"{name_of(transform)} has expand=True, so that the sizes of images differ")
    how = _nearness(transform)
    low, high = (float(one) for one in transform.degrees)
    centre = _centre(transform)
    made = _recipes.rotate((low, high), how, colour_of(transform, transform.fill), centre)
    return _coloured(made)


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
    how, fill = _nearness(transform), colour_of(transform, transform.fill)
    made = _recipes.rand_augment(transform.num_ops, transform.magnitude, transform.num_magnitude_bins, how, fill)
    return _coloured(made)


def _auto_augment(transform: Any) -> Step:
    fill = colour_of(transform, transform.fill)
    return _coloured(_recipes.auto_augment(transform.policy.value, _nearness(transform), fill))


def _trivial_augment(transform: Any) -> Step:
    fill = colour_of(transform, transform.fill)
    return _coloured(_recipes.trivial_augment(transform.num_magnitude_bins, _nearness(transform), fill))


def _coloured(made: str, is_turned: bool = False) -> Step:
    return Step(made, COLOURS, _left_out, compared=False, is_turned=is_turned)


def _nearness(transform: Any) -> str:
    how = how_of(transform.interpolation)
    if how not in ("nearest", "bilinear"):
        raise Unlike(f"{name_of(transform)} moves pixels by {how} interpolation, not nearest or bilinear")
    return how


def _two(numbers: Any) -> tuple[float, float]:
    return float(numbers[0]), float(numbers[1])


def _centre(transform: Any) -> tuple[float, float] | None:
    return None if transform.center is None else _two(transform.center)


def _random_affine(transform: Any) -> Step:
    low, high = (float(one) for one in transform.degrees)
    shear = [0.0, 0.0, 0.0, 0.0] if transform.shear is None else [float(one) for one in transform.shear]
    shear += [0.0, 0.0] * (len(shear) == 2)
    made = _recipes.random_affine(
        (low, high),
        _two(transform.translate or (0, 0)),
        _two(transform.scale or (1, 1)),
        (shear[0], shear[1], shear[2], shear[3]),
        _nearness(transform),
        colour_of(transform, transform.fill),
        _centre(transform),
    )
    return _coloured(made)


def _gaussian_blur(transform: Any) -> Step:
    size = transform.kernel_size
    width, height = (size, size) if isinstance(size, int) else (int(size[0]), int(size[-1]))
    return _coloured(_recipes.gaussian_blur(given((height, width)), _two(transform.sigma)))


def _greyscale(transform: Any) -> Step:
    if transform.num_output_channels == 1:
        return Step("grey", CHANNELS, lambda views: (transform(views[0]), views[1]))
    # Grey images become three channels, too.
    return _coloured(_recipes.rgb() | _recipes.random_grey(1))


def _toned(make: Callable[..., str], strength: str | None = None) -> Callable[[Any], Step]:
    """Of a transform that does one thing to some images, `strength` being an attribute."""

    def step(transform: Any) -> Step:
        strengths = () if strength is None else (getattr(transform, strength),)
        return _coloured(make(*strengths, share=float(transform.p)), is_turned=True)

    return step


def _solarize(threshold: float, share: float) -> str:
    return _recipes.solarize(min(256.0, max(0.0, float(threshold))), share)


def _random_apply(transform: Any) -> Step:
    share = float(transform.p)
    steps = [step for one in transform.transforms for step in steps_of(one)]
    steps = [step._replace(parts=step.parts.removeprefix("rgb+")) for step in steps]  # of Grayscale(3)
    if len(steps) == 1 and steps[0].stage == FLIP:
        return flip_of(transform, share * float(transform.transforms[0].p))
    for step in steps:
        if step.stage not in (VERTICAL, COLOURS) or step.is_padding:
            raise Unlike(f"RandomApply leaves {step.parts.partition(':')[0]} to chance")
    if not steps:
        return Step("", CHANNELS, _left_out)
    made = _recipes.random_apply(_recipes.Recipe("+".join(step.parts for step in steps)), share)
    return _coloured(made, is_turned=all(step.is_turned for step in steps))


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


_PIXELS: dict[str, Callable[[Any], Step | list[Step]]] = {
    "RandomVerticalFlip": _vertical_flip,
    "RandomRotation": _rotation,
    "RandomAffine": _random_affine,
    "ColorJitter": _color_jitter,
    "Grayscale": _greyscale,
    "RandomGrayscale": _toned(_recipes.random_grey),
    "RandomAutocontrast": _toned(_recipes.autocontrast),
    "RandomEqualize": _toned(_recipes.equalize),
    "RandomInvert": _toned(_recipes.invert),
    "RandomPosterize": _toned(_recipes.posterize, "bits"),
    "RandomSolarize": _toned(_solarize, "threshold"),
    "RandomAdjustSharpness": _toned(_recipes.sharpness, "sharpness_factor"),
    "GaussianBlur": _gaussian_blur,
    "RandAugment": _rand_augment,
    "AutoAugment": _auto_augment,
    "TrivialAugmentWide": _trivial_augment,
    "RandomApply": _random_apply,
}
