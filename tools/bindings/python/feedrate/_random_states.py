"""The states of the random numbers that a script draws."""

from __future__ import annotations

import contextlib
import random
import sys
from typing import Any, Iterator

import torch

from feedrate._torch_remade import samplers_within


@contextlib.contextmanager
def kept_random_states(loader: Any = None) -> Iterator[None]:
    """Whatever draws random numbers within, Python's, NumPy's and PyTorch's are then as before, and those of the
    generators of a loader of PyTorch's."""
    own = {id(one): (one, one.get_state()) for one in _generators_of(loader)}
    states = torch.get_rng_state(), random.getstate()
    numpy: Any = sys.modules.get("numpy")
    numpys = numpy.random.get_state() if numpy is not None else None
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        random.setstate(states[1])
        if numpy is not None:
            numpy.random.set_state(numpys)
        for generator, state in own.values():
            generator.set_state(state)


def _generators_of(loader: Any) -> list[torch.Generator]:
    """Its own, and those of its samplers."""
    generators = [getattr(one, "generator", None) for one in samplers_within(loader)]
    return [one for one in generators if isinstance(one, torch.Generator)]
