"""For `feedrate diagnose`: loops over anything but a DataLoader of PyTorch.

    from feedrate.diagnose import wrap

    for images, labels in wrap(batches):  # anything to loop over
        ...

Without `feedrate diagnose` around the script, wrap() gives back what it gets.
"""

from __future__ import annotations

import sys
from typing import Any, TypeVar

_Batches = TypeVar("_Batches")


def wrap(batches: _Batches) -> _Batches:
    """`batches`, whose waits and steps `feedrate diagnose` then times."""
    probe: Any = sys.modules.get("_feedrate_probe")
    return batches if probe is None else probe.wrap(batches)


__all__ = ["wrap"]
