"""What `torch.utils.data.DataLoader` and its samplers call otherwise, in settings of ours."""

from __future__ import annotations

import operator
import os
import reprlib
import sys
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Sequence

import torch
from torch.utils import data

from feedrate import _native
from feedrate._data import Dataset, opened
from feedrate._settings import SETTINGS
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
    _take_generator(names["generator"], settings)


def _take_generator(generator: object, settings: Options) -> None:
    if generator is None:
        return
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator: expected a torch.Generator, or seed=, found {generator!r}")
    if "seed" in settings:
        raise ValueError("generator and seed exclude each other: the seed is the generator's initial_seed()")
    settings["seed"] = generator.initial_seed()


class Source(NamedTuple):
    """A dataset, and which of its samples."""

    dataset: Dataset
    given: Any  # what was passed, opened
    within: list[int] | None  # the indices of a Subset


def source_of(dataset: Any) -> Source:
    """Of a dataset of ours, its path, a torchvision ImageFolder, or a Subset of any of them."""
    within: list[int] | None = None
    inner: Any = dataset
    while isinstance(inner, data.Subset):
        within = _chosen(_indices(inner.indices, "Subset"), within)
        inner = inner.dataset
    if isinstance(inner, (Dataset, str, bytes, os.PathLike)):
        inner = opened(inner)
        return Source(inner, inner if within is None else dataset, within)
    if isinstance(inner, TorchDataset):
        _expect_no_transform(inner, "feedrate.torch.Dataset")
        return Source(inner.data, dataset, within)
    vision = sys.modules.get("torchvision.datasets")
    if vision is not None and isinstance(inner, vision.DatasetFolder):
        ours, listed = _folder(inner)
        return Source(ours, dataset, within if listed is None else _chosen(listed, within))
    return Source(opened(inner), inner, within)  # which refuses it


def _chosen(indices: list[int], within: list[int] | None) -> list[int]:
    return indices if within is None else [indices[at] for at in within]


def _expect_no_transform(dataset: Any, kind: str) -> None:
    for name in "transform", "target_transform":
        if getattr(dataset, name, None) is not None:
            raise ValueError(
                f"dataset: the {kind} has a {name}, which would not be called: say what becomes of images "
                "with recipe=, and of batches with transform="
            )


def _folder(folder: Any) -> tuple[Dataset, list[int] | None]:
    """A torchvision folder of ours, and where its samples are in it, unless they are all in their order."""
    kind = type(folder).__name__
    _expect_no_transform(folder, kind)
    ours = opened(getattr(folder, "split_folder", folder.root))  # the former: torchvision's ImageNet
    index_of = {ours._native.place(index)[0]: index for index in range(len(ours))}
    listed, targets = [], ours.targets
    for path, label in folder.samples:
        index = index_of.get(path)
        if index is None:
            raise ValueError(f"dataset: {path}: the {kind} lists it, Feedrate does not: give the path")
        if targets[index] != label:
            raise ValueError(
                f"dataset: {path}: expected the class {targets[index]}, found {label} in the {kind}: give the path and labels="
            )
        listed.append(index)
    return ours, None if listed == list(range(len(ours))) else listed


class Sampling(NamedTuple):
    """What a sampler means: settings of ours, and where it is one to be asked at every epoch, itself."""

    options: Options
    sampler: Iterable[int] | None = None
    follows: Any = None  # a sampler whose `epoch` is that of the next iteration


def take_samplers(sampler: Any, batch_sampler: Any, source: Source, settings: Options) -> Sampling:
    """Adds to the settings, of which `recipe` and `batch` are two, which samples an epoch holds."""
    if batch_sampler is not None:
        sampler = _take_batches(sampler, batch_sampler, settings)
    if sampler is None:
        return Sampling({}) if source.within is None else _subset(source.within, settings)
    if settings.get("shuffle") is False:  # usual beside a sampler
        del settings["shuffle"]
    sampling = sampling_of(sampler, source)
    for name in ("order", "weights", "groups", "draws", "shuffle", *sampling.options):
        value = settings.get(name)
        if value is not None and name != "last" and value != sampling.options.get(name):
            raise ValueError(f"a sampler and {name} exclude each other: it decides which samples come")
    for name, value in sampling.options.items():
        settings.setdefault(name, value)
    if isinstance(sampler, Batches):
        settings["batch"] = max(sampler.size, 1)
    return sampling


def _take_batches(sampler: Any, batch_sampler: Any, settings: Options) -> Any:
    usual = settings["batch"] == SETTINGS["batch"]["default"]
    if sampler is not None or not usual or "last" in settings:
        raise ValueError("batch_sampler excludes sampler, batch_size and drop_last: it decides them")
    if type(batch_sampler) is not data.BatchSampler:
        return Batches(batch_sampler)
    settings["batch"] = batch_sampler.batch_size
    settings["last"] = "drop" if batch_sampler.drop_last else "partial"
    return batch_sampler.sampler


