"""What scripts and frameworks read of a `torch.utils.data.DataLoader`, as it is with threads."""

from __future__ import annotations

import os
from typing import Any, Callable

import torch
from torch.utils import data

from feedrate._settings import SETTINGS


class Attributes:
    """Of `feedrate.torch.DataLoader`, whose threads are no processes."""

    _loader: Any
    _likeness: Any
    _pins: bool
    _persists: bool
    timeout = 0
    pin_memory_device = ""
    in_order = True
    prefetch_factor: int | None = None
    """None: the threads decide how many batches they prepare."""
    worker_init_fn: Callable[[int], None] | None = None
    multiprocessing_context: Any = None
    generator: torch.Generator | None = None
    """None: `state_dict` has the seed."""

    @property
    def num_workers(self) -> int:
        """Threads; where their number is found while they run, as many as there are, or before that at most."""
        given = self._loader._arguments.get("threads", SETTINGS["threads"]["default"])
        if given == "auto":
            given = self._loader.stats().get("threads", len(os.sched_getaffinity(0)))
        return int(given)

    @property
    def collate_fn(self) -> Callable[[Any], Any]:
        """The function of the loader that this one is like; otherwise PyTorch's own, which makes such batches."""
        return data.default_collate if self._likeness is None else self._likeness.theirs().collate_fn

    @property
    def pin_memory(self) -> bool:
        """Whether batches are page-locked, as they are where PyTorch has a GPU."""
        return self._pins

    @property
    def persistent_workers(self) -> bool:
        return self._persists

    @property
    def sampler(self) -> Any:
        """There is none. What would skip batches by it, to resume in the middle of an epoch, is told
        how to do so here."""
        raise AttributeError(_NO_SAMPLER)

    @property
    def batch_sampler(self) -> Any:
        """There is none, as there is no `sampler`."""
        raise AttributeError(_NO_SAMPLER)


_NO_SAMPLER = (
    "feedrate.torch.DataLoader has no sampler: set_epoch is a method of its own, and no sampler skips batches "
    "to resume in the middle of an epoch: give load_state_dict the state_dict of then; Hugging Face's Trainer "
    "also needs ignore_data_skip=True, and Accelerate register_for_checkpointing(loader)"
)
