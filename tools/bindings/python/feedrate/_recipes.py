from __future__ import annotations

import operator
import reprlib
from decimal import Decimal
from typing import Any, SupportsIndex, Union

from feedrate import _native


class Recipe(str):
    """What becomes of a stored image on its way into a batch, as `Loader` and the shell take it.

    Parts are joined by `|`, in any order; mixes of batches come last. A crop, a resize and a flip that
    stand together are done at once, with only the pixels that are seen.

        feedrate.random_resized_crop(160) | feedrate.flip() | feedrate.color_jitter(0.4, 0.4, 0.4, 0.1)

    It is a string, such as random-resized-crop:size=160+flip+color-jitter:brightness=0.4. All draws
    are pure functions of (seed, epoch, index). Raises ValueError for parts behind a mix of batches."""

    __slots__ = ()

    def __or__(self, other: str) -> Recipe:
        return _named(f"{self}+{other}")

    def __ror__(self, other: str) -> Recipe:
        return _named(f"{other}+{self}")


def recipe(name: str, **parameters: float | tuple[float, float] | str) -> Recipe:
    """A recipe with other numbers than usual.

        feedrate.recipe("imagenet-train", size=160, scale=(0.25, 1), ratio=(3/4, 4/3), flip=0)

    imagenet-train has size (pixels of a side), scale (share of the area, from and to), ratio (width to
    height, from and to), flip (the share of images that are mirrored) and interpolation ("bilinear",
    "bicubic" or, of each image, a "random" one of the two); imagenet-eval size, resize (the short side)
    and interpolation; cifar-train pad (black pixels on each side) and flip; caffe size, resize
    and flip; caffe-eval size and resize. Raises ValueError, with the nearest name."""
    words = [f"{key}={_parameter(key, value)}" for key, value in parameters.items()]
    return _named(":".join((name, *words)) if words else name)


Size = Union[int, tuple[int, int]]  # of a square, or height and width


def random_resized_crop(
    size: Size = 224,
    scale: tuple[float, float] = (0.08, 1.0),
    ratio: tuple[float, float] = (3 / 4, 4 / 3),
    interpolation: str = "bilinear",
) -> Recipe:
    """A crop of a random share of the area and a random ratio of width to height, resized to
    size x size or (height, width), RGB: torchvision's RandomResizedCrop, antialiased. By "bilinear" or
    "bicubic" interpolation, or a "random" one of the two, as in timm."""
    how = _how(interpolation)
    return recipe("random-resized-crop", **_sides(size), scale=scale, ratio=ratio, **how)


def resize(size: Size = 256, interpolation: str = "bilinear") -> Recipe:
    """The whole image; its short side becomes `size` pixels, or the image (height, width). By "bilinear"
    or "bicubic" interpolation."""
    return recipe("resize", **_sides(size), **_how(interpolation))


def center_crop(size: Size = 224) -> Recipe:
    """The middle size x size pixels, or (height, width)."""
    return recipe("center-crop", **_sides(size))


def random_crop(size: Size, pad: int = 0) -> Recipe:
    """size x size pixels, or (height, width), from anywhere, behind `pad` black pixels on each side."""
    return recipe("random-crop", **_sides(size), pad=pad)


def flip(share: float = 0.5) -> Recipe:
    """Horizontal flip of this share of the images."""
    return recipe("flip", share=share)


def rgb() -> Recipe:
    """RGB: grey images get three equal channels. A dataset of both needs this or `grey`."""
    return recipe("rgb")


def grey() -> Recipe:
    """One channel: colours become what Pillow's convert("L") makes of them."""
    return recipe("grey")


def vertical_flip(share: float = 0.5) -> Recipe:
    """Vertical flip of this share of the images."""
    return recipe("vertical-flip", share=share)


Colour = Union[int, tuple[int, int, int]]  # a grey, or red, green and blue; of 0 ... 255


