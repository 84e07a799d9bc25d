"""Datasets of Hugging Face's `datasets`: tables whose rows hold the files of images, or name them."""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple

import torch
from torch.utils import data

from feedrate._like_files import Files, names_of, placed, some_of
from feedrate._like_found import Found, Rows
from feedrate._like_function import Calls, Seen, composes_of, seen_in, watched
from feedrate._like_transforms import Unlike
from feedrate._random_states import kept_random_states
from feedrate._samples import whole_number
from feedrate._torch_names import Source

_CALLED_WITH = 1000  # rows at once, with pictures of one pixel


class _Table(NamedTuple):
    """What theirs does with its rows."""

    transform: Any
    mode: str | None  # that it converts every image to
    image: str  # the column of tensors that it yields
    labels: dict[str, list[int]]  # columns of whole numbers that it yields, of all rows
    columns: dict[str, list[Any]]  # that it yields of the rows that are looked at
    tensors: bool


def found_in_table(table: Any, collate: Any, directory: str | None) -> Found:
    """Of a datasets.Dataset whose format is "torch", or a transform that calls one Compose."""
    column, mode = _image_column(table)
    kind = table.format["type"]
    if kind == "custom":
        read = _of_function(table, column, mode)
    elif kind == "torch":
        read = _of_tensors(table, column, mode)
    else:
        raise Unlike(f"the Dataset has {'no transform' if kind is None else f'the format {kind}'} that makes tensors of images")
    rows = _rows_of(read, collate)
    label = next(name for name in rows.columns if name != rows.image)
    labels = read.labels[label]
    files = Files(table, column, is_turned=True)
    files.expect_readable(read.mode)

    def load(index: int) -> Any:
        image = _rows_at(table.with_format(None), index)[column]
        return image if read.mode is None else image.convert(read.mode)

    channels = {None: None, "RGB": 3, "L": 1}[read.mode]
    found = Found(Source(None, table, None), read.transform, channels, load, rows)
    return placed(found, files, labels, names_of(table, label), directory)


def found_in_reader(theirs: Any, reader: Any, directory: str | None) -> Found:
    """Of timm's ImageDataset with its reader of such a table."""
    if reader.remap_class or getattr(reader, "target_keys", None) or getattr(reader, "dense_target", False):
        raise Unlike("the ImageDataset maps the labels of the Dataset")
    labels = _whole(reader.dataset.with_format(None)[reader.label_key])
    if labels is None:
        raise Unlike(f"the Dataset's column {reader.label_key} holds no whole numbers")
    files = Files(reader.dataset, reader.image_key, is_turned=False)
    files.expect_readable("RGB")

    def load(index: int) -> Any:
        return files.opened(index).convert("RGB")

    found = Found(Source(None, theirs, None), theirs.transform, 3, load)
    return placed(found, files, labels, names_of(reader.dataset, reader.label_key), directory)


def _image_column(table: Any) -> tuple[str, str | None]:
    features = table.features
    images = [name for name in table.format["columns"] if type(features[name]).__name__ == "Image"]
    if len(images) != 1:
        raise Unlike(f"the Dataset has {len(images)} columns of images{''.join(f', {name}' for name in images)}")
    feature = features[images[0]]
    if not feature.decode:
        raise Unlike(f"the Dataset does not decode its column {images[0]}")
    if feature.mode not in (None, "RGB", "L"):
        raise Unlike(f"the Dataset makes images of mode {feature.mode}, not RGB or L")
    return images[0], feature.mode


def _rows_at(table: Any, place: Any) -> Any:
    """Raises Unlike where theirs raises."""
    try:
        return table[place]
    except Exception as error:
        raise Unlike(f"the Dataset's rows cannot be read: {error!r}") from None


def _whole(values: Iterable[Any]) -> list[int] | None:
    try:
        return [whole_number(value) for value in values]
    except TypeError:
        return None


# What becomes of a row.


def _of_tensors(table: Any, column: str, mode: str | None) -> _Table:
    if table.format["format_kwargs"]:
        raise Unlike(f"the Dataset's format makes tensors in its own way: {table.format['format_kwargs']}")
    try:
        from torchvision.transforms import PILToTensor
    except ImportError:
        raise Unlike("pixels of the Dataset are compared by torchvision, which is missing") from None
    columns = dict(_rows_at(table, some_of(len(table))))
    return _Table(PILToTensor(), mode, column, _stored_labels(table, columns, column), columns, tensors=True)


def _stored_labels(table: Any, columns: dict[str, Any], column: str) -> dict[str, list[int]]:
    plain = table.with_format(None)
    stored = {name: _whole(plain[name]) for name in columns if name != column and name in plain.features}
    return {name: values for name, values in stored.items() if values is not None}


