"""Ranks of torch.distributed."""

from __future__ import annotations

import torch


def share() -> tuple[int, int]:
    """This process's rank, and how many there are."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return 0, 1


def expect_alone(ranks: int) -> None:
    """Of a loader like one that knows of no ranks, where nobody said what they are to do."""
    if ranks > 1:
        raise RuntimeError(
            f"each of the {ranks} ranks would read all of this dataset, since the sampler of the DataLoader that this loader "
            "is like knows no ranks: write feedrate.torch.like(…, shared=True) for a share each, as a framework's "
            "DistributedSampler has it, or shared=False where each rank is to read everything"
        )
