"""What callers give to a loader, as the module takes it."""

from __future__ import annotations

import collections.abc
import copy
import reprlib
import warnings
from typing import Any, Callable, Iterable, TypeVar

from feedrate import _native
from feedrate._data import Dataset

_Made = TypeVar("_Made")

# What PyTorch calls otherwise, in words of `feedrate.Loader`.
_PYTORCH = {
    "batch_size": "batch=",
    "num_workers": "threads=",
    "sampler": "order= or weights=",
    "batch_sampler": "order=",
    "drop_last": "last='drop'",
    "std": "deviation=",
    "generator": "seed=",
    "worker_init_fn": "seed=, which decides every random draw",
    "collate_fn": "transform=, called with each batch",
    "prefetch_factor": "threads=N, which prepares N + 2 batches ahead",
}
_PYTORCH_ALONE = ("pin_memory", "persistent_workers", "device", "sample_transform", "timeout", "in_order")


def expect_no_names_of_pytorch(settings: Iterable[str]) -> None:
    for name in settings:
        if name in _PYTORCH or name in _PYTORCH_ALONE:
            instead = f"here it is {_PYTORCH[name]}; " if name in _PYTORCH else ""
            raise TypeError(f"{name}: {instead}feedrate.torch.DataLoader has the arguments of PyTorch's")


def plain(values: Any) -> Any:
    """Numbers of Python's, of which truth values can be told from others."""
    return values.tolist() if hasattr(values, "tolist") else values


def kept(values: Any) -> Any:
    """Values as they are now, which can be read more than once, as a pickle does."""
    once = isinstance(values, (collections.abc.Iterator, memoryview))
    return list(values) if once else copy.copy(values)


def expect_function(name: str, value: object) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{name}: expected a function, found {reprlib.repr(value)}")


def called(name: str, function: Callable[..., _Made], *arguments: Any) -> _Made:
    """What a caller's function makes. Its StopIteration is an error: it would end their loop in silence."""
    try:
        return function(*arguments)
    except StopIteration as stop:
        raise RuntimeError(f"{name} raised StopIteration") from stop


def expect_flag(name: str, value: object, instead: str = "") -> None:
    """Of Python's truth values, or of NumPy's."""
    if value is not None and type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name}: expected True or False{instead}, found {reprlib.repr(value)}")


def labels_of(dataset: Dataset, labels: Any) -> _native.Labels | None:
    if labels is None:
        return None
    if isinstance(labels, str):
        if labels != "lists":
            raise ValueError(f"labels: expected numbers or 'lists', found {reprlib.repr(labels)}")
        return _native.kept_labels(dataset._native)
    rows = plain(labels)
    unordered = isinstance(rows, (collections.abc.Mapping, collections.abc.Set))
    if unordered or not isinstance(rows, collections.abc.Iterable):
        raise TypeError(f"labels: expected numbers, or rows of them, found {reprlib.repr(labels)}")
    return _native.own_labels(dataset._native, list(rows))


def _told(picks: _native.Picks) -> _native.Picks:
    if picks.note:
        warnings.warn(picks.note, stacklevel=5)  # where the loader is made
    return picks


def picks_of(
    dataset: Dataset,
    order: Iterable[int] | None,
    weights: Iterable[float] | str | None,
    groups: tuple[int, int] | None,
    draws: int | None,
    shuffle: bool,
    tolerant: bool,
) -> _native.Picks | None:
    """What an epoch holds, where it is not every sample once. `tolerant`: samples whose labels cannot be read are
    left out of groups and balanced weights, with a warning."""
    given = [
        name
        for name, value in (("order", order), ("weights", weights), ("groups", groups))
        if value is not None
    ]
    if len(given) > 1:
        raise ValueError(f"{given[0]} and {given[1]} exclude each other")
    mixes = dataset._native.is_mix and not given
    if draws is not None and weights is None and not mixes:
        raise ValueError("draws: needs weights or a mix of datasets")
    if order is not None:
        return _native.listed(dataset._native, order)
    if groups is not None:
        return _told(_native.grouped(dataset._native, groups, tolerant))
    if weights is not None:
        return _told(_native.weighted(dataset._native, weights, draws, tolerant))
    return _native.mixed(dataset._native, draws, shuffle) if mixes else None