def rotate(
    degrees: float | tuple[float, float] = 15,
    interpolation: str = "nearest",
    value: Colour = 0,
    centre: tuple[float, float] | None = None,
    share: float = 1,
) -> Recipe:
    """torchvision's RandomRotation: turned by -degrees to degrees, or from and to, about the centre or
    (x, y); "nearest" or "bilinear" pixels, and `value` behind the edges. In this share of the images."""
    limits = degrees if isinstance(degrees, (tuple, list)) else (-degrees, degrees)
    place = {} if centre is None else {"x": centre[0], "y": centre[1]}
    return recipe(
        "rotate", degrees=limits, interpolation=interpolation, **place, share=share, **_colour(value)
    )


def color_jitter(
    brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
) -> Recipe:
    """torchvision's ColorJitter: factors from max(0, 1 - x) to 1 + x, hues turned by -hue to hue of
    the circle, at most 0.5, one after the other in random order. Pillow's arithmetic, to the bit."""
    return recipe(
        "color-jitter", brightness=brightness, contrast=contrast, saturation=saturation, hue=hue
    )


def random_affine(
    degrees: float | tuple[float, float] = 0,
    translate: tuple[float, float] = (0, 0),
    scale: tuple[float, float] = (1, 1),
    shear: tuple[float, float, float, float] = (0, 0, 0, 0),
    interpolation: str = "nearest",
    value: Colour = 0,
    centre: tuple[float, float] | None = None,
    share: float = 1,
) -> Recipe:
    """torchvision's RandomAffine: turned by -degrees to degrees, or from and to; moved by up to shares of the
    width and of the height; scaled from and to; sheared across from and to, and down from and to, in
    degrees. About the centre or (x, y); "nearest" or "bilinear" pixels, and `value` behind the edges."""
    limits = degrees if isinstance(degrees, (tuple, list)) else (-degrees, degrees)
    place = {} if centre is None else {"x": centre[0], "y": centre[1]}
    moved: dict[str, Any] = {"across": translate[0], "down": translate[1], "scale": scale}
    moved |= {"shear_x": shear[:2], "shear_y": shear[2:]} if any(shear) else {}
    named = {name.replace("_", "-"): one for name, one in moved.items()}
    how = _pixels(interpolation, value)
    return recipe("random-affine", degrees=limits, **named, **place, share=share, **how)


def pad(
    margins: int | tuple[int, int, int, int] = 4, mode: str = "constant", value: Colour = 0
) -> Recipe:
    """torchvision's Pad: pixels on all sides, or left, top, right and bottom; of the colour `value`, or, by
    mode="edge", "reflect" or "symmetric", of the image."""
    if isinstance(margins, tuple):
        sides = dict(zip(("left", "top", "right", "bottom"), margins))
    else:
        sides = {"all": margins}
    return recipe("pad", **sides, **({} if mode == "constant" else {"mode": mode}), **_colour(value))


def random_grey(share: float = 0.1) -> Recipe:
    """torchvision's RandomGrayscale: grey in all channels, in this share of the images."""
    return recipe("random-grey", share=share)


def autocontrast(share: float = 0.5) -> Recipe:
    """torchvision's RandomAutocontrast: each channel stretched to 0 ... 255, in this share of the images."""
    return recipe("autocontrast", share=share)


def equalize(share: float = 0.5) -> Recipe:
    """torchvision's RandomEqualize: each channel's histogram made flat, in this share of the images."""
    return recipe("equalize", share=share)


def invert(share: float = 0.5) -> Recipe:
    """torchvision's RandomInvert: 255 less each value, in this share of the images."""
    return recipe("invert", share=share)


def posterize(bits: int = 4, share: float = 0.5) -> Recipe:
    """torchvision's RandomPosterize: the upper `bits` of each value, in this share of the images."""
    return recipe("posterize", bits=bits, share=share)


def solarize(threshold: float = 128, share: float = 0.5) -> Recipe:
    """torchvision's RandomSolarize: values from `threshold` on inverted, in this share of the images."""
    return recipe("solarize", threshold=threshold, share=share)


def sharpness(factor: float = 2, share: float = 0.5) -> Recipe:
    """torchvision's RandomAdjustSharpness, in this share of the images: 1 changes nothing, 0 smooths."""
    return recipe("sharpness", factor=factor, share=share)


def gaussian_blur(
    size: Size = 23, sigma: tuple[float, float] = (0.1, 2.0), share: float = 1
) -> Recipe:
    """torchvision's GaussianBlur: a kernel of size x size or (height, width) pixels, odd numbers, and a
    random sigma, from and to. A pixel may be rounded to the level beside torchvision's."""
    return recipe("gaussian-blur", **_sides(size), sigma=sigma, share=share)


