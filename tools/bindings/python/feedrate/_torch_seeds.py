"""The seeds of iterations, drawn as PyTorch's loader draws them."""

from __future__ import annotations

import collections
from typing import Any

import torch
from torch.utils import data

State = dict[str, int]


def _drawn(generator: torch.Generator | None) -> int:
    """PyTorch's draw: of the base seed of an iterator, and of the seed of a RandomSampler without a generator."""
    return int(torch.empty((), dtype=torch.int64, device="cpu").random_(generator=generator).item())


class Seeds:
    """The seeds of a loader for which none is stated: new ones for each iteration. They take from PyTorch's
    generators what its own loader and its sampler take in an epoch, in that order."""

    def __init__(self, generator: torch.Generator | None, sampler: Any, fixed: int, draws: bool, persists: bool) -> None:
        """`sampler`: what shuffles, None: nothing drawn here; `fixed`: the seed of an order that is not drawn;
        `draws`: whether anything is drawn for a sample; `persists`: one base seed for all iterations, as workers
        that persist have it."""
        self._generator = generator
        self._sampler = sampler
        self._fixed = fixed
        self._draws = draws
        self._persists = persists
        self._own: torch.Generator | None = None  # since the first iteration, where they persist

    def go_on_from(self, before: Seeds) -> None:
        self._own = before._own

    @property
    def change(self) -> bool:
        """Whether what an iteration yields depends on its seeds."""
        return self._draws or self._sampler is not None

    def of_next(self, state: State, ranks: int) -> State:
        """The state with the seeds of a new iteration. Ranks that share an epoch have one order, so that its seed is
        not drawn; no rank waits for another."""
        base = self._base()
        known = {name: value for name, value in state.items() if name != "draws"}
        known["seed"] = self._fixed if ranks > 1 or self._sampler is None else _seed_by(self._sampler)
        return {**known, "draws": base} if self._draws else known

    def _base(self) -> int:
        if not self._persists:
            return _drawn(self._generator)
        if self._own is None:
            self._own = torch.Generator().manual_seed(_drawn(self._generator))
        return _drawn(self._own)

    def __getstate__(self) -> State:
        sampler = self._sampler
        if type(sampler) is data.RandomSampler:  # which holds the dataset, for its length
            sampler = random_sampler(len(sampler), sampler.generator)
        return {**self.__dict__, "_sampler": sampler}


def seeds_of(loader: Any, generator: torch.Generator | None, size: int, sampled: Any, persists: bool) -> Seeds:
    """Of a Loader of ours. `sampled`: the sampler that its settings are made of, None: there is none, or False: one
    that draws nothing or draws itself."""
    if sampled is None and loader._draws_order():
        sampled = random_sampler(size, generator)
    settings = loader._settings
    return Seeds(generator, sampled or None, settings.seed, settings.trains, persists)


def random_sampler(size: int, generator: torch.Generator | None) -> data.RandomSampler:
    """What PyTorch's loader makes of shuffle=True."""
    return data.RandomSampler(range(size), generator=generator)


def _seed_by(sampler: Any) -> int:
    """A seed in place of a sampler's draws, which are drawn as well."""
    if type(sampler) is data.RandomSampler and sampler.generator is None:
        return _drawn(None)
    drawn_from = torch.default_generator if sampler.generator is None else sampler.generator
    ahead = torch.Generator()
    ahead.set_state(drawn_from.get_state())
    collections.deque(sampler, maxlen=0)  # after which the generator is where it is after an epoch of PyTorch's
    return _drawn(ahead)
