"""For type checkers: the keyword arguments of `feedrate.torch.DataLoader` that do not change what it yields."""

from __future__ import annotations

from typing import Callable, Iterable, Literal, Sequence

import torch

from feedrate._keywords import EpochKeywords
from feedrate._loader_keywords import PickKeywords


class TorchKeywords(EpochKeywords, PickKeywords, total=False):
    batch_size: int
    device: torch.device | str | None
    decode: Literal["full", "scaled", "device"]
    pin_memory: bool | None
    drop_last: bool
    rank: int | None
    ranks: int | None
    labels: Iterable[float] | Iterable[Sequence[float]] | Literal["lists"] | None
    sample_transform: Callable[[torch.Tensor], torch.Tensor] | None
    seed: int | None
    sampler: Iterable[int] | None
    batch_sampler: Iterable[Sequence[int]] | None
    num_workers: int | None
    persistent_workers: bool | None
    generator: torch.Generator | None
    std: float | Sequence[float] | None
