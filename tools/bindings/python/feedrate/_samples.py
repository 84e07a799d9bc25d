"""Items that callers write, each (image, label), as the frames that the program's source `samples` reads.

A frame is drawn in converters/sources/sample_pipes.h."""

from __future__ import annotations

import contextlib
import operator
import os
import reprlib
import struct
from collections.abc import Mapping
from typing import Any, Iterator, NamedTuple, Sequence

_HEADER = struct.Struct("<IiIIIIQ")
_END, _ENCODED, _PIXELS, _GIVEN_UP = range(4)
LARGEST_LABEL = 2**31 - 1
_MAX_NAME_BYTES = 4096

END = _HEADER.pack(_END, 0, 0, 0, 0, 0, 0)
GIVEN_UP = _HEADER.pack(_GIVEN_UP, 0, 0, 0, 0, 0, 0)


class Image(NamedTuple):
    data: bytes
    shape: tuple[int, int, int] | None  # of pixels: height, width, channels
    name: str


class Frame(NamedTuple):
    head: bytes
    image: bytes
    pixels: bool


def _of_pillow(image: Any) -> Image:
    if image.mode not in ("L", "RGB"):
        raise ValueError(
            f"image: expected a Pillow image of mode L or RGB, found {image.mode}: give "
            "image.convert('RGB'), or the bytes of its file"
        )
    width, height = image.size
    try:
        pixels = image.tobytes()  # decodes what Image.open() has left for later
    except OSError as error:
        raise ValueError(f"image: Pillow cannot decode it: {error}") from error
    return Image(pixels, (height, width, len(image.mode)), "")


def _of_tensor(tensor: Any) -> Image:
    if tensor.ndim == 3:
        tensor = tensor.permute(1, 2, 0)  # torchvision's are C x H x W
    return _of_array(tensor.detach().cpu().contiguous().numpy(), "C x H x W")


def _of_array(array: Any, order: str = "H x W x C") -> Image:
    view = memoryview(array)
    if view.format != "B":
        kind = getattr(array, "dtype", view.format)
        raise TypeError(f"image: expected values of type uint8, from 0 to 255, found {kind}")
    if view.ndim == 1:
        return Image(view.tobytes(), None, "")
    shape = view.shape or ()
    if len(shape) not in (2, 3) or 0 in shape or (len(shape) == 3 and shape[2] not in (1, 3)):
        found = shape if order != "C x H x W" or len(shape) != 3 else (shape[2], *shape[:2])
        raise ValueError(f"image: expected {order} with 1 or 3 channels, or H x W, found {found}")
    return Image(view.tobytes(), (shape[0], shape[1], shape[2] if len(shape) == 3 else 1), "")


def _of_file(path: Any) -> Image:
    with open(path, "rb") as file:
        return Image(file.read(), None, os.path.basename(os.fsdecode(path)))


def _of_mapping(image: Mapping[Any, Any]) -> Image:
    """What `datasets` gives for Image(decode=False)."""
    path = image.get("path")
    data = image.get("bytes")
    if data is not None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"image: expected bytes as 'bytes', found {type(data).__name__}")
        return Image(bytes(data), None, os.path.basename(path) if path else "")
    if path:
        return _of_file(path)
    raise ValueError(f"image: expected 'bytes' or 'path', found {reprlib.repr(image)}")


def _image_of(image: Any) -> Image:
    library = type(image).__module__.partition(".")[0]
    if isinstance(image, Mapping):
        return _of_mapping(image)
    if library == "torch" or hasattr(image, "permute"):
        return _of_tensor(image)
    if hasattr(image, "mode") and hasattr(image, "tobytes"):
        return _of_pillow(image)
    if isinstance(image, os.PathLike):
        return _of_file(image)
    try:
        return _of_array(image)
    except TypeError as error:
        if str(error).startswith("image:"):
            raise
    raise TypeError(
        "image: expected the bytes of an encoded image, its path (pathlib.Path), a Pillow image, or an "
        f"array or tensor of uint8, found {type(image).__name__}"
    )


def whole_number(value: Any) -> int:
    """Of Python's, NumPy's or PyTorch's; a truth value is none."""
    if isinstance(value, bool) or str(getattr(value, "dtype", "")).endswith("bool"):
        raise TypeError(f"expected a whole number, found {reprlib.repr(value)}")
    return operator.index(value)


def _label_of(label: Any, classes: int) -> int:
    try:
        number = whole_number(label)
    except TypeError:
        raise TypeError(f"label: expected a whole number, found {reprlib.repr(label)}") from None
    largest = classes - 1 if classes else LARGEST_LABEL
    if not 0 <= number <= largest:
        raise ValueError(f"label: expected 0 to {largest}, found {number}")
    return number


def _parts(item: Any, columns: tuple[str, str]) -> Sequence[Any]:
    if isinstance(item, Mapping):
        if all(column in item for column in columns):
            return [item[column] for column in columns]
        raise ValueError(
            f"expected columns {columns[0]!r} and {columns[1]!r}, found "
            f"{', '.join(map(repr, item))}: name those of image and label, as in "
            "columns=('img', 'fine_label')"
        )
    if isinstance(item, (tuple, list)) and len(item) in (2, 3):
        return item
    raise TypeError(f"expected (image, label) or (image, label, name), found {reprlib.repr(item)}")


def _framed(image: Any, label: Any, name: Any, classes: int) -> Frame:
    taken = _image_of(image)
    if not taken.data:
        raise ValueError("image: expected an encoded image, found no bytes")
    if not isinstance(name, str):
        raise TypeError(f"name: expected text, found {reprlib.repr(name)}")
    try:
        text = os.fsencode(name or taken.name)
    except UnicodeEncodeError as error:
        raise ValueError(f"name: found {reprlib.repr(name)}, which no file can have: {error.reason}") from None
    if len(text) > _MAX_NAME_BYTES or b"\0" in text:
        raise ValueError(f"name: expected at most {_MAX_NAME_BYTES} bytes, none of them 0")
    kind = _ENCODED if taken.shape is None else _PIXELS
    shape = taken.shape or (0, 0, 0)
    head = _HEADER.pack(kind, _label_of(label, classes), *shape, len(text), len(taken.data))
    return Frame(head + text, taken.data, kind == _PIXELS)


@contextlib.contextmanager
def of_item(index: int) -> Iterator[None]:
    """Notes in what is raised, which may be of any type, which item it was."""
    try:
        yield
    except Exception as error:
        _note(error, index)
        raise


def _note(error: Exception, index: int) -> None:
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(f"while feedrate read item {index}")


def frame(index: int, item: Any, columns: tuple[str, str], classes: int) -> Frame:
    """The frame of item `index`. Raises TypeError or ValueError naming it, what was expected and found."""
    try:
        image, label, *name = _parts(item, columns)
        return _framed(image, label, name[0] if name else "", classes)
    except (TypeError, ValueError) as error:
        if type(error) in (TypeError, ValueError):
            raise type(error)(f"item {index}: {error}")
        _note(error, index)  # one of another type has other arguments than a text
        raise
    except Exception as error:
        _note(error, index)
        raise


def expect_kind(index: int, one: Frame, pixels: bool) -> None:
    """Images are either kept as they are encoded, or all encoded anew."""
    if one.pixels != pixels:
        kinds = ("the bytes of an encoded image", "pixels")
        raise ValueError(
            f"item {index}: image: expected {kinds[pixels]}, as the first item has, found {kinds[one.pixels]}"
        )
