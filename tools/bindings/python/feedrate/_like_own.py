"""A Dataset of a script's own, whose `__getitem__` opens a file with Pillow, calls a Compose and yields that and a label.

That it does nothing else is seen by calling it: for every sample, with a small picture in the place of the one that
Image.open would give, and for some as it is."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, Callable, Iterator, NamedTuple

import torch
from torch.utils import data

from feedrate._data import Dataset
from feedrate._files import files
from feedrate._errors import DataError
from feedrate._like_found import WHOLE, Found, Rows, expect_readable, expect_same_images, made_once, some_of
from feedrate._like_function import Calls, are_alike, are_equal, expect_forgets, is_mark, small, watched
from feedrate._like_steps import Unlike
from feedrate._random_states import kept_random_states
from feedrate._samples import LARGEST_LABEL
from feedrate._torch_names import Source
from feedrate._write import write

_ORIENTATION = 0x0112  # of EXIF
_TURNED = 6
_CALLED_AGAIN = 10_000  # samples at most, with other random numbers


class _Seen(NamedTuple):
    """One call of `__getitem__`."""

    path: str
    by: Any  # the Compose
    picture: Any  # as the Compose got it
    given: Any  # what Image.open gave in its place
    keys: tuple[Any, ...]  # of the image and of the label
    label: Any


def found_in_own(dataset: Any, collate: Any, directory: str | None) -> Found:
    """Raises Unlike with what it does otherwise."""
    count = _expect_indexed(dataset)
    before = _attributes(dataset)
    with kept_random_states():
        expect_forgets(lambda: _asked(dataset, 0))
        _expect_unchanged(dataset, before)
        with _Watch(dataset) as watch:
            mode = _mode_of(watch)
            seen = [watch.ask(index) for index in range(count)]
            again = {index: watch.ask(index, shift=1) for index in some_of(count, _CALLED_AGAIN)}
        _expect_unchanged(dataset, before)
        first = seen[0]
        for index, one in enumerate(seen):
            _expect_same(one, again.get(index, one), first, mode)
    paths = [one.path for one in seen]
    labels = [_label_of(one.label, collate) for one in seen]
    _expect_equal_labels(labels)
    expect_readable(paths)
    if mode is None:
        _expect_one_mode(paths)
    found = Found(
        Source(_opened(paths, labels, directory), dataset, None),
        first.by,
        {None: None, "RGB": 3, "L": 1}[mode],
        lambda index: _picture(paths[index], mode),
        _rows_of(first),
        labels,
    )
    with kept_random_states():
        for index in some_of(count):
            with watched() as calls:
                _asked(dataset, index)
            if len(calls.pictures) != 1 or not are_equal(calls.pictures[0], found.load(index)):
                raise Unlike("its __getitem__ changes images before its Compose")
    expect_same_images(found, some_of(count))
    return found


def _expect_indexed(dataset: Any) -> int:
    if not hasattr(type(dataset), "__getitem__") or not hasattr(type(dataset), "__len__"):
        raise Unlike("it has no __getitem__ and __len__")
    if hasattr(dataset, "__getitems__"):
        raise Unlike("it yields several samples at once, by __getitems__")
    try:
        count = len(dataset)
    except Exception as error:
        raise Unlike(f"its length is not known: {error!r}") from None
    if count == 0:
        raise Unlike("it is empty")
    return count


def _asked(dataset: Any, index: int) -> Any:
    try:
        return dataset[index]
    except Exception as error:
        raise Unlike(f"its sample {index} cannot be read: {error!r}") from None


def _attributes(dataset: Any) -> dict[str, Any]:
    """What tells whether they have changed."""
    return {name: _told_by(value) for name, value in getattr(dataset, "__dict__", {}).items()}


def _told_by(value: Any) -> Any:
    if isinstance(value, (bool, int, float, str, bytes)):
        return value
    try:
        return id(value), len(value)
    except TypeError:
        return id(value)


def _expect_unchanged(dataset: Any, before: dict[str, Any]) -> None:
    now = _attributes(dataset)
    if now != before:
        name = next(name for name in {**before, **now} if before.get(name) != now.get(name))
        raise Unlike(f"its __getitem__ changes the dataset's {name}")


class _Watch:
    """Calls a dataset, whose pictures and Compose are marked."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._stack = contextlib.ExitStack()
        self._opened: list[tuple[Any, Any]] = []
        self._mode = "RGB"
        self._number = 0

    def __enter__(self) -> _Watch:
        self._calls: Calls = self._stack.enter_context(watched())
        self._stack.enter_context(_opened_by(self._open))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self, file: Any) -> Any:
        picture = small(self._mode, self._number)
        picture.info["exif"] = _turned()  # for those who heed it, which we do not
        picture.filename = getattr(file, "name", file)
        picture.format = "JPEG"
        self._opened.append((file, picture.copy()))
        return picture

    def ask(self, index: int, mode: str = "RGB", shift: int = 0) -> _Seen:
        self._mode, self._number = mode, index + shift
        self._opened.clear()
        self._calls.clear()
        sample = _asked(self._dataset, index)
        if len(self._opened) != 1:
            what = f"{len(self._opened)} files" if self._opened else "no file"
            raise Unlike(f"its __getitem__ opens {what} with PIL.Image.open")
        if len(self._calls.pictures) != 1:
            times = f"{len(self._calls.pictures)} times" if self._calls.pictures else "with no image"
            raise Unlike(f"its __getitem__ calls a Compose {times}")
        file, given = self._opened[0]
        place, label = _parts_of(sample, self._calls.marks[0])
        return _Seen(_path_of(file), self._calls.by[0], self._calls.pictures[0], given, place, label)


