"""PyTorch's samplers, in settings of ours; any other is asked for its indices at every epoch."""

from __future__ import annotations

import itertools
from typing import Any, Iterable, Iterator, NamedTuple, Sequence

from torch.utils import data

from feedrate import _native
from feedrate._data import Batch
from feedrate._loader import Loader
from feedrate._settings import SETTINGS
from feedrate._torch_names import Options, Source, indices_of


class UsualBatch(int):
    """The size of a batch where none was given."""


USUAL_BATCH = UsualBatch(SETTINGS["batch"]["default"])
_PYTORCHS_BATCH = 1  # which wrappers of its DataLoader give beside a batch_sampler

# A sampler that yields more goes on for ever: more epochs' worth than an epoch holds, of small datasets too.
_MOST_EPOCHS = 16
_MOST_BESIDES = 1 << 20


class Repeating(Loader[Batch]):
    """Ranks have shares of one size, as those of a DistributedSampler: some images come twice …"""

    _repeats = True


class LeavingOut(Loader[Batch]):
    """… or some do not come."""

    _repeats = False


class Sampling(NamedTuple):
    """What a sampler means: settings of ours, and where it is one to be asked at every epoch, itself."""

    options: Options
    sampler: Iterable[int] | None = None
    follows: Any = None  # a sampler whose `epoch` is that of the next iteration
    loader: type[Loader[Batch]] = Loader
    read: bool = True  # the options hold what it yields first, and not only how much
    seeded_by: Any = None  # a sampler in place of whose draws a seed decides


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
        if value is not None and value != sampling.options.get(name):
            raise ValueError(f"a sampler and {name} exclude each other: it decides which samples come")
    for name, value in sampling.options.items():
        settings.setdefault(name, value)
    if isinstance(sampler, Batches):
        settings["batch"] = sampler.size
    return sampling


def _take_batches(sampler: Any, batch_sampler: Any, settings: Options) -> Any:
    usual = isinstance(settings["batch"], UsualBatch) or settings["batch"] == _PYTORCHS_BATCH
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
            raise ValueError(
                f"{name}: not for a torch.utils.data.Subset or ConcatDataset; "
                "use indices of the whole dataset, or feedrate.mix"
            )
    named = {name: value for name, value in settings.items() if name in SETTINGS}
    settings["shuffle"] = _native.shuffles(**named)
    settings["order"] = within
    return Sampling({})


def sampling_of(sampler: Any, source: Source) -> Sampling:
    """PyTorch's own samplers become settings; any other one is read at every epoch."""
    kind = type(sampler)
    size = len(source)
    of: Any = getattr(sampler, "data_source", getattr(sampler, "dataset", None))
    if kind in _WHOLE and len(of) != size:
        raise ValueError(f"sampler: it is of {len(of)} samples, the dataset has {size}")
    order: Options = {} if source.within is None else {"order": source.within}
    if kind is data.SequentialSampler:
        return Sampling({**order, "shuffle": False})
    if kind is data.RandomSampler and not sampler.replacement and sampler.num_samples == size:
        return Sampling({**order, "shuffle": True, **_seed_of(sampler)}, seeded_by=sampler)
    if kind is data.SubsetRandomSampler:
        listed = _listed(sampler.indices, source)
        return Sampling({"order": listed, "shuffle": True, **_seed_of(sampler)}, seeded_by=sampler)
    if kind is data.WeightedRandomSampler and sampler.replacement and source.within is None:
        weights = sampler.weights.tolist()
        weights += [0.0] * (size - len(weights))  # those behind are never drawn
        options = {"weights": weights, "draws": sampler.num_samples, **_seed_of(sampler)}
        return Sampling(options, seeded_by=sampler)
    if kind is data.DistributedSampler:
        share = {"rank": sampler.rank, "ranks": sampler.num_replicas}
        options = {**order, **share, "shuffle": sampler.shuffle, "seed": sampler.seed}
        return Sampling(options, follows=sampler, loader=LeavingOut if sampler.drop_last else Repeating)
    if kind is Shared:
        return _shared(sampler.sampler, source)
    if not isinstance(sampler, Iterable):
        raise TypeError(f"sampler: expected indices, or a sampler of them, found {sampler!r}")
    # As PyTorch has it: each rank's sampler yields its share.
    own: Options = {"shuffle": False, "rank": 0, "ranks": 1}
    count = _count_of(sampler)
    if hasattr(sampler, "__getitem__") or not 0 < count <= _most(source):
        return Sampling({"order": read_order(sampler, source), **own}, sampler, sampler)
    # What it yields may change until the first iteration, and be another draw each time.
    return Sampling({"order": [0] * count, **own}, sampler, sampler, read=False)


_WHOLE = (data.SequentialSampler, data.RandomSampler, data.DistributedSampler)


class Shared:
    """A sampler that knows no ranks, whose epochs those of torch.distributed share as a DistributedSampler's."""

    def __init__(self, sampler: Any) -> None:
        self.sampler = sampler