def _of_function(table: Any, column: str, mode: str | None) -> _Table:
    function = table.format["format_kwargs"]["transform"]
    composes = composes_of(function)
    if not composes:
        raise Unlike("the Dataset's transform calls no Compose that it names")
    plain, some = table.with_format(None), some_of(len(table))
    with kept_random_states():
        by, labels = _called_with_all_rows(function, composes, table, column)
        converts = _is_converted(function, composes, table, column)
        with watched(composes) as calls:
            seen = seen_in(_rows_at(table, some), calls, len(some))
    for index, picture in zip(some, seen.pictures):
        expected = _rows_at(plain, index)[column]
        expected = expected.convert("RGB") if converts else expected
        if (picture.mode, picture.size) != (expected.mode, expected.size) or picture.tobytes() != expected.tobytes():
            raise Unlike("the Dataset's transform changes images before its Compose")
    more = _stored_labels(table, {name: values for name, values in seen.columns.items() if name not in labels}, column)
    for name, values in labels.items():
        if [values[index] for index in some] != seen.columns.get(name):
            raise Unlike(f"the Dataset's transform makes other values of the column {name} each time")
    more |= labels
    mode = "RGB" if converts else mode
    return _Table(by, mode, seen.image, more, seen.columns, tensors=False)


def _called_with_all_rows(
    function: Callable[..., Any], composes: list[Any], table: Any, column: str
) -> tuple[Any, dict[str, list[int]]]:
    """Which Compose it calls, and the labels that it makes. Nothing is decoded: pictures are of one pixel, each another."""
    size, labels, by, image = len(table), None, None, None
    for begin in range(0, size, _CALLED_WITH):
        numbers = range(begin, min(size, begin + _CALLED_WITH))
        colours = [(0, number // 256, number % 256) for number in range(len(numbers))]
        calls, seen = _call(function, composes, table, column, numbers, [_pixel("RGB", colour) for colour in colours])
        if any(one.mode != "RGB" or one.getpixel((0, 0)) != colour for one, colour in zip(seen.pictures, colours)):
            raise Unlike("the Dataset's transform changes images before its Compose")
        made = {name: _whole(values) for name, values in seen.columns.items() if name != seen.image}
        whole = {name: values for name, values in made.items() if values is not None}
        if labels is None:
            labels, by, image = whole, calls.by[0], seen.image
        elif (labels.keys(), by, image) != (whole.keys(), calls.by[0], seen.image):
            raise Unlike("the Dataset's transform does not do the same with every image")
        else:
            for name, values in whole.items():
                labels[name] += values
    return by, labels or {}


def _is_converted(function: Callable[..., Any], composes: list[Any], table: Any, column: str) -> bool:
    """Whether grey pictures become RGB."""
    try:
        _, seen = _call(function, composes, table, column, range(1), [_pixel("L", 7)])
    except Unlike:
        return False
    return bool(seen.pictures[0].mode == "RGB")


def _call(
    function: Callable[..., Any], composes: list[Any], table: Any, column: str, numbers: range, pictures: list[Any]
) -> tuple[Calls, Seen]:
    names = table.format["columns"]
    others = table.with_format(None).select_columns([name for name in names if name != column])
    values = others[numbers.start : numbers.stop] if others.column_names else {}
    given = {name: pictures if name == column else values[name] for name in names}
    with watched(composes) as calls:
        try:
            returned = function(given)
        except Exception as error:
            raise Unlike(f"the Dataset's transform does not take pictures of one pixel: {error!r}") from None
    return calls, seen_in(returned, calls, len(numbers))


def _pixel(mode: str, colour: Any) -> Any:
    from PIL import Image

    return Image.new(mode, (1, 1), colour)


# What becomes of rows, in a batch.


def _rows_of(read: _Table, collate: Any) -> Rows:
    others = [name for name in read.columns if name != read.image]
    labels = [name for name in others if name in read.labels]
    if collate is data.default_collate and (len(others) != 1 or not labels):
        raise Unlike(f"the Dataset yields the columns {', '.join(read.columns)}, not an image and a label")
    for label in labels:
        pair = [name for name in read.columns if name in (read.image, label)]
        rows = Rows((pair[0], pair[1]), read.image, read.tensors)
        if collate is data.default_collate or _is_enough(rows, label, read, collate):
            return rows
    raise Unlike(f"its collate_fn takes more of the columns {', '.join(read.columns)} than an image and a label")


def _is_enough(rows: Rows, label: str, read: _Table, collate: Any) -> bool:
    """Whether the collate function makes the same of rows that have nothing but images and labels."""
    count = min(2, len(read.columns[label]))
    marks = [Calls.mark(number) for number in range(count)]
    images = [mark.to(torch.uint8) for mark in marks] if read.tensors else marks
    whole = [{name: values[number] for name, values in read.columns.items()} for number in range(count)]
    for row, image in zip(whole, images):
        row[read.image] = image
    with kept_random_states():
        try:
            wanted = collate(whole)
        except Exception as error:
            raise Unlike(f"its collate_fn does not take two rows of small images: {error!r}") from None
    with kept_random_states():
        try:
            found = collate([rows.sample(image, int(read.columns[label][number])) for number, image in enumerate(images)])
        except Exception:
            return False
    return _are_same(wanted, found)


def _are_same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and one.shape == other.shape and bool(torch.equal(one, other))
    if hasattr(one, "keys"):
        return list(one.keys()) == list(other.keys()) and all(_are_same(one[name], other[name]) for name in one.keys())
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_are_same, one, other))
    if hasattr(one, "tobytes"):
        return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one == other)
