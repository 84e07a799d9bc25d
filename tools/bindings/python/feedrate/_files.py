"""Image files, wherever they lie, as a dataset."""

from __future__ import annotations

import os
import reprlib
from typing import Any, Iterable, Sequence, Union

from feedrate import _native
from feedrate._data import Dataset
from feedrate._samples import LARGEST_LABEL, whole_number

Path = Union[str, bytes, "os.PathLike[str]"]


def files(samples: Iterable[tuple[Path, int]], classes: Sequence[str] | None = None) -> Dataset:
    """The image files of a list of (path, label), read where they lie, in its order; a file may come several times.

        feedrate.Loader(feedrate.files([("a.jpg", 0), ("b.png", 1)]), "imagenet-train")

    `classes`: their names, by label. Only the first file is opened now. Raises ValueError for an empty list and for a
    label that is negative or of no class, DataError where no file can be read."""
    paths: list[bytes] = []
    labels: list[int] = []
    for sample in samples:
        try:
            path, label = sample
            paths.append(os.path.abspath(os.fsencode(path)))
            labels.append(whole_number(label))
        except (TypeError, ValueError):
            raise TypeError(f"samples: expected a path and a label, found {reprlib.repr(sample)}") from None
    if not paths:
        raise ValueError("samples: expected one at least")
    names = list(classes or ())
    most = len(names) - 1 if names else LARGEST_LABEL
    for path, label in zip(paths, labels):
        if not 0 <= label <= most:
            raise ValueError(f"{os.fsdecode(path)}: expected a label from 0 to {most}, found {label}")
    return _Files(paths, labels, names)


class _Files(Dataset):
    def __init__(self, paths: list[bytes], labels: list[int], names: list[str]) -> None:
        super().__init__(_native.files(paths, labels, names))
        self._listed = paths, labels, names

    def __reduce__(self) -> Any:
        return _Files, self._listed
