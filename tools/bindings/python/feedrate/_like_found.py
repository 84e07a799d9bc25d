"""What a dataset of others is here: a dataset of ours, read in place or converted, and what theirs does with an image."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import weakref
from typing import Any, Callable, Iterable, Iterator, NamedTuple

import torch

from feedrate import _data
from feedrate._commands import convert
from feedrate._like_steps import Unlike
from feedrate._torch_names import Source

_LOOKED_AT = 16  # rows, at equal distances
_LEVELS = 2  # by which decoders may differ
_HEAD = 26  # bytes of a PNG, to its type of colour

temporary: str | None = None
"""Where directories are made that nobody asked for; None: where the system has them."""


class Rows(NamedTuple):
    """The mappings that theirs yields in place of (image, label)."""

    columns: tuple[str, ...]  # in their order
    image: str  # one of them; the other one, if any, is the label
    tensors: bool  # the labels of single samples, too

    def sample(self, image: torch.Tensor, label: int) -> dict[str, Any]:
        return self.batch(image, torch.tensor(label) if self.tensors else label)

    def batch(self, images: torch.Tensor, labels: Any) -> dict[str, Any]:
        return {column: images if column == self.image else labels for column in self.columns}


class Found(NamedTuple):
    """A dataset of ours, and what theirs does with an image."""

    source: Source
    transform: Any
    channels: int | None  # that theirs makes of every image; None: as it is stored
    load: Callable[[int], Any]  # index of the whole dataset -> the image, as theirs gives it to its transform
    rows: Rows | None = None
    labels: list[Any] | None = None  # of the whole dataset, where theirs has others than ours


def found_in_place(
    theirs: Any, root: Any, samples: list[tuple[str, int]], transform: Any, directory: str | None
) -> Found:
    """A folder, read where it lies, or after it was converted. Of theirs: files and labels in its order."""
    place = os.path.abspath(os.fspath(root))
    ours = _data.opened(place)
    places = {ours._native.place(index)[0]: index for index in range(len(ours))}
    targets, listed = ours.targets, []
    labels: dict[int, int] = {}
    for path, label in samples:
        index = places.get(os.path.abspath(path))
        if index is None:
            raise Unlike(f"Feedrate does not find {path} in {place}")
        if labels.setdefault(index, label) != label:
            raise Unlike(f"{path} is listed with the labels {labels[index]} and {label}")
        listed.append(index)
    paths = {index: path for (path, _), index in zip(samples, listed)}
    expect_readable(paths.values())
    if directory is not None:
        made = converted(directory, "folder", place)
        if made.targets != targets:
            raise Unlike(f"{directory} is no conversion of {place}")
        ours = made

    def load(index: int) -> Any:
        from PIL import Image

        with open(paths[index], "rb") as file:
            return Image.open(file).convert("RGB")

    within = None if listed == list(range(len(ours))) else listed
    theirs_of_all = [labels.get(index, target) for index, target in enumerate(targets)]
    own = None if theirs_of_all == targets else theirs_of_all
    found = Found(Source(ours, theirs, within), transform, 3, load, labels=own)
    if directory is not None:
        expect_same_images(found, some_of(len(listed)))
    return found


def some_of(count: int, most: int = _LOOKED_AT) -> list[int]:
    some = min(count, most)
    return [number * count // some for number in range(some)]


def expect_readable(paths: Iterable[str]) -> None:
    """Raises Unlike for an image whose name tells that Feedrate may not read it, or reads it otherwise."""
    for path in paths:
        if path.lower().endswith((".jpg", ".jpeg", ".webp")):
            continue
        with open(path, "rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"\x89PNG") and head[-2:-1] == b"\x10" and head[-1:] in (b"\0", b"\4"):
            raise Unlike(f"{path} has 16 bits of grey, of which Pillow cuts off what is above 255")
        if not head.startswith((b"\x89PNG", b"\xff\xd8", b"RIFF")):
            raise Unlike(f"{path} is no JPEG, PNG or WebP")


def converted(out: str, source: str, place: str, split: str | None = None) -> _data.Dataset:
    """The dataset that is at `out`, or is made there: small images as they are, in LMDB, and others as they
    are, in RecordIO."""
    made = out if split is None else os.path.join(out, split)
    options = {"to": "recordio"} if split is None else {"to": "lmdb", "split": "all", "encode": "raw"}
    with made_once(made) as is_there:
        if not is_there:
            convert(source, place, out=out, part=WHOLE, **options)
    return _data.opened(made)


WHOLE = "1/1"
"""The part of a conversion that is all of it, whatever a launcher says of this process."""


@contextlib.contextmanager
def made_once(path: str) -> Iterator[bool]:
    """Whether it is there. The ranks of a launcher come here at once: one makes it, and the others wait."""
    parent = os.path.dirname(os.path.abspath(path))
    os.makedirs(parent, exist_ok=True)
    descriptor = os.open(parent, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # some file systems lock no directories: then the second one is refused
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield os.path.exists(path)
    finally:
        os.close(descriptor)


def made_in(directory: str | None, name: str, make: Callable[[str], _data.Dataset]) -> _data.Dataset:
    """What `make` opens in the directory; None: in a temporary one, which goes with the dataset."""
    if directory is not None:
        return make(directory)
    own = tempfile.mkdtemp(prefix="feedrate-", dir=temporary)
    try:
        ours = make(os.path.join(own, name))
    except BaseException:
        shutil.rmtree(own)
        raise
    weakref.finalize(ours, _remove, own, os.getpid())
    return ours


def _remove(directory: str, owner: int) -> None:
    """By the process that made it: a fork of it ends earlier."""
    if os.getpid() == owner:
        shutil.rmtree(directory, ignore_errors=True)


def expect_same_images(found: Found, rows: Iterable[int]) -> None:
    """Raises Unlike where those of ours are others."""
    import numpy
    from PIL import Image

    ours, within = found.source.dataset, found.source.within
    for row in rows:
        index = row if within is None else within[row]
        image, stored = found.load(index), Image.fromarray(_two_or_three(ours[index].image))
        wanted, there = (numpy.asarray(one.convert(image.mode)).astype(int) for one in (image, stored))
        if wanted.shape != there.shape or abs(wanted - there).max() > _LEVELS:
            name = type(found.source.given).__name__
            raise Unlike(f"image {row} of the {name} has other pixels in {ours.info['path']}")


def _two_or_three(image: Any) -> Any:
    """Dimensions: Pillow has none for a single channel."""
    import numpy

    pixels = numpy.asarray(image)
    return pixels[:, :, 0] if pixels.shape[2:] == (1,) else pixels
