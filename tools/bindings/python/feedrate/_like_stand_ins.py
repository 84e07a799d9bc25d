"""Samples that Feedrate cannot decode and the dataset that a loader is like can: decoded by theirs, and kept."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable, Iterator

from feedrate import _data, _native
from feedrate._errors import DataError
from feedrate._like_found import WHOLE, Found, made_in
from feedrate._loader import Loader
from feedrate._write import write

_AT_ONCE = 256  # since each time the threads start again
_LOOKED_FOR = 2.0  # seconds, for files that will fail as well
_HEADS = (b"\xff\xd8", b"\x89PNG", b"RIFF")  # of what Feedrate decodes


class StandIns:
    """Of one loader, in all its epochs."""

    def __init__(self, found: Found) -> None:
        self._found = found
        self._dataset = found.source.dataset  # with those that stand in
        self._kept: list[_data.Dataset] = []
        self._tried: set[int] = set()
        self._unlooked = iter(range(len(found.source.dataset)))
        self.count = 0
        self.tell: Callable[[int, str], None] = _warn
        """Called with the number of them all, and why the first of those that are new is one."""

    def in_loader(self, loader: Loader[Any], error: DataError) -> Loader[Any]:
        """The loader with theirs in the place of a sample that could not be decoded, and of those that look like it.
        Raises the error where theirs does not decode it."""
        if error.sample is None or (error.sample in self._tried and loader.dataset is self._dataset):
            raise error
        if error.sample not in self._tried:
            self._add(error.sample, error)
        return type(loader)(**{**loader._arguments, "dataset": self._dataset})

    def _add(self, first: int, error: DataError) -> None:
        pictures = dict(self._decoded(first, error))
        targets = self._dataset.targets
        samples = [(picture, targets[index]) for index, picture in pictures.items()]
        self._kept.append(made_in(None, "stand-ins", lambda out: _written(out, samples, max(targets) + 1)))
        native = _native.standing_in(self._dataset._native, self._kept[-1]._native, list(pictures))
        self._dataset = _data.Dataset(native, settings=self._dataset._settings)
        self.count += len(samples)
        self.tell(self.count, str(error))

    def _decoded(self, first: int, error: DataError) -> Iterator[tuple[int, Any]]:
        import numpy

        count = 0
        for index in self._likely(first):
            self._tried.add(index)
            try:
                picture = self._found.load(index)
                picture.load()
            except Exception as theirs:
                if index == first:
                    raise error from theirs
                continue
            yield index, numpy.asarray(picture)
            count += 1
            if count == _AT_ONCE:
                return

    def _likely(self, first: int) -> Iterator[int]:
        """That sample, and others whose files begin as none that Feedrate decodes."""
        yield first
        until = time.monotonic() + _LOOKED_FOR
        if self._found.source.dataset.info["format"] not in ("folder", "files"):
            return
        for index in self._unlooked:
            if index not in self._tried and not self._begins_well(index):
                yield index
            if time.monotonic() > until:
                return

    def _begins_well(self, index: int) -> bool:
        try:
            with open(self._found.source.dataset._native.place(index)[0], "rb") as file:
                return file.read(4).startswith(_HEADS)
        except OSError:
            return True  # and fails when it comes


def _written(out: str, samples: list[tuple[Any, int]], classes: int) -> _data.Dataset:
    write(out, samples, classes=classes, to="recordio", encode="png", part=WHOLE)
    return _data.opened(out)


def _warn(count: int, why: str) -> None:
    """With the same text each time, of which Python shows one."""
    warnings.warn(f"{why}; the dataset's own code decodes it, and others like it", stacklevel=2)
