"""What `torch.utils.data.DataLoader` calls otherwise, and its datasets, in settings of ours."""

from __future__ import annotations

import operator
import os
import reprlib
import sys
from typing import Any, Callable, NamedTuple

import torch
from torch.utils import data

from feedrate import _native
from feedrate._data import Dataset, mix, opened
from feedrate._files import files
from feedrate._torch_dataset import Dataset as TorchDataset

Options = dict[str, Any]

# Ours of another name.
_SAME = {"num_workers": "threads", "std": "deviation"}


class _Foreign(NamedTuple):
    harmless: Callable[[Any], bool]
    instead: str


# What has no meaning here but for the values that change nothing, and what there is instead.
_FOREIGN = {
    "collate_fn": _Foreign(
        lambda value: value is data.default_collate,
        "threads fill whole batches; transform= is called with the images and labels of each",
    ),
    "worker_init_fn": _Foreign(
        lambda value: False, "threads run no Python that could be initialised; seed= decides every random draw"
    ),
    "prefetch_factor": _Foreign(
        lambda value: False, "threads=N prepares N + 2 batches ahead, or more of tiny ones"
    ),
    "timeout": _Foreign(lambda value: value == 0, "batches are awaited; close() of another thread ends that"),
    "multiprocessing_context": _Foreign(lambda value: False, "threads= are threads of this process"),
    "pin_memory_device": _Foreign(lambda value: value == "", "device= is where batches go"),
    "in_order": _Foreign(lambda value: value is True, "batches come in their order, at any threads="),
}


def expect_named(recipe: object, others: tuple[object, ...]) -> None:
    """Refuses arguments by their place in PyTorch's DataLoader, of which the second is a batch's size."""
    if others or hasattr(recipe, "__index__"):
        raise TypeError(
            "the second argument is the recipe here, and the last one without a name: "
            "write batch_size=, shuffle=, sampler= and the others with theirs"
        )


def take_names(names: Options, settings: Options) -> None:
    """Adds to the settings what arguments of PyTorch's names mean. Raises TypeError for one that has no
    meaning here, and says what there is instead."""
    for name in _FOREIGN.keys() & settings.keys():
        value = settings.pop(name)
        if value is not None and not _FOREIGN[name].harmless(value):
            raise TypeError(f"{name}: {_FOREIGN[name].instead}")
    for name, ours in _SAME.items():
        value = names[name]
        if value is None:
            continue
        if ours in settings:
            raise ValueError(f"{name} and {ours} are the same setting: leave one out")
        _native.expect(ours, value, name)
        settings[ours] = value
    generator = names["generator"]
    if generator is not None and not isinstance(generator, torch.Generator):
        raise TypeError(f"generator: expected a torch.Generator, or seed=, found {generator!r}")
    if generator is not None and "seed" in settings:
        raise ValueError("generator and seed exclude each other: seeds are drawn from the generator")


class Source(NamedTuple):
    """A dataset, and which of its samples."""

    dataset: Dataset
    given: Any  # what was passed, opened
    within: list[int] | None  # the indices of a Subset

    def __len__(self) -> int:
        return len(self.dataset) if self.within is None else len(self.within)


def source_of(dataset: Any) -> Source:
    """Of a dataset of ours, its path, a torchvision ImageFolder, a Subset of any of them, or several in a
    ConcatDataset."""
    within: list[int] | None = None
    inner: Any = dataset
    while isinstance(inner, data.Subset):
        _expect_read_by(data.Subset, inner)
        within = _chosen(indices_of(inner.indices, "Subset"), within)
        if not within:
            raise ValueError("dataset: the Subset holds no samples")
        inner = inner.dataset
    if isinstance(inner, (Dataset, str, bytes, os.PathLike)):
        inner = opened(inner)
        _expect_read_by(Dataset, inner)
        return Source(inner, inner if within is None else dataset, within)
    if isinstance(inner, TorchDataset):
        _expect_read_by(TorchDataset, inner)
        _expect_no_function(inner, "transform", "target_transform")
        return Source(inner.data, dataset, within)
    if isinstance(inner, data.ConcatDataset):
        _expect_read_by(data.ConcatDataset, inner)
        ours, listed = _joined([source_of(one) for one in inner.datasets])
        return Source(ours, dataset, _chosen(listed, within))
    vision = sys.modules.get("torchvision.datasets")
    if vision is not None and isinstance(inner, vision.DatasetFolder):
        _expect_read_by(vision.DatasetFolder, inner)
        ours, all_or_some = _folder(inner, vision.folder)
        return Source(ours, dataset, within if all_or_some is None else _chosen(all_or_some, within))
    return Source(opened(inner), inner, within)  # which refuses it


