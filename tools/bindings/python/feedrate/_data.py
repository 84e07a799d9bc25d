from __future__ import annotations

import collections.abc
import errno
import operator
import os
import reprlib
import struct
import sys
from typing import TYPE_CHECKING, Any, Generic, Iterator, Mapping, NamedTuple, SupportsIndex, TypedDict, cast, overload

from feedrate import _native
from feedrate._errors import DataError
from feedrate._settings import REMOTE_SETTINGS, takes_settings

if TYPE_CHECKING:
    from typing_extensions import CapsuleType, TypeVar, Unpack

    from feedrate._keywords import RemoteKeywords

    Part = TypeVar("Part", default=Any)
    Number = TypeVar("Number", int, float)
    Label = TypeVar("Label", default=int)
else:
    from typing import TypeVar

    Part = TypeVar("Part")
    Label = TypeVar("Label")

_CODES = {"uint8": "B", "float32": "f", "float16": "e", "int64": "q"}  # of the module struct


class Array(Generic[Part]):
    """Memory with a shape, which other libraries use without a copy.

    `torch.from_dlpack(array)`, `jax.dlpack.from_dlpack(array)`, `numpy.asarray(array)`,
    `tf.experimental.dlpack.from_dlpack(array.__dlpack__())`. The memory lives as long as anything
    made from it, and nobody else writes into it meanwhile. `jax.jit`, `jax.device_put` and NumPy's and
    JAX's functions take it as an array of NumPy's. A pickle of it holds its values. To type checkers,
    Array[int] has one dimension, and Array[Array[int]] two.
    """

    __slots__ = ("_native", "_type", "shape")

    def __init__(self, native: Any, shape: tuple[int, ...], dtype: str) -> None:
        self._native = native
        self._type = dtype
        self.shape = shape
        """Its dimensions, outermost first. The memory is dense."""
        if not _in_jax:
            _tell_jax()

    @property
    def dtype(self) -> Any:
        """NumPy's type of a value: uint8, float32, float16 or int64. Without NumPy, its name."""
        try:
            import numpy
        except ImportError:
            return self._type
        return numpy.dtype(self._type)

    def __jax_array__(self) -> Any:
        import jax.numpy

        return jax.numpy.asarray(self.__array__())

    def __dlpack__(self, **options: object) -> CapsuleType:
        return cast("CapsuleType", self._native.__dlpack__(**options))

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._native.__dlpack_device__()
        return device

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        array = numpy.asarray(self._native)
        if copy or (dtype is not None and dtype != array.dtype):
            if copy is False:
                raise ValueError(f"{self._type} values cannot become {dtype} without a copy")
            return array.astype(dtype or array.dtype)
        return array

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._native)  # asked for by memoryview() from Python 3.12 on

    def tobytes(self) -> bytes:
        """A copy of the values, in the machine's byte order."""
        return memoryview(self._native).tobytes()

    @overload
    def tolist(self: Array[Number]) -> list[Number]: ...
    @overload
    def tolist(self: Array[Array[Number]]) -> list[list[Number]]: ...
    @overload
    def tolist(self: Array[Array[Array[Number]]]) -> list[list[list[Number]]]: ...
    @overload
    def tolist(self: Array[Array[Array[Array[Number]]]]) -> list[list[list[list[Number]]]]: ...
    def tolist(self: Array[Any]) -> list[Any]:
        """The values, in lists of lists."""
        if len(self.shape) > 1:
            return [part.tolist() for part in self]
        return list(struct.unpack(f"={len(self)}{_CODES[self._type]}", self.tobytes()))

    def __len__(self) -> int:
        return self.shape[0]

    @overload
    def __getitem__(self, place: slice) -> Array[Part]: ...
    @overload
    def __getitem__(self, place: SupportsIndex) -> Part: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Array[Part] | Part:
        """The part at a place of the first dimension, or at some of them in a row: an `Array` of the same
        memory; of one dimension, the number there. `numpy.asarray(array)` takes any other index."""
        if isinstance(place, slice):
            first, last, step = place.indices(len(self))
            if step != 1:
                raise ValueError(f"expected a slice of step 1, found {place!r}; numpy.asarray(array) takes any")
            count = max(last - first, 0)
            return Array(_native.part(self._native, first, count), (count, *self.shape[1:]), self._type)
        try:
            number = operator.index(place)
        except TypeError:
            raise TypeError(
                f"expected a whole number or a slice, found {reprlib.repr(place)}; numpy.asarray(array) takes any"
            ) from None
        first = number + len(self) if number < 0 else number
        if not 0 <= first < len(self):
            raise IndexError(f"place {number} is outside the array's {len(self)}")
        if len(self.shape) == 1:
            number_there: Part = cast(Any, self[first : first + 1]).tolist()[0]
            return number_there
        return cast(Part, Array(_native.part(self._native, first, None), self.shape[1:], self._type))

    def __iter__(self) -> Iterator[Part]:
        return (self[place] for place in range(len(self)))

    def __reduce__(self) -> Any:
        return _array_again, (self.tobytes(), self.shape, self._type)

    def __repr__(self) -> str:
        return f"feedrate.Array({' x '.join(map(str, self.shape))} {self._type})"


