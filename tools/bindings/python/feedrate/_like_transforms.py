"""torchvision's transforms, and timm's of the same kind, as a recipe of ours."""

from __future__ import annotations

from typing import Any, Iterator, NamedTuple

import torch

from feedrate._like_pixels import erasing, steps_of
from feedrate._like_steps import CHANNELS, CROP, FLIP, RESIZE, VERTICAL, Step, Unlike, is_known, name_of, padding_of


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


def plan_of(transform: Any, channels: int | None) -> Plan:
    """Of a dataset's transform. `channels`: what the dataset makes of every image first. Raises Unlike."""
    steps: list[Step] = []
    numbers = _Numbers()
    for one in _each(transform):
        if numbers.takes(one):
            continue
        if numbers.is_number and type(one).__name__ == "RandomErasing" and is_known(one):
            steps.append(erasing(one, numbers.mean, numbers.deviation)._replace(behind=len(numbers.rest)))
            continue
        if numbers.rest and getattr(one, "antialias", True) is False:
            raise Unlike(f"{name_of(one)} has antialias=False, which skips pixels of tensors")
        made = steps_of(one)
        if numbers.is_number:
            made = numbers.steps_of_pixels(one, made)
        steps += [step._replace(behind=len(numbers.rest)) for step in made]
    if not numbers.rest:
        raise Unlike("no ToTensor or PILToTensor makes tensors of the images")
    steps = _padded(_ordered(steps))
    first = next(passes_of(steps))
    if channels is not None and not any(step.parts.startswith(("random-resized-crop", "rgb", "grey")) for step in first):
        steps = _padded(_ordered([Step("rgb" if channels == 3 else "grey", CHANNELS, lambda views: views), *steps]))
    return Plan(steps, numbers.pixels, numbers.mean, numbers.deviation, numbers.rest)


def _each(transform: Any) -> Iterator[Any]:
    if is_sequence(transform):
        for one in getattr(transform, "transforms", transform):
            yield from _each(one)
    elif transform is not None:
        yield transform


def is_sequence(transform: Any) -> bool:
    return type(transform).__name__ in ("Compose", "Sequential") and is_known(transform)


def _ordered(steps: list[Step]) -> list[Step]:
    """As their order is, but with flips as early as they may come: a flip is nothing more for what is decoded,
    where a crop or a resize is next to it. The image stays the same, or as likely."""
    made: list[Step] = []
    for step in steps:
        at = len(made)
        while step.stage in (FLIP, VERTICAL) and at > 0 and made[at - 1].is_turned:
            at -= 1
        made.insert(at, step)
    ordered: list[Step] = []
    seen: list[Step] = []  # of the steps since the last change of pixels
    for step in made:
        if step.stage > VERTICAL:
            ordered += _by_stage(seen)
            seen = []
            ordered.append(step)
        else:
            seen.append(step)
    return ordered + _by_stage(seen)


def _by_stage(steps: list[Step]) -> list[Step]:
    """Flips and channels behind the crops and resizes."""
    made: list[Step] = []
    for step in reversed(steps):
        at = 0
        while at < len(made) and _passes(step, made[at]):
            at += 1
        made.insert(at, step)
    return made


def _passes(step: Step, other: Step) -> bool:
    """The centre of what is mirrored may be a pixel further."""
    turns = step.stage in (FLIP, VERTICAL)
    return step.stage >= FLIP and other.stage < step.stage and not (turns and other.parts.startswith("center-crop"))


def _padded(steps: list[Step]) -> list[Step]:
    """A crop of what black surrounds is one view only of the whole image."""
    made: list[Step] = []
    for some in passes_of(steps):
        for number, step in enumerate(some):
            is_first = all(one.stage >= FLIP for one in some[:number])
            made += [step] if is_first or not step.behind_others else step.behind_others
    return made


def passes_of(steps: list[Step]) -> Iterator[list[Step]]:
    """The steps of each pass that the recipe makes over an image."""
    some: list[Step] = []
    for step in steps:
        crops = bool(some) and (step.stage, some[-1].stage) == (CROP, FLIP)
        if some and (step.is_padding or step.stage < some[-1].stage and not crops or step.stage == some[-1].stage == RESIZE):
            yield some
            some = []
        some.append(step)
    yield some


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
        if not is_known(transform):
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

    def steps_of_pixels(self, transform: Any, steps: list[Step]) -> list[Step]:
        """Of a transform that does to numbers what the steps do to the pixels that they were. Raises Unlike for another."""
        name = name_of(transform)
        for step in steps:
            if step.stage not in (RESIZE, CROP, FLIP, VERTICAL) and not step.is_padding:
                raise Unlike(f"{name} comes behind the conversion to numbers")
            if "interpolation" in step.parts:
                raise Unlike(f"{name} makes numbers by bicubic interpolation, of which some are those of no pixels")
        if not getattr(transform, "padding", None):
            return steps
        if transform.padding_mode == "constant" and transform.fill not in (0, None):
            raise Unlike(f"{name} fills numbers with {transform.fill!r}")
        if not self.is_normal:
            return steps
        # 0 is the mean, of which pixels have the nearest.
        mean, deviation = (torch.tensor(one).view(-1, 1, 1) for one in (self.mean, self.deviation))
        _, *rest = steps[0].behind_others or steps
        pixels = [round(one) for one in self.mean]
        return [padding_of(transform, pixels, -mean / deviation), *rest]

    def _float(self) -> None:
        self.pixels, self.is_number = "f32", True
        self.mean, self.deviation = [0.0], [255.0]

    def _convert(self, transform: Any) -> None:
        wanted = transform.dtype
        if type(wanted) is dict or (wanted is not torch.float32 and wanted is not torch.uint8):
            raise Unlike(f"{name_of(transform)} makes {wanted}, not float32")
        if wanted is torch.uint8:
            if self.is_number:
                raise Unlike(f"{name_of(transform)} makes pixels of numbers again")
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
