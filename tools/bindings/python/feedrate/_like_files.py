"""The files of the images in a table of Hugging Face's: where they lie, and a dataset of ours that holds them."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Iterator

from feedrate import _data
from feedrate._errors import DataError
from feedrate._like_found import WHOLE, Found, found_in_place, made_in, made_once
from feedrate._like_transforms import Unlike
from feedrate._torch_names import Source
from feedrate._write import write

_LOOKED_AT = 16  # rows, at equal distances
_FILES = 64  # read at once
_MOST_COPIED = 2**30  # bytes, to a temporary directory that nobody asked for


def some_of(count: int) -> list[int]:
    some = min(count, _LOOKED_AT)
    return [number * count // some for number in range(some)]


def names_of(table: Any, label: str) -> list[str] | None:
    """Of classes, where the table has them."""
    return getattr(table.features.get(label), "names", None)


class Files:
    """The files of a table's images, as bytes or as paths."""

    def __init__(self, table: Any, column: str, is_turned: bool) -> None:
        hub: Any = sys.modules["datasets"]
        self._raw = table.with_format(None).cast_column(column, hub.Image(decode=False)).select_columns([column])
        self._column = column
        self._is_turned = is_turned  # by theirs, as their EXIF says
        self.paths: list[str] | None = []  # None: some are in the table
        self.size = 0  # in bytes

    def __iter__(self) -> Iterator[Any]:
        for begin in range(0, len(self._raw), _FILES):
            yield from self._raw[begin : begin + _FILES][self._column]

    def opened(self, index: int) -> Any:
        return _opened(self._raw[index][self._column])

    def expect_readable(self, mode: str | None) -> None:
        """Raises Unlike where ours would yield other pixels, or none: turned images, and modes that differ."""
        modes = set()
        for number, file in enumerate(self):
            path, content = file.get("path"), file.get("bytes")
            if content is not None:
                self.paths = None
                self.size += len(content)
            elif path and os.path.isfile(path):
                self.size += os.path.getsize(path)
                if self.paths is not None:
                    self.paths.append(path)
            else:
                raise Unlike(f"image {number} of the Dataset is no local file: {path}")
            if mode is None or (self._is_turned and (content is None or _may_turn(content))):
                with _opened(file) as image:
                    modes.add(image.mode)
                    if self._is_turned and image.getexif().get(0x0112, 1) != 1:
                        raise Unlike(f"image {number} of the Dataset is stored turned, as EXIF says, and Feedrate leaves it so")
        if mode is None and not (len(modes) == 1 and modes <= {"RGB", "L"}):
            raise Unlike(f"the Dataset's images are of the modes {', '.join(sorted(modes))}: convert('RGB') comes first")


def _opened(file: Any) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(file["bytes"]) if file.get("bytes") is not None else file["path"])


def _may_turn(content: bytes) -> bool:
    """Pillow reads the orientation from EXIF of any file, from XMP, and from a text of PNG."""
    return any(mark in content for mark in (b"Exif", b"eXIf", b"EXIF", b"profile type", b"rientation", b"II*\0", b"MM\0*"))


def placed(found: Found, files: Files, labels: list[int], names: list[str] | None, directory: str | None) -> Found:
    """With files of a folder where they lie, and all others in a RecordIO."""
    if labels and min(labels) < 0:
        raise Unlike(f"image {labels.index(min(labels))} of the Dataset has the label {min(labels)}")
    there = _in_folder(found, files, labels, directory)
    if there is None:
        if directory is None and files.size > _MOST_COPIED:
            size = f"{files.size / 1e9:.1f} GB"
            raise Unlike(f"the Dataset's {size} would be copied: say where to, by directory= or --convert")
        ours = made_in(directory, "table", lambda out: _copied(files, labels, names, out))
        there = found._replace(source=Source(ours, found.source.given, None))
    _expect_same_images(there, len(labels))
    return there


def _in_folder(found: Found, files: Files, labels: list[int], directory: str | None) -> Found | None:
    """None: they are in no folder of classes of the same labels."""
    roots = {os.path.dirname(os.path.dirname(os.path.abspath(path))) for path in files.paths or ()}
    if len(roots) != 1 or files.paths is None:
        return None
    try:
        there = found_in_place(found.source.given, roots.pop(), list(zip(files.paths, labels)), None, directory)
    except (Unlike, DataError):
        return None
    within = there.source.within
    if within is None:
        return found._replace(source=there.source)
    rows = {index: row for row, index in enumerate(within)}
    return found._replace(source=there.source, load=lambda index: found.load(rows[index]))


def _copied(files: Files, labels: list[int], names: list[str] | None, out: str) -> _data.Dataset:
    """The files as they are, in a RecordIO, unless they are there."""
    known = names if names and max(labels) < len(names) else max(labels) + 1
    with made_once(out) as is_there:
        if not is_there:
            write(out, zip(files, labels), classes=known, part=WHOLE)
    ours = _data.opened(out)
    if ours.targets != labels:
        raise Unlike(f"{out} is no copy of the Dataset")
    return ours


def _expect_same_images(found: Found, count: int) -> None:
    import numpy

    ours, within = found.source.dataset, found.source.within
    for row in some_of(count):
        index = row if within is None else within[row]
        image = numpy.asarray(found.load(index)).astype(int)
        stored = numpy.asarray(ours[index].image).astype(int)
        image = image.reshape(*image.shape[:2], -1)
        if image.shape[:2] != stored.shape[:2] or abs(image - stored).max() > 2:
            raise Unlike(f"image {row} of the Dataset has other pixels in {ours.info['path']}")