@contextlib.contextmanager
def _opened_by(take: Callable[[Any], Any]) -> Iterator[None]:
    """Within, `take` is in the place of Image.open, for this thread."""
    pillow: Any = importlib.import_module("PIL.Image")
    called, thread = pillow.open, threading.get_ident()

    def opened(file: Any, *given: Any, **named: Any) -> Any:
        return take(file) if threading.get_ident() == thread else called(file, *given, **named)

    pillow.open = opened
    try:
        yield
    finally:
        pillow.open = called


@functools.lru_cache(maxsize=None)
def _turned() -> bytes:
    from PIL import Image

    exif = Image.Exif()
    exif[_ORIENTATION] = _TURNED
    return exif.tobytes()


def _path_of(file: Any) -> str:
    raw = file.raw if type(file) is io.BufferedReader else file
    name = raw.name if type(raw) is io.FileIO else file  # others have names, too, such as those in an archive
    if not isinstance(name, (str, bytes, os.PathLike)):
        raise Unlike(f"its __getitem__ opens images of {type(file).__name__}, and not by their paths")
    return os.path.abspath(os.fsdecode(name))


def _parts_of(sample: Any, made: torch.Tensor) -> tuple[tuple[Any, ...], Any]:
    """The keys of the image and the label, and the label. Raises Unlike for a sample of other parts."""
    if isinstance(sample, Mapping):
        items = list(sample.items())
    elif type(sample) in (tuple, list):
        items = list(enumerate(sample))
    else:
        raise Unlike(f"its __getitem__ returns {type(sample).__name__}, not an image and a label")
    if len(items) != 2:
        raise Unlike(f"its __getitem__ returns {len(items)} things, not an image and a label")
    places = [number for number, (_, value) in enumerate(items) if value is made]
    if len(places) != 1 or not is_mark(made, 0):
        raise Unlike("what its Compose gives is not what its __getitem__ returns")
    if not isinstance(sample, Mapping) and places != [0]:
        raise Unlike("its __getitem__ returns the label before the image")
    return tuple(key for key, _ in items) + (places[0],), items[1 - places[0]][1]