def _chosen(indices: list[int], within: list[int] | None) -> list[int]:
    if within is None:
        return indices
    try:
        return [indices[at] for at in within]
    except IndexError:
        raise ValueError(f"dataset: a Subset lists samples beyond the {len(indices)} that it is of") from None


def _joined(sources: list[Source]) -> tuple[Dataset, list[int]]:
    """Their datasets as one, in which each is once, and where the samples of all are in it."""
    starts: dict[Dataset, int] = {}
    listed: list[int] = []
    for source in sources:
        if source.dataset not in starts:
            starts[source.dataset] = sum(map(len, starts))
        start = starts[source.dataset]
        within = range(len(source.dataset)) if source.within is None else source.within
        listed += [start + index for index in within]
    if len(starts) == 1:
        return sources[0].dataset, listed
    return mix({dataset: len(dataset) for dataset in starts}), listed


_NOT_CALLED = "which would not be called: say what becomes of images with recipe=, and of batches with transform="


def _expect_read_by(kind: Any, dataset: Any) -> None:
    """Refuses a derived class that makes its samples or their number itself."""
    for name in "__getitem__", "__getitems__", "__len__":
        if getattr(type(dataset), name, None) is not getattr(kind, name, None):
            raise ValueError(f"dataset: {type(dataset).__name__} has a {name} of its own, {_NOT_CALLED}")


def _expect_no_function(dataset: Any, *names: str) -> None:
    for name in names:
        if getattr(dataset, name, None) is not None:
            raise ValueError(f"dataset: the {_kind_of(dataset)} has a {name}, {_NOT_CALLED}")


def _kind_of(dataset: Any) -> str:
    kind = type(dataset)
    return "feedrate.torch.Dataset" if kind is TorchDataset else kind.__name__


def _folder(folder: Any, vision: Any) -> tuple[Dataset, list[int] | None]:
    """A torchvision folder of ours, or its list of files where it has labels of its own, and where its samples are in
    it, unless they are all in their order."""
    kind = type(folder).__name__
    _expect_no_function(folder, "transform", "target_transform")
    if folder.loader not in (vision.default_loader, vision.pil_loader, vision.accimage_loader):
        _expect_no_function(folder, "loader")
    ours = opened(getattr(folder, "split_folder", folder.root))  # the former: torchvision's ImageNet
    index_of = {ours._native.place(index)[0]: index for index in range(len(ours))}
    listed, targets = [], ours.targets
    for path, label in folder.samples:
        index = index_of.get(path)
        if index is None:
            raise ValueError(f"dataset: {path}: the {kind} lists it, Feedrate does not: give the path")
        if targets[index] != label:  # as find_classes of a derived class numbers them
            names = folder.classes if all(number < len(folder.classes) for _, number in folder.samples) else None
            return files(folder.samples, names), None
        listed.append(index)
    return ours, None if listed == list(range(len(ours))) else listed


def indices_of(given: Any, name: str) -> list[int]:
    """Whole numbers of Python's, whatever yields them. A mask of truth values is none of them."""
    values = given.tolist() if hasattr(given, "tolist") else given
    return [one if type(one) is int else _index(one, name) for one in values]


def _index(given: Any, name: str) -> int:
    value = given.item() if hasattr(given, "item") else given
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected indices, found {reprlib.repr(value)}")
    return operator.index(value)