def _subset(within: list[int], settings: Options) -> Sampling:
    for name in "order", "weights", "groups", "draws":
        if name in settings:
            raise ValueError(f"{name}: not for a torch.utils.data.Subset; use indices of the whole dataset")
    named = {name: value for name, value in settings.items() if name in SETTINGS}
    settings["shuffle"] = _native.shuffles(**named)
    settings["order"] = within
    return Sampling({})


def sampling_of(sampler: Any, source: Source) -> Sampling:
    """PyTorch's own samplers become settings; any other one is read at every epoch."""
    kind = type(sampler)
    size = len(source.dataset) if source.within is None else len(source.within)
    of: Any = getattr(sampler, "data_source", getattr(sampler, "dataset", None))
    if kind in _WHOLE and len(of) != size:
        raise ValueError(f"sampler: it is of {len(of)} samples, the dataset has {size}")
    order: Options = {} if source.within is None else {"order": source.within}
    if kind is data.SequentialSampler:
        return Sampling({**order, "shuffle": False})
    if kind is data.RandomSampler and not sampler.replacement and sampler.num_samples == size:
        return Sampling({**order, "shuffle": True, **_seed_of(sampler)})
    if kind is data.SubsetRandomSampler:
        return Sampling({"order": _inside(sampler.indices, source), "shuffle": True, **_seed_of(sampler)})
    if kind is data.WeightedRandomSampler and sampler.replacement and source.within is None:
        weights = {"weights": sampler.weights.tolist(), "draws": sampler.num_samples}
        return Sampling({**weights, **_seed_of(sampler)})
    if kind is data.DistributedSampler:
        share = {"rank": sampler.rank, "ranks": sampler.num_replicas}
        # Shares of one size need neither more nor fewer images: the last batches are as theirs.
        last = "partial" if size % sampler.num_replicas == 0 else "drop" if sampler.drop_last else "wrap"
        options = {**order, **share, "shuffle": sampler.shuffle, "seed": sampler.seed, "last": last}
        return Sampling(options, follows=sampler)
    if not isinstance(sampler, Iterable):
        raise TypeError(f"sampler: expected indices, or a sampler of them, found {sampler!r}")
    own = {"rank": 0, "ranks": 1}  # as PyTorch has it: each rank's sampler yields its share
    return Sampling({"order": read_order(sampler, source), "shuffle": False, **own}, sampler)


_WHOLE = (data.SequentialSampler, data.RandomSampler, data.DistributedSampler)


def _seed_of(sampler: Any) -> Options:
    generator = getattr(sampler, "generator", None)
    return {} if generator is None else {"seed": generator.initial_seed()}


def read_order(sampler: Iterable[int], source: Source) -> list[int]:
    """What a sampler yields, as indices of the whole dataset."""
    return _inside(sampler, source)


def _inside(indices: Any, source: Source) -> list[int]:
    listed = _indices(indices, "sampler")
    return listed if source.within is None else [source.within[index] for index in listed]


def _indices(given: Any, name: str) -> list[int]:
    """Whole numbers of Python's, whatever yields them. A mask of truth values is none of them."""
    values = given.tolist() if hasattr(given, "tolist") else given
    return [one if type(one) is int else _index(one, name) for one in values]


def _index(given: Any, name: str) -> int:
    value = given.item() if hasattr(given, "item") else given
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: expected indices, found {reprlib.repr(value)}")
    return operator.index(value)


class Batches:
    """The indices of a batch sampler's batches, which are of one size, but for a last smaller one."""

    def __init__(self, sampler: Iterable[Sequence[int]]) -> None:
        self._sampler = sampler
        self.size = 0

    def set_epoch(self, epoch: int) -> None:
        tell_epoch(self._sampler, epoch)

    def __iter__(self) -> Iterator[int]:
        batches = [list(batch) for batch in self._sampler]
        self.size = self.size or len(batches[0]) if batches else 0
        for number, batch in enumerate(batches):
            last = number + 1 == len(batches)
            if len(batch) != self.size and not (last and len(batch) < self.size):
                raise ValueError(
                    f"batch_sampler: batch {number} holds {len(batch)} indices, those before {self.size}: "
                    "batches are of one size, but for a smaller last one"
                )
            yield from batch


def tell_epoch(sampler: Any, epoch: int) -> None:
    """Calls the sampler's set_epoch, where it has one."""
    tell = getattr(sampler, "set_epoch", None)
    if tell is not None:
        tell(epoch)
