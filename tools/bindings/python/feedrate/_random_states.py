"""The states of the random numbers that a script draws."""

from __future__ import annotations

import contextlib
import random
import sys
from typing import Any, Iterator

import torch


@contextlib.contextmanager
def kept_random_states() -> Iterator[None]:
    """Whatever draws random numbers within, Python's, NumPy's and PyTorch's are then as before."""
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