def random_apply(parts: str, share: float = 0.5) -> Recipe:
    """torchvision's RandomApply: all of the parts, which change pixels and no size, in this share of the
    images, and else none of them."""
    count = parts.count("+") + 1
    return _named(f"apply:share={_parameter('share', share)}:parts={count}+{parts}")


def rand_augment(
    ops: int = 2,
    magnitude: int = 9,
    bins: int = 31,
    interpolation: str = "nearest",
    value: Colour = 0,
) -> Recipe:
    """torchvision's RandAugment: `ops` of 14 changes, one after the other, of the strength
    `magnitude` of 0 ... bins - 1; "nearest" or "bilinear" pixels, and `value` behind the edges."""
    how = _pixels(interpolation, value)
    return recipe("rand-augment", ops=ops, magnitude=magnitude, bins=bins, **how)


def auto_augment(
    policy: str = "imagenet", interpolation: str = "nearest", value: Colour = 0
) -> Recipe:
    """torchvision's AutoAugment: a random pair of the changes of a policy, "imagenet", "cifar10" or "svhn"."""
    return recipe("auto-augment", policy=policy, **_pixels(interpolation, value))


def trivial_augment(bins: int = 31, interpolation: str = "nearest", value: Colour = 0) -> Recipe:
    """torchvision's TrivialAugmentWide: one of 14 changes, of a strength of 0 ... bins - 1."""
    return recipe("trivial-augment", bins=bins, **_pixels(interpolation, value))


def random_erasing(
    share: float = 0.5,
    scale: tuple[float, float] = (0.02, 0.33),
    ratio: tuple[float, float] = (0.3, 3.3),
    value: Colour = 0,
) -> Recipe:
    """torchvision's RandomErasing, in this share of the images: a rectangle of a random share of the
    area and a random ratio of height to width becomes `value`, a grey or a colour of 0 ... 255, before
    any mean is subtracted."""
    return recipe("random-erasing", share=share, scale=scale, ratio=ratio, **_colour(value))


def mixup(alpha: float = 1.0) -> Recipe:
    """torchvision's MixUp: each image becomes a sum of itself and of the one before it in the batch,
    see `Batch.lam`, which is drawn for each batch from the beta distribution (alpha, alpha). With
    `cutmix` in the same recipe, each batch undergoes one of them."""
    return recipe("mixup", alpha=alpha)


def cutmix(alpha: float = 1.0) -> Recipe:
    """torchvision's CutMix: a rectangle of each image comes from the one before it in the batch, see
    `Batch.lam`."""
    return recipe("cutmix", alpha=alpha)


def _pixels(interpolation: str, value: Colour) -> dict[str, Any]:
    """How they are moved, where that is not the usual way."""
    how: dict[str, Any] = {} if interpolation == "nearest" else {"interpolation": interpolation}
    return how if value == 0 else how | _colour(value)


def _colour(value: Colour) -> dict[str, int]:
    return dict(zip(("value", "green", "blue"), value if isinstance(value, tuple) else (value,)))


def _how(interpolation: str) -> dict[str, str]:
    return {} if interpolation == "bilinear" else {"interpolation": interpolation}


def _sides(size: Size) -> dict[str, int]:
    if not isinstance(size, (tuple, list)):
        return {"size": size}
    if len(size) != 2:
        raise ValueError(f"size: expected a number, or height and width, found {reprlib.repr(size)}")
    return {"height": size[0], "width": size[1]}


def _named(text: str) -> Recipe:
    return Recipe(_native.recipe_name(text))


def _parameter(name: str, value: float | tuple[float, float] | str) -> str:
    if isinstance(value, str) and value.isalnum():
        return value
    if isinstance(value, (tuple, list)):
        return "-".join(_parameter(name, one) for one in value)
    try:
        if isinstance(value, SupportsIndex):
            return str(operator.index(value))
        # Digits without an exponent, which read back as the same number.
        return format(Decimal(repr(float(value))), "f")
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{name}: expected a number, or two, found {reprlib.repr(value)}") from None