def _shared(sampler: Any, source: Source) -> Sampling:
    sampling = sampling_of(sampler, source)
    if sampling.sampler is not None:
        raise ValueError(
            f"shared: of PyTorch's own samplers, not of {type(sampler).__name__}, whose indices each rank would draw for "
            "itself: give a DistributedSampler, or yield each rank's share and say shared=False"
        )
    return sampling._replace(loader=Repeating)


def _seed_of(sampler: Any) -> Options:
    generator = getattr(sampler, "generator", None)
    return {} if generator is None else {"seed": generator.initial_seed()}


def _count_of(sampler: Any) -> int:
    """How many indices it says that it yields; 0: it does not."""
    try:
        return len(sampler)
    except (TypeError, NotImplementedError):
        return 0


def _most(source: Source) -> int:
    return _MOST_EPOCHS * len(source) + _MOST_BESIDES


def read_order(sampler: Iterable[int], source: Source) -> list[int]:
    """What a sampler yields, as indices of the whole dataset."""
    name = "batch_sampler" if isinstance(sampler, Batches) else "sampler"
    most = _most(source)
    values = sampler
    if not hasattr(sampler, "tolist"):
        values = list(itertools.islice(sampler, most + 1))
        if len(values) > most:
            raise ValueError(
                f"{name}: has yielded {most} indices, and goes on: expected those of one epoch, "
                "as itertools.islice takes them"
            )
    return _listed(values, source, name)


def _listed(indices: Any, source: Source, name: str = "sampler") -> list[int]:
    listed = indices_of(indices, name)
    if not listed:
        raise ValueError(f"{name}: it yields no indices")
    size = len(source)
    if min(listed) < 0 or max(listed) >= size:
        outside = next(index for index in listed if not 0 <= index < size)
        raise ValueError(f"{name}: expected indices from 0 to {size - 1}, found {outside}")
    return listed if source.within is None else [source.within[index] for index in listed]


class Batches:
    """The indices of a batch sampler's batches, which are of one size, but for a last smaller one."""

    def __init__(self, sampler: Iterable[Sequence[int]]) -> None:
        if not isinstance(sampler, Iterable):
            raise TypeError(f"batch_sampler: expected lists of indices, or a sampler of them, found {sampler!r}")
        self.sampler = sampler
        self.size = 0

    def set_epoch(self, epoch: int) -> None:
        tell_epoch(self.sampler, epoch)

    def __iter__(self) -> Iterator[int]:
        count = self.size
        for number, batch in enumerate(self.sampler):
            if not isinstance(batch, Iterable):
                raise TypeError(f"batch_sampler: expected lists of indices, found {batch!r}")
            if number > 0 and count < self.size:
                raise self._uneven(number - 1, count)
            indices = list(batch)
            count = len(indices)
            self.size = self.size or count
            if count > self.size:
                raise self._uneven(number, count)
            yield from indices

    def _uneven(self, number: int, count: int) -> ValueError:
        return ValueError(
            f"batch_sampler: batch {number} holds {count} indices, those before {self.size}: "
            "batches are of one size, but for a smaller last one"
        )


def tell_epoch(sampler: Any, epoch: int) -> None:
    """Calls the sampler's set_epoch, where it has one."""
    tell = getattr(sampler, "set_epoch", None)
    if tell is not None:
        tell(epoch)


class Order:
    """What a sampler says when an iteration starts."""

    def __init__(self, sampling: Sampling, source: Source) -> None:
        self._sampling = sampling
        self._source = source
        self._epoch: int | None = 0 if sampling.read else None  # of which it was asked
        self._unused = sampling.read  # what it said then
        self._followed: int | None = 0

    @property
    def is_asked(self) -> bool:
        """At every epoch."""
        return self._sampling.sampler is not None

    def go_on_from(self, before: Order) -> None:
        self._followed = before._followed

    def epoch_set(self) -> int | None:
        """The epoch that others have set the sampler to since the last iteration."""
        epoch = _epoch_of(self._sampling.follows)
        if epoch == self._followed:
            return None
        self._followed = epoch
        return epoch

    def indices_at(self, state: dict[str, int]) -> list[int] | None:
        """Of the epoch in which a run stands; None: as before."""
        sampler, epoch = self._sampling.sampler, state["epoch"]
        if sampler is None:
            return None
        unused, self._unused = self._unused, False
        if epoch == self._epoch and (unused or state["position"] != 0):
            return None
        tell_epoch(sampler, epoch)
        indices = read_order(sampler, self._source)
        self._epoch = epoch
        self._followed = _epoch_of(sampler)
        return indices


def _epoch_of(sampler: Any) -> int | None:
    """That a sampler was set to, or the one inside of a batch sampler."""
    while sampler is not None:
        epoch = getattr(sampler, "epoch", None)
        if type(epoch) is int and epoch >= 0:
            return epoch
        sampler = getattr(sampler, "sampler", None)
    return None