_in_jax: list[bool] = []  # not empty: JAX knows the class


def _tell_jax() -> None:
    """Once JAX is there: that an array is one leaf, which functions that trace their arguments would otherwise refuse."""
    register = getattr(sys.modules.get("jax.tree_util"), "register_pytree_node", None)
    if register is not None and not _in_jax:
        _in_jax.append(True)
        register(Array, lambda array: ((array.__array__(),), None), lambda _, leaves: leaves[0])


def _array_again(values: bytes, shape: tuple[int, ...], dtype: str) -> Array:
    """An array from a pickle, or a deep copy."""
    return Array(_native.copied(values, shape, dtype), shape, dtype)


def shape_of(native: Any) -> tuple[int, ...]:
    """Of an array of the module's."""
    return memoryview(native).shape or ()


class Batch(Generic[Label]):
    """Images that belong together in a step of training, with what is known of them.

    A batch and what is made from it can be kept as long as wanted: the loader goes on with other
    memory.
    """

    __slots__ = ("epoch", "images", "indices", "labels", "lam", "last_of_epoch", "number")

    images: Array[Array[Array[Array[float]]]]
    """0 ... 255, RGB or grey; with pixels="f32" or "f16", (pixel - mean) / deviation. Of the shape
    count x height x width x channels with layout="nhwc", as u8 usually is; count x channels x height x
    width with "nchw", as f32 and f16 usually are."""
    labels: Array[Label]
    """int64: the class of each image, from 0; or what `Loader(labels=...)` says, int64 or float32."""
    indices: Array[int]
    """int64: where each image is in the dataset."""
    number: int
    """From 0, through all epochs."""
    epoch: int
    """From 0."""
    last_of_epoch: bool
    lam: float
    """The share of each image, and of its label, that is its own: 1 unless the recipe has mixup or
    cutmix. The rest is that of its partner."""

    def __init__(
        self,
        images: Array[Array[Array[Array[float]]]],
        labels: Array[Label],
        indices: Array[int],
        number: int,
        epoch: int,
        last_of_epoch: bool,
        lam: float = 1.0,
    ) -> None:
        self.images = images
        self.labels = labels
        self.indices = indices
        self.number = number
        self.epoch = epoch
        self.last_of_epoch = last_of_epoch
        self.lam = lam

    @property
    def partner(self) -> list[int]:
        """With which place of the batch each image is mixed: the one before; the first with the last.
        Each with itself where nothing is mixed."""
        before = -1 if self.lam != 1.0 else 0
        return [(seat + before) % len(self) for seat in range(len(self))]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"feedrate.Batch({self.number} of epoch {self.epoch}: {self.images!r})"


class DatasetInfo(TypedDict):
    path: str
    format: str
    codec: str
    images: int
    shape: tuple[int, int, int]
    """Height, width and channels of the first image."""
    classes: int
    """0: not stated."""
    class_names: list[str]
    class_texts: list[str]
    """For people, where names are ids."""


class Sample(NamedTuple):
    """One image of a dataset."""

    image: Array[Array[Array[int]]]
    """height x width x channels, uint8, RGB or grey, as stored: no recipe changes it."""
    label: int
    """Its class, from 0."""
    name: str
    """File name or key in the source; empty where the format keeps none."""
    boxes: list[tuple[float, float, float, float]]
    """(xmin, ymin, xmax, ymax) of every object, 0 ... 1 of the image's sides; empty where not known."""