def _mode_of(watch: _Watch) -> str | None:
    """To which all pictures are converted."""
    seen = watch.ask(0)
    if are_equal(seen.picture, seen.given.convert("L")):
        return "L"
    try:
        grey = watch.ask(0, "L")
    except Unlike:
        return None
    return "RGB" if are_equal(grey.picture, grey.given.convert("RGB")) else None


def _expect_same(one: _Seen, other: _Seen, first: _Seen, mode: str | None) -> None:
    for seen in one, other:
        if not are_equal(seen.picture, seen.given if mode is None else seen.given.convert(mode)):
            raise Unlike("its __getitem__ changes images before its Compose")
        if seen.keys != first.keys:
            raise Unlike("its __getitem__ does not return the same for all samples")
        if seen.by is not first.by and not are_alike(seen.by, first.by):
            raise Unlike("its __getitem__ calls several Composes")
    if one.path != other.path or not _are_same(one.label, other.label):
        raise Unlike("its __getitem__ returns another file or label each time")


def _are_same(one: Any, other: Any) -> bool:
    """Of two labels, of whatever type."""
    if type(one) is not type(other):
        return False
    if hasattr(one, "tolist"):
        return str(one.dtype) == str(other.dtype) and bool(one.tolist() == other.tolist())
    return bool(one == other)


def _label_of(label: Any, collate: Any) -> Any:
    """A whole number, or numbers of 32 bits: what a batch has in int64 or float32."""
    if type(label) is int:
        return label
    numpy: Any = sys.modules.get("numpy")
    kind = str(label.dtype).removeprefix("torch.") if hasattr(label, "dtype") else type(label).__name__
    is_one = isinstance(label, torch.Tensor) or numpy is not None and isinstance(label, (numpy.generic, numpy.ndarray))
    # Another collate function gets single labels, of their types.
    if is_one and collate is data.default_collate:
        if kind == "int64" and label.ndim == 0 or kind == "float32" and label.ndim < 2:
            return label.tolist()
    raise Unlike(f"its labels are of {kind}, not int")


def _expect_equal_labels(labels: list[Any]) -> None:
    if len({(type(one), len(one) if isinstance(one, list) else 0) for one in labels}) > 1:
        raise Unlike("its labels are not all of one type and length")


def _rows_of(first: _Seen) -> Rows | None:
    *keys, place = first.keys
    if keys == [0, 1]:
        return None
    return Rows(tuple(keys), keys[place], isinstance(first.label, torch.Tensor))


def _expect_one_mode(paths: list[str]) -> None:
    from PIL import Image

    modes: set[str] = set()
    for path in paths:
        try:
            with Image.open(path) as image:
                modes.add(image.mode)
        except (OSError, SyntaxError, ValueError) as error:
            raise Unlike(f"{path} cannot be opened: {error}") from None
    if modes not in ({"RGB"}, {"L"}):
        raise Unlike(f"its images are of the modes {', '.join(sorted(modes))}: convert('RGB') comes first")


def _picture(path: str, mode: str | None) -> Any:
    from PIL import Image

    with Image.open(path) as image:
        return image.copy() if mode is None else image.convert(mode)


def _opened(paths: list[str], labels: list[Any], directory: str | None) -> Dataset:
    """The files where they lie, or copied to a RecordIO as they are; without labels that are no classes."""
    are_classes = type(labels[0]) is int and 0 <= min(labels) and max(labels) <= LARGEST_LABEL
    known = labels if are_classes else [0] * len(labels)
    try:
        ours = files(list(zip(paths, known)))
        if directory is None:
            return ours
        from feedrate._data import opened

        with made_once(directory) as is_there:
            if not is_there:
                pairs = (({"path": path}, label) for path, label in zip(paths, known))
                write(directory, pairs, classes=max(known) + 1, part=WHOLE)
        copied = opened(directory)
    except (DataError, ValueError) as error:
        raise Unlike(f"its files cannot be read: {error}") from None
    if copied.targets != known:
        raise Unlike(f"{directory} is no copy of the dataset")
    return copied
