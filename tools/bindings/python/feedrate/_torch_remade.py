"""Loaders of PyTorch programs that are copied, pickled, and made again where what they were made of has changed."""

from __future__ import annotations

import copy
import os
import weakref
from typing import Any, Callable, Iterator

from torch.utils import data

from feedrate import _data
from feedrate._torch_dataset import Dataset

_UNCHANGING = (str, bytes, os.PathLike, _data.Dataset, Dataset)  # datasets

# Arrays whose numbers are looked at; of any other, whether it is the same.
_NUMBERS = ("indices", "targets", "weights")
_PLAIN = (str, bytes, int, float, bool, tuple, range, type(None))
_OF_SAMPLERS = (
    "indices", "weights", "num_samples", "replacement", "seed", "shuffle", "rank", "num_replicas", "batch_size", "drop_last",
)  # fmt: skip
_SAMPLERS = (
    data.RandomSampler, data.SubsetRandomSampler, data.WeightedRandomSampler, data.DistributedSampler, data.BatchSampler,
)  # fmt: skip


def samplers_within(*given: Any) -> Iterator[Any]:
    """Loaders of PyTorch or samplers, and all samplers within them, each once."""
    seen: list[Any] = []
    waiting = list(given)
    while waiting:
        one = waiting.pop()
        if one is not None and not any(one is other for other in seen):
            seen.append(one)
            waiting += [getattr(one, name, None) for name in ("sampler", "batch_sampler")]
    return iter(seen)


class Changes:
    """Of the dataset and the samplers that a loader was made of, since then."""

    def __init__(self, make: Callable[[], Any], dataset: Any, *samplers: Any) -> None:
        self._make = make
        self._dataset = dataset
        self._samplers = samplers
        self._seen = self._now()

    def made_again(self) -> Any:
        """A loader of what there is now; None: that is the same. Raises ValueError where none can be made."""
        if _are_same(self._now(), self._seen):
            return None
        try:
            return self._make()
        except ValueError as error:
            raise ValueError(f"what this loader was made of has changed since, and now: {error}") from error

    def _now(self) -> list[Any]:
        found, waiting = [], [self._dataset]
        while waiting:
            one = waiting.pop()
            if one is None or isinstance(one, _UNCHANGING):
                continue
            found.append([type(one), *(_kept(name, value) for name, value in getattr(one, "__dict__", {}).items())])
            waiting += [*getattr(one, "datasets", ()), getattr(one, "dataset", None)]
        for one in samplers_within(*self._samplers):
            if type(one) in _SAMPLERS:  # any other is asked at every epoch
                found.append([_kept(name, getattr(one, name, None)) for name in _OF_SAMPLERS])
        return found


def _are_same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # of arrays in lists
        return False


class _Itself:
    """An object, equal to itself alone."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other._value is self._value


def _kept(name: str, value: Any) -> Any:
    """As it is now, to be compared later."""
    if name in _NUMBERS and hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, dict)):
        return copy.copy(value)
    if isinstance(value, _PLAIN):
        return value
    return _Itself(value), repr(value) if callable(value) else None


class Remade:
    """Of `feedrate.torch.DataLoader`, in which all members are described."""

    _changes: Changes | None
    _likeness: Any
    _live: Any
    _order: Any
    _seeds: Any

    def _take_changes(self) -> None:
        fresh = None if self._changes is None else self._changes.made_again()
        if fresh is None:
            return
        fresh._order.go_on_from(self._order)
        if self._likeness is not None:
            fresh._likeness.stand_ins.tell = self._likeness.stand_ins.tell
        if self._seeds is not None and fresh._seeds is not None:
            fresh._seeds.go_on_from(self._seeds)
        self._live = None
        self.__dict__ |= {name: getattr(fresh, name) for name in _OF_CHANGES}

    def __getstate__(self) -> dict[str, Any]:
        # Neither threads nor functions are pickled.
        return {**self.__dict__, "_live": None, "_likeness": None, "_changes": None, "_iterations": ()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= {**state, "_iterations": weakref.WeakSet()}

    def __copy__(self) -> Any:
        made = type(self).__new__(type(self))
        made.__setstate__({**self.__getstate__(), "_likeness": self._likeness, "_changes": self._changes})
        made.__dict__ |= {name: copy.copy(getattr(self, name)) for name in ("_loader", "_order", "_streams")}
        return made


_OF_CHANGES = (
    "_changes", "_likeness", "_alone", "_source", "_order", "_loader", "_asks", "_share", "_classes", "batch_size", "drop_last", "_transform",
    "_persists", "_seeds",
)  # fmt: skip