class Dataset:
    """A dataset on disk, opened by `feedrate.open`. Any thread may read it."""

    def __init__(
        self,
        native: _native.Dataset,
        mixed: list[tuple[Dataset, float]] | None = None,
        settings: RemoteKeywords | None = None,
        path: str | bytes | None = None,
    ) -> None:
        if not isinstance(native, _native.Dataset):
            raise TypeError(f"a Dataset is made by feedrate.open(path); found {reprlib.repr(native)}")
        self._native = native
        self._mixed = mixed
        self._settings = settings or {}
        self._path = path  # as it was given: with what it wishes for, and a signature
        self._info = cast(DatasetInfo, native.info())
        self._targets: list[int] | None = None

    @property
    def info(self) -> DatasetInfo:
        """path, format, codec, images, shape (height, width, channels of the first image), classes
        (0: not stated), class_names, class_texts (for people, where names are ids)."""
        return self._info.copy()

    @property
    def classes(self) -> list[str]:
        """The names of the classes, by label; empty where not known."""
        return list(self._info["class_names"])

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The label of each of `classes`."""
        return {name: label for label, name in enumerate(self.classes)}

    @property
    def targets(self) -> list[int]:
        """The label of every sample. The first call reads the dataset's labels, and no image where the
        format keeps them apart."""
        if self._targets is None:
            self._targets = _native.classes_of(self._native)
        return list(self._targets)

    @property
    def label_lists(self) -> list[list[float]]:
        """All labels of every sample, where records have lists of them; otherwise empty lists."""
        return _native.label_lists(self._native)

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, index: int) -> Sample:
        """The sample at `index`, decoded. Negative indices count from the end.

        Raises IndexError, and DataError where the sample is damaged."""
        position = operator.index(index)
        if position < 0:
            position += len(self)
        if not 0 <= position < len(self):
            raise IndexError(f"index {index} is outside the dataset's {len(self)} samples")
        image, label, name, boxes = self._native.sample(position)
        shape = shape_of(image)
        return Sample(Array(image, shape, "uint8"), label, name, boxes)

    def __iter__(self) -> Iterator[Sample]:
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        info = self._info
        return f"feedrate.Dataset({info['path']!r}: {info['images']} images, {info['format']})"

    def __reduce__(self) -> Any:
        if self._mixed is not None:
            return _mix_again, (self._mixed,)
        return _open_again, (self._path, self._settings)


@takes_settings(table=REMOTE_SETTINGS, returns=Dataset)
def open(path: str | bytes | os.PathLike[str], **settings: Unpack[RemoteKeywords]) -> Dataset:
    """Opens a dataset in any format that Feedrate reads: a directory, a file of another tool, several by a
    pattern ("train-{000000..000146}.tar"), or a URL (http, https, s3) of these in recordio, tfrecord,
    webdataset, parquet or mds. "train.parquet?label=fine_label" names a column,
    a key of TFRecords or a member of tars.

    Raises FileNotFoundError where there is nothing, and DataError where there is no dataset or one
    that is damaged. The settings are those of URLs:
    """
    name = as_dataset_path(path)
    try:
        return Dataset(_native.open(os.fsencode(name), **settings), settings=settings, path=name)
    except DataError as error:
        file = error.file or os.fsdecode(name)
        raise DataError(str(error), file, error.sample, error.byte) from None


def _open_again(path: str | bytes, settings: RemoteKeywords) -> Dataset:
    return open(path, **settings)


def opened(dataset: Dataset | str | bytes | os.PathLike[str], name: str = "dataset") -> Dataset:
    """The argument `name`, a dataset or the path of one."""
    if isinstance(dataset, Dataset):
        return dataset
    return open(as_path(dataset, f"{name}: expected a dataset of feedrate.open or its path"))


def as_path(path: Any, expected: str = "path: expected a path") -> Any:
    try:
        return os.fspath(path)
    except TypeError:
        raise TypeError(f"{expected}, found {reprlib.repr(path)}") from None


def as_dataset_path(path: Any) -> Any:
    """The path of something that is there, or a URL."""
    name = as_path(path)
    if not _native.is_there(os.fsencode(name)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return name


def mix(datasets: Mapping[Dataset | str | os.PathLike[str], float]) -> Dataset:
    """Several datasets as one, which a `Loader` draws from in proportion to their weights.

        feedrate.mix({"data/photographs": 0.7, "data/drawings": 0.3})

    By index, their samples follow one another. In an epoch, which holds as many samples as all of
    them together or `Loader(draws=...)`, each has its weight's share to the nearest sample; its
    samples come once each before one comes again, also from epoch to epoch. With shuffle=False they
    follow one another.

    Raises what `open` raises, and ValueError for weights that are not above 0 and for datasets whose
    classes differ."""
    if not isinstance(datasets, collections.abc.Mapping):
        raise TypeError(f"datasets: expected a dict of datasets and weights, found {reprlib.repr(datasets)}")
    members = [opened(dataset, "datasets") for dataset in datasets]
    if any(member._native.is_mix for member in members):
        raise ValueError("mix: a mix cannot be a part of one; name its datasets instead")
    weights: list[Any] = list(datasets.values())
    native = _native.mix([member._native for member in members], weights)
    return Dataset(native, [(one, float(weight)) for one, weight in zip(members, weights)])


def _mix_again(mixed: list[tuple[Dataset, float]]) -> Dataset:
    """A mix from a pickle. Of datasets, since a path may come twice."""
    return mix({dataset: weight for dataset, weight in mixed})
