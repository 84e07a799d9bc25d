"""Datasets written from Python: `write` and `Writer`."""

from __future__ import annotations

import itertools
import operator
import os
import re
import reprlib
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence, Union

from feedrate._converter import Channel, Converter, Description
from feedrate._data import as_path
from feedrate._samples import END, GIVEN_UP, LARGEST_LABEL, Frame, expect_kind, frame, of_item, whole_number
from feedrate._writers import Work, expect_main_process, send_by_processes

if TYPE_CHECKING:
    from feedrate._json import Convert

_Path = Union[str, "os.PathLike[str]"]
_Classes = Union[int, Sequence[str], None]

_COLUMNS = ("image", "label")
_ORIGIN = "python"
_MAX_SPLIT = 200  # it becomes part of file names
_NO_TEXT = "[\x00-\x1f\x7f\ud800-\udfff]"  # control characters, and what UTF-8 cannot encode
_REFUSED = {
    "out": "the path says where the dataset appears",
    "shuffle": "the samples are written in the order in which they come: shuffle what is given",
    "join": "joins the parts of a conversion: feedrate.convert() and the program do that",
    "labels": "the labels come with the samples",
    "boxes": "boxes are not written from Python",
}


def _options(path: _Path, to: str, options: dict[str, object]) -> dict[str, object]:
    for name, reason in _REFUSED.items():
        if options.get(name) is not None:
            raise ValueError(f"{name}: {reason}")
    return {"to": to, "out": as_path(path), **options}


def _classes_given(classes: object) -> _Classes:
    """How many, or names that a line of text can hold and that tell one class from another."""
    if classes is None:
        return None
    if isinstance(classes, (list, tuple)) and classes and all(isinstance(one, str) for one in classes):
        known: dict[str, int] = {}
        for index, name in enumerate(classes):
            if not name.strip() or re.search(_NO_TEXT, name):
                raise ValueError(f"classes: expected names in one line of text, found {reprlib.repr(name)} at {index}")
            if known.setdefault(name, index) != index:
                raise ValueError(
                    f"classes: expected names that differ, found {reprlib.repr(name)} at {known[name]} and {index}"
                )
        return classes
    try:
        count = whole_number(classes)
    except TypeError:
        raise TypeError(
            f"classes: expected how many, or a list of their names, found {reprlib.repr(classes)}"
        ) from None
    if not 1 <= count <= LARGEST_LABEL + 1:
        raise ValueError(f"classes: expected 1 to {LARGEST_LABEL + 1}, found {count}")
    return count


def _expect_columns(columns: object) -> None:
    if isinstance(columns, (list, tuple)) and [isinstance(one, str) for one in columns] == [True, True]:
        return
    raise TypeError(f"columns: expected the names of image and label, found {reprlib.repr(columns)}")


def _expect_split(split: object) -> None:
    if not isinstance(split, str):
        raise TypeError(f"split: expected a name, found {reprlib.repr(split)}")
    if not 0 < len(split) <= _MAX_SPLIT or split[0] == "." or re.search(f"/|{_NO_TEXT}", split):
        raise ValueError(f"split: expected a name that a file can have, such as 'train', found {reprlib.repr(split)}")


def _classes_of(samples: Any, column: str) -> list[str] | None:
    """The names that a Hugging Face dataset has for its labels, or one of torchvision's for its classes."""
    features = getattr(samples, "features", None)
    feature = features.get(column) if isinstance(features, Mapping) else None
    names = getattr(feature, "names", None) or getattr(samples, "classes", None)
    named = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
    return list(names) if named and names else None


def _items(samples: Any, indexed: bool, size: int, start: int) -> Iterator[tuple[int, Any]]:
    if indexed:
        for index in range(start, size):
            with of_item(index):
                item = samples[index]
            yield index, item
        return
    index, items = 0, iter(samples)
    while True:
        with of_item(index):
            try:
                item = next(items)
            except StopIteration:
                return
        if index >= start:
            yield index, item
        index += 1


def _size_of(samples: Any) -> int:
    return len(samples) if hasattr(samples, "__len__") else 0


