"""The files of the images in a table of Hugging Face's: where they lie, and a dataset of ours that holds them."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, Iterator

from feedrate import _data, _like_found
from feedrate._errors import DataError
from feedrate._like_found import WHOLE, Found, expect_same_images, found_in_place, made_in, made_once, some_of
from feedrate._like_steps import Unlike
from feedrate._torch_names import Source
from feedrate._write import write

_KINDS = 32  # of files; of each, a row is looked at besides
_FILES = 64  # read at once
_MOST_COPIED = 2**30  # bytes, to a temporary directory that nobody asked for
_READ = ("JPEG", "MPO", "PNG", "WEBP")  # formats of Pillow's that Feedrate reads


def names_of(table: Any, label: str | None) -> list[str] | None:
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
        self._modes: set[str] = set()
        self._chosen: dict[object, tuple[float, int]] = {}  # what a row is looked at for -> a measure, and the row
        for number, file in enumerate(self):
            self._take(number, file)

    def __iter__(self) -> Iterator[Any]:
        for begin in range(0, len(self._raw), _FILES):
            yield from self._raw[begin : begin + _FILES][self._column]

    def opened(self, index: int) -> Any:
        return _opened(self._raw[index][self._column])

    @property
    def rows(self) -> list[int]:
        """That are looked at: some at equal distances, the smallest and largest, and one of each kind of files."""
        return sorted({*some_of(len(self._raw)), *(row for _, row in self._chosen.values())})

    def expect_mode(self, mode: str | None) -> None:
        """Raises Unlike where theirs makes no images of one mode, and these differ."""
        if mode is None and not (len(self._modes) == 1 and self._modes <= {"RGB", "L"}):
            modes = ", ".join(sorted(self._modes))
            raise Unlike(f"the Dataset's images are of the modes {modes}: convert('RGB') comes first")

    def _take(self, number: int, file: Any) -> None:
        """Raises Unlike where ours would yield other pixels, or none."""
        path, content = (file or {}).get("path"), (file or {}).get("bytes")
        if content is not None:
            self.paths = None
            self.size += len(content)
        elif path and os.path.isfile(path):
            self.size += os.path.getsize(path)
            if self.paths is not None:
                self.paths.append(path)
        else:
            raise Unlike(f"image {number} of the Dataset is no local file: {path}")
        try:
            with _opened(file) as image:
                self._look_at(number, image)
                turns = self._is_turned and (content is None or _may_turn(content))
                is_turned = turns and image.getexif().get(0x0112, 1) != 1
        except (OSError, SyntaxError, ValueError) as error:
            raise Unlike(f"image {number} of the Dataset cannot be opened: {error}") from None
        if is_turned:
            raise Unlike(f"image {number} of the Dataset is stored turned, as EXIF says, and Feedrate leaves it so")

    def _look_at(self, number: int, image: Any) -> None:
        if image.format not in _READ:
            raise Unlike(f"image {number} of the Dataset is of the format {image.format}, which Feedrate does not read")
        self._modes.add(image.mode)
        stored = str(image.tile[0][3]) if image.tile and image.format == "PNG" else ""  # with its bits
        if len(self._chosen) < _KINDS:
            self._chosen.setdefault((image.format, image.mode, stored), (0, number))
        width, height = image.size
        for name, measure in ("width", width), ("height", height), ("shape", width / height):
            for sign in -1, 1:
                if sign * measure > self._chosen.get((name, sign), (float("-inf"), 0))[0]:
                    self._chosen[name, sign] = sign * measure, number


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
        ours = _copy_of(found.source.given, files, labels, names, directory)
        there = found._replace(source=Source(ours, found.source.given, None))
    expect_same_images(there, files.rows)
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
        return found._replace(source=there.source, labels=there.labels)
    rows = {index: row for row, index in enumerate(within)}
    return found._replace(source=there.source, labels=there.labels, load=lambda index: found.load(rows[index]))


_kept: dict[int, tuple[Any, _data.Dataset]] = {}
"""Tables and their copies in `_like_found.temporary`, by the tables' ids."""


def _copy_of(
    table: Any, files: Files, labels: list[int], names: list[str] | None, directory: str | None
) -> _data.Dataset:
    """A script may make a loader of one table for each validation: what will be removed at its end is kept till then."""
    kept = _kept.get(id(table))
    if directory is None and kept is not None and kept[1].targets == labels:
        return kept[1]
    ours = made_in(directory, "table", lambda out: _copied(files, labels, names, out))
    if directory is None and _like_found.temporary is not None:
        _kept[id(table)] = table, ours
    return ours


def _copied(files: Files, labels: list[int], names: list[str] | None, out: str) -> _data.Dataset:
    """The files as they are, in a RecordIO, unless they are there."""
    known = names if names and max(labels) < len(names) else max(labels) + 1
    with made_once(out) as is_there:
        if not is_there:
            try:
                write(out, zip(files, labels), classes=known, part=WHOLE)
            except (DataError, ValueError) as error:
                raise Unlike(f"the Dataset cannot be copied: {error}") from None
    ours = _data.opened(out)
    if ours.targets != labels:
        raise Unlike(f"{out} is no copy of the Dataset")
    return ours


