"""Datasets of Hugging Face's `datasets`: tables whose rows hold the files of images, or name them."""

from __future__ import annotations

from typing import Any, Callable, Iterable, NamedTuple

import torch
from torch.utils import data

from feedrate._like_files import Files, names_of, placed
from feedrate._like_found import Found, Rows
from feedrate._like_function import CALLED_WITH, Seen, are_alike, are_equal, expect_forgets, mark, seen_in, small, watched
from feedrate._like_steps import Unlike
from feedrate._random_states import kept_random_states
from feedrate._samples import whole_number
from feedrate._torch_names import Source



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
    if kind not in ("custom", "torch"):
        raise Unlike(f"the Dataset has {'no transform' if kind is None else f'the format {kind}'} that makes tensors of images")
    files = Files(table, column, is_turned=True)
    read = (_of_function if kind == "custom" else _of_tensors)(table, column, mode, files.rows)
    files.expect_mode(read.mode)
    rows = _rows_of(read, collate)
    label = next((name for name in rows.columns if name != rows.image), None)
    labels = [0] * len(table) if label is None else read.labels[label]

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


def _of_tensors(table: Any, column: str, mode: str | None, some: list[int]) -> _Table:
    if table.format["format_kwargs"]:
        raise Unlike(f"the Dataset's format makes tensors in its own way: {table.format['format_kwargs']}")
    try:
        from torchvision.transforms import PILToTensor
    except ImportError:
        raise Unlike("pixels of the Dataset are compared by torchvision, which is missing") from None
    columns = dict(_rows_at(table, some))
    stored = _stored_labels(table, [name for name in columns if name != column])
    return _Table(PILToTensor(), mode, column, stored, columns, tensors=True)


def _stored_labels(table: Any, names: list[str]) -> dict[str, list[int]]:
    plain = table.with_format(None)
    stored = {name: _whole(plain[name]) for name in names if name in plain.features}
    return {name: values for name, values in stored.items() if values is not None}


def _of_function(table: Any, column: str, mode: str | None, some: list[int]) -> _Table:
    function = table.format["format_kwargs"]["transform"]
    plain = table.with_format(None)
    if len(table) == 0:
        raise Unlike("the Dataset is empty")
    with kept_random_states():
        expect_forgets(lambda: _rows_at(table, [0]))
        first, labels = _called_with_all_rows(function, table, column)
        _, again = _called_with_all_rows(function, table, column)  # with other random numbers
        converts = _is_converted(function, table, column)
        with watched() as calls:
            seen = seen_in(_rows_at(table, some), calls, len(some))
    if not are_alike(first.by, seen.by):
        raise Unlike("its transform calls several Composes")
    for index, picture in zip(some, seen.pictures):
        expected = _rows_at(plain, index)[column]
        if not are_equal(picture, expected.convert("RGB") if converts else expected):
            raise Unlike("the Dataset's transform changes images before its Compose")
    for name, values in labels.items():
        if values != again.get(name) or [values[index] for index in some] != seen.columns.get(name):
            raise Unlike(f"the Dataset's transform makes other values of the column {name} each time")
    # Columns that the function is not given come from the table.
    labels |= _stored_labels(table, [name for name in seen.columns if name not in first.columns])
    return _Table(first.by, "RGB" if converts else mode, seen.image, labels, seen.columns, tensors=False)


def _called_with_all_rows(function: Callable[..., Any], table: Any, column: str) -> tuple[Seen, dict[str, list[int]]]:
    """What it does with the first rows, as with all, and the labels that it makes. Nothing is decoded."""
    first, labels = None, {}
    for begin in range(0, len(table), CALLED_WITH):
        numbers = range(begin, min(len(table), begin + CALLED_WITH))
        given, as_made = ([small("RGB", number) for number in range(len(numbers))] for _ in range(2))
        seen = _call(function, table, column, numbers, given)
        if not all(map(are_equal, seen.pictures, as_made)):  # the function may have changed those given in place
            raise Unlike("the Dataset's transform changes images before its Compose")
        made = {name: _whole(values) for name, values in seen.columns.items() if name != seen.image}
        whole = {name: values for name, values in made.items() if values is not None}
        if first is None:
            first, labels = seen, whole
        elif (labels.keys(), first.image) != (whole.keys(), seen.image) or not are_alike(first.by, seen.by):
            raise Unlike("the Dataset's transform does not do the same with every image")
        else:
            for name, values in whole.items():
                labels[name] += values
    assert first is not None
    return first, labels


def _is_converted(function: Callable[..., Any], table: Any, column: str) -> bool:
    """Whether grey pictures become RGB."""
    try:
        seen = _call(function, table, column, range(1), [small("L", 1)])
    except Unlike:
        return False
    return bool(seen.pictures[0].mode == "RGB")


def _call(function: Callable[..., Any], table: Any, column: str, numbers: range, pictures: list[Any]) -> Seen:
    names = table.format["columns"]
    others = table.with_format(None).select_columns([name for name in names if name != column])
    values = others[numbers.start : numbers.stop] if others.column_names else {}
    given = {name: list(pictures) if name == column else values[name] for name in names}
    with watched() as calls:
        try:
            returned = function(given)
        except Exception as error:
            raise Unlike(f"the Dataset's transform does not take small pictures: {error!r}") from None
    return seen_in(returned, calls, len(numbers))


# What becomes of rows, in a batch.


def _rows_of(read: _Table, collate: Any) -> Rows:
    others = [name for name in read.columns if name != read.image]
    labels = [name for name in others if name in read.labels]
    is_default = collate is data.default_collate
    if is_default and labels != others:
        raise Unlike(f"the Dataset yields the columns {', '.join(read.columns)}, not an image and a whole number")
    choices = [(read.image,), *((read.image, label) for label in labels)]
    for names in choices:
        rows = Rows(tuple(name for name in read.columns if name in names), read.image, read.tensors)
        if _is_enough(rows, read, collate):
            return rows
    if is_default and len(labels) == 1:
        kind = type(read.columns[labels[0]][0]).__name__
        raise Unlike(f"the Dataset's column {labels[0]} is of {kind}, and does not become int64")
    raise Unlike(f"its collate_fn takes more of the columns {', '.join(read.columns)} than an image and a label")


def _is_enough(rows: Rows, read: _Table, collate: Any) -> bool:
    """Whether the collate function makes the same of rows that have nothing but images and labels."""
    count = len(read.columns[read.image])

    def images() -> list[torch.Tensor]:  # new ones, since it may change them
        return [mark(number).to(torch.uint8) if read.tensors else mark(number) for number in range(count)]

    whole = [{name: values[number] for name, values in read.columns.items()} for number in range(count)]
    for row, image in zip(whole, images()):
        row[read.image] = image
    labels = [int(read.columns[name][number]) for name in rows.columns if name != rows.image for number in range(count)]
    with kept_random_states():
        try:
            wanted = collate(whole)
        except Exception as error:
            raise Unlike(f"its collate_fn does not take rows of small images: {error!r}") from None
    if collate is data.default_collate:
        return _are_same(wanted, rows.batch(torch.stack(images()), torch.tensor(labels)))
    with kept_random_states():
        try:
            found = collate([rows.sample(*one) for one in zip(images(), labels or [0] * count)])
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
    if hasattr(one, "__dict__"):
        return _are_same(vars(one), vars(other))
    return bool(one == other)