def write(
    path: _Path,
    samples: Iterable[Any] | Any,
    *,
    to: str = "recordio",
    classes: int | Sequence[str] | None = None,
    columns: tuple[str, str] = _COLUMNS,
    split: str = "train",
    processes: int = 1,
    resume: bool = False,
    **options: object,
) -> Convert:
    """Writes samples of any origin as a dataset: the same files as `convert` makes of the same samples.

        feedrate.write("data/mine", [(Path("cat.jpg"), 0), (array, 1)], classes=["cat", "dog"])
        feedrate.write("data/pets", torchvision.datasets.OxfordIIITPet("pets"), encode="jpeg:95", processes=8)
        hub = datasets.load_dataset("beans", split="train")
        feedrate.write("data/beans", hub.cast_column("image", datasets.Image(decode=False)), columns=("image", "labels"))

    Args:
        path: a directory, which appears when it is complete.
        samples: an iterable, or what has a length and indices, as PyTorch's and Hugging Face's datasets do.
            Each sample is (image, label), (image, label, name), or a mapping with `columns`. An image is
            what its file holds (bytes; a pathlib.Path; a mapping with 'bytes' or 'path'), which is kept as
            it is, or pixels: a Pillow image of mode L or RGB, an array H x W x C or H x W of uint8, a PyTorch tensor
            C x H x W of uint8. All of one dataset are of the same of these two. A label is a whole number from 0.
        to: the format, as for `convert`.
        classes: how many, or their names, which differ and are lines of text; by default what the dataset says of
            itself, if anything.
        columns: the names of image and label in a mapping.
        split: what the dataset calls itself: "train", "val", "test", or another name that a file can have.
        processes: how many make samples, where these have a length and indices. The files are the same for
            any number. As PyTorch's workers do, they get `samples` by a fork or a pickle.
        resume: go on where an earlier call was stopped or killed, with the same samples in the same order. How many there
            are and what the first one is must agree.
        options: those of `convert`, as in `encode="png", shards=4, resize="short:256", threads=8`.

    Returns what `convert` returns. Raises TypeError or ValueError for a sample, naming its index, ValueError for
    options, DataError for images that cannot be decoded, and whatever `samples` raises, with a note that
    names the index (from Python 3.11 on); then there is nothing
    at `path`, and `path` + ".partial" holds what `resume=True` goes on from. Parts, as in `part="auto"`, share
    the work among machines as those of `convert` do."""
    classes = _classes_given(classes)
    _expect_split(split)
    expect_main_process()
    indexed = hasattr(samples, "__getitem__") and hasattr(samples, "__len__") and not isinstance(samples, Mapping)
    _expect_columns(columns)
    processes = operator.index(processes)
    if processes < 1 or (processes > 1 and not indexed):
        raise ValueError(
            f"processes: expected 1, or more for samples with a length and indices, found {processes}"
        )
    options = _options(path, to, {**options, "resume": resume})
    size = _size_of(samples)
    if not indexed and iter(samples) is samples:
        with of_item(0):
            first, samples = _peek(samples)
    else:
        first, _ = _peek(item for _, item in _items(samples, indexed, size, 0))
    given = classes if classes is not None else _classes_given(_classes_of(samples, columns[1]))
    description = Description(split, given, _ORIGIN)
    begin = frame(0, first, columns, description.count)
    description.begin(begin, size)
    converter = Converter(options, description, min(processes, size) or 1)
    try:
        start = converter.first_wanted()
        if start is not None and processes > 1:
            work = Work(samples, columns, description.count, begin.pixels)
            send_by_processes(work, start, converter)
        elif start is not None:
            channel = Channel(converter.pipes[0])
            for index, item in _items(samples, indexed, size, start):
                one = frame(index, item, columns, description.count)
                expect_kind(index, one, begin.pixels)
                channel.send(one.head, one.image)
                if not channel.wanted:
                    break
            channel.send(END)
            channel.flush()
    except BaseException:
        converter.close_pipes()
        converter.wait()
        raise
    converter.close_pipes()
    return converter.result()


def _peek(items: Iterator[Any]) -> tuple[Any, Iterator[Any]]:
    for first in items:
        return first, itertools.chain([first], items)
    raise ValueError("samples: expected at least one, found none")


class Writer:
    """A dataset that grows a sample at a time.

        with feedrate.Writer("data/mine", to="webdataset", classes=["cat", "dog"]) as writer:
            writer.add(image, 0)

    Images, labels, `to`, `classes`, `split` and options are those of `write`. The dataset appears at `path` when the
    block ends; when it ends by an exception, nothing does. One thread at a time.

    Attributes:
        result: what `write` returns, once the dataset is complete.
    """

    result: Convert | None = None

    def __init__(
        self,
        path: _Path,
        *,
        to: str = "recordio",
        classes: int | Sequence[str] | None = None,
        split: str = "train",
        **options: object,
    ) -> None:
        classes = _classes_given(classes)
        _expect_split(split)
        if options.get("resume"):
            raise ValueError("resume: only write() knows which samples come again")
        self._options = _options(path, to, options)
        self._description = Description(split, classes, _ORIGIN)
        self._converter: Converter | None = None
        self._channel: Channel | None = None
        self._pixels = False
        self._count = 0
        self._ended = False

    def add(self, image: Any, label: Any, name: str = "") -> None:
        """Adds a sample. Raises TypeError or ValueError where it cannot be one, and DataError where an earlier
        one could not be written: images are decoded in the background."""
        if self._ended:
            raise ValueError("this writer is closed")
        one = frame(self._count, (image, label, name), _COLUMNS, self._description.count)
        channel = self._channel or self._begin(one)
        expect_kind(self._count, one, self._pixels)
        channel.send(one.head, one.image)
        self._count += 1
        if not channel.wanted:
            self.close()

    def close(self) -> None:
        """Completes the dataset."""
        if self._ended:
            return
        if self._converter is None:
            raise ValueError("a dataset holds at least one sample, and none was added")
        self._end(END)
        self.result = self._converter.result()

    def discard(self) -> None:
        """Gives up: there will be no dataset."""
        if not self._ended and self._converter is not None:
            self._end(GIVEN_UP)
            self._converter.wait()
        self._ended = True

    def _begin(self, first: Frame) -> Channel:
        self._description.begin(first, 0)
        self._pixels = first.pixels
        self._converter = Converter(self._options, self._description, 1)
        self._channel = Channel(self._converter.pipes[0])
        if self._converter.first_wanted() is None:
            self._channel.wanted = False
        return self._channel

    def _end(self, last: bytes) -> None:
        assert self._channel is not None and self._converter is not None
        self._ended = True
        self._channel.send(last)
        self._channel.flush()
        self._converter.close_pipes()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()
